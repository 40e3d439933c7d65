import type { Milliseconds } from "../../domain/units.ts";

/**
 * One rigid batch job of a workload, whatever it was read or generated from. It wants all its processors at once,
 * runs for a fixed time and leaves. Times are milliseconds on the workload's own axis.
 */
export interface WorkloadJob {
  /** Unique within its workload. */
  readonly name: string;
  readonly submitMs: Milliseconds;
  /** At least 1. */
  readonly processors: number;
  /** At least 1,000: also a job that was cancelled in its queue has to be seen through. */
  readonly runMs: Milliseconds;
  /** The walltime that its user requested. Undefined if none was given. May be shorter than the run time. */
  readonly walltimeMs: Milliseconds | undefined;
}
