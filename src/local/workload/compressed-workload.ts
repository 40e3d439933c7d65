import { generateLublinJobs } from "./lublin.ts";
import type { WorkloadJob } from "./workload-job.ts";
import type { Milliseconds } from "../../domain/units.ts";

const DAY_MS: Milliseconds = 86_400_000;

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

/** After the start of the first burst: its nodes have booted, run the jobs, and been idle for five minutes. */
export const SECOND_BURST_MS: Milliseconds = 20 * 60_000;
/** When the first job of a day may arrive, and the last. */
const MORNING_MS: Milliseconds = 7 * 3_600_000;
const EVENING_MS: Milliseconds = 20 * 3_600_000;

/**
 * Jobs of the same model in one day with a quiet night: the arrivals of some days, pressed into the hours from 7 to 20. Run times are cut so
 * that they offer at most `load` of the capacity of the whole day.
 */
export function dayOfWork(input: {
  readonly jobs: number;
  readonly seed: number;
  readonly maxProcessors: number;
  readonly load: number;
}): readonly WorkloadJob[] {
  const raw = generateLublinJobs({ jobs: input.jobs, seed: input.seed, processors: input.maxProcessors });
  const longestRunMs = chooseLongestRun(raw, {
    budget: DAY_MS * input.maxProcessors * input.load,
    shortest: 60_000,
    longest: 4 * 3_600_000,
  });
  return raw
    .map((job) => ({
      ...job,
      submitMs: MORNING_MS + Math.round((job.submitMs % DAY_MS) * ((EVENING_MS - MORNING_MS) / DAY_MS)),
      runMs: Math.min(job.runMs, longestRunMs),
    }))
    .toSorted((a, b) => a.submitMs - b.submitMs);
}

/** Forty jobs in two bursts of two minutes, short ones of at most 170 s. The second begins when the nodes of the first have gone. */
export function twoBursts(input: {
  readonly seed: number;
  readonly maxProcessors: number;
}): readonly WorkloadJob[] {
  const { jobs } = compressWorkload({ ...input, jobs: 40, hours: 2 / 60, load: 3.75, longestCutMs: 170_000 });
  return jobs.map((job, index) => (index < 20 ? job : { ...job, submitMs: job.submitMs + SECOND_BURST_MS }));
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
