import { generateLublinJobs } from "./lublin.ts";
import type { WorkloadJob } from "./workload-job.ts";
import type { Milliseconds } from "../../domain/units.ts";

/** A workload that is short enough for a demonstration, and how it was shortened. A run prints these figures. */
interface CompressedWorkload {
  readonly jobs: readonly WorkloadJob[];
  /** The gaps between arrivals of the model were divided by this. */
  readonly arrivalDivisor: number;
  /** Longer run times were cut to this. Shorter ones are the model's own. */
  readonly longestRunMs: Milliseconds;
  readonly jobsCutShort: number;
  /** Processors x run time of all jobs, as a share of the machine's capacity while they arrive. */
  readonly offeredLoad: number;
}

/**
 * Generates jobs with the Lublin-Feitelson model for a machine of `maxProcessors`, and compresses their arrivals into `hours`: the first job
 * arrives at 0, the last at `hours`. Run times are cut as well, because with run times of a day such dense arrivals would keep the machine
 * full all the time. The cut is the longest one, between `shortestCutMs` and `longestCutMs` (default 1 and 30 minutes), with which the jobs
 * offer at most `load` (default 0.8) of the machine's capacity.
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

/** The longest cut, in whole seconds, with which the work stays within the budget. Bisection works, because work grows with the cut. */
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
