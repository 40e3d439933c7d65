import { generateLublinJobs } from "./lublin.ts";
import type { WorkloadJob } from "./workload-job.ts";
import type { Milliseconds } from "../../domain/units.ts";

/** A workload that fits a demonstration, and by how much it was bent to fit (all of which is printed with the run). */
export interface CompressedWorkload {
  readonly jobs: readonly WorkloadJob[];
  /** The model's gaps between arrivals were divided by this. */
  readonly arrivalDivisor: number;
  /** No job runs longer than this; run times below it are the model's own. */
  readonly longestRunMs: Milliseconds;
  readonly jobsCutShort: number;
  /** Processors x run time of all jobs, as a share of what the whole machine can give while they arrive. */
  readonly offeredLoad: number;
}

/**
 * Generates jobs by the Lublin-Feitelson model for a machine of `maxProcessors` and squeezes their arrivals into `hours`:
 * the first job comes at 0, the last at `hours`. Run times are cut at the longest length, between `shortestCutMs` and
 * `longestCutMs` (default 1 and 30 minutes), at which the jobs offer at most `load` (default 0.8) of the machine: arrivals
 * that are 20 times as dense with run times of a day would only ever show a full machine.
 */
export function compressWorkload(input: {
  readonly jobs: number;
  readonly seed: number;
  readonly hours: number;
  readonly maxProcessors: number;
  readonly load?: number;
  readonly shortestCutMs?: Milliseconds;
  readonly longestCutMs?: Milliseconds;
}): CompressedWorkload {
  const raw = generateLublinJobs({ jobs: input.jobs, seed: input.seed, processors: input.maxProcessors });
  const windowMs = input.hours * 3_600_000;
  const first = raw[0]?.submitMs ?? 0;
  const span = (raw.at(-1)?.submitMs ?? 0) - first;
  const arrivalDivisor = span > 0 ? span / windowMs : 1;
  const capacity = windowMs * input.maxProcessors;
  const longestRunMs = chooseLongestRun(raw, {
    budget: capacity * (input.load ?? 0.8),
    shortest: input.shortestCutMs ?? 60_000,
    longest: input.longestCutMs ?? 1_800_000,
  });
  return {
    jobs: raw.map((job) => ({
      ...job,
      submitMs: Math.round((job.submitMs - first) / arrivalDivisor),
      runMs: Math.min(job.runMs, longestRunMs),
    })),
    arrivalDivisor,
    longestRunMs,
    jobsCutShort: raw.filter((job) => job.runMs > longestRunMs).length,
    offeredLoad: measureWork(raw, longestRunMs) / capacity,
  };
}

/** The longest cut, in whole seconds, whose work stays within the budget. Work grows with the cut, so halving finds it. */
function chooseLongestRun(
  jobs: readonly WorkloadJob[],
  limits: { readonly budget: number; readonly shortest: number; readonly longest: number },
): number {
  let fits = Math.round(limits.shortest / 1000);
  let tooLong = Math.round(limits.longest / 1000) + 1;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (measureWork(jobs, middle * 1000) <= limits.budget) fits = middle;
    else tooLong = middle;
  }
  return fits * 1000;
}

function measureWork(jobs: readonly WorkloadJob[], longestRunMs: Milliseconds): number {
  return jobs.reduce((sum, job) => sum + job.processors * Math.min(job.runMs, longestRunMs), 0);
}
