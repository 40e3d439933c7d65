import type { Milliseconds } from "../../domain/units.ts";

/**
 * One rigid batch job of a workload, from a trace or generated. It needs all its processors at once and runs for a fixed time. Times are
 * milliseconds on the workload's own axis.
 */
export interface WorkloadJob {
  /** Unique within its workload. */
  readonly name: string;
  readonly submitMs: Milliseconds;
  /** At least 1. */
  readonly processors: number;
  /** At least 1,000, even for a job that was cancelled in the queue: it must start and end as well. */
  readonly runMs: Milliseconds;
  /** The walltime that its user requested. Undefined if none was given. May be shorter than the run time. */
  readonly walltimeMs: Milliseconds | undefined;
}

/** How long the scheduler expects a job to run: its walltime, or its run time if no walltime is known. */
export function expectedRunMs({ walltimeMs, runMs }: WorkloadJob): Milliseconds {
  return walltimeMs ?? runMs;
}
