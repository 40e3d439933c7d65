import { describe, expect, test } from "vitest";
import { generateLublinJobs } from "../../../src/local/workload/lublin.ts";
import type { WorkloadJob } from "../../../src/local/workload/workload-job.ts";

interface Profile {
  readonly serialShare: number;
  readonly medianProcessors: number;
  readonly p90Processors: number;
  readonly meanRunSeconds: number;
  readonly meanGapSeconds: number;
}

function profile(jobs: readonly WorkloadJob[]): Profile {
  const sizes = jobs.map((job) => job.processors).toSorted((a, b) => a - b);
  const span = (jobs.at(-1)?.submitMs ?? 0) - (jobs[0]?.submitMs ?? 0);
  return {
    serialShare: sizes.filter((size) => size === 1).length / sizes.length,
    medianProcessors: sizes[sizes.length / 2] ?? 0,
    p90Processors: sizes[sizes.length * 0.9] ?? 0,
    meanRunSeconds: jobs.reduce((sum, job) => sum + job.runMs / 1000, 0) / jobs.length,
    meanGapSeconds: span / 1000 / (jobs.length - 1),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The sample (test/data/README.md) has 0.249 serial jobs, 8 processors in the median and 64 at 90 %, runs of 4,863 s and gaps of 771 s. */
describe("fidelity: ten seeds of 10,000 jobs for 256 processors against the published sample", () => {
  const profiles = Array.from({ length: 10 }, (_, index) =>
    profile(generateLublinJobs({ jobs: 10_000, seed: index + 1, processors: 256 })),
  );
  test.each([
    { name: "serial share: 0.249 +- 0.02", key: "serialShare", from: 0.229, to: 0.269 },
    { name: "median processors: 6 to 8", key: "medianProcessors", from: 6, to: 8 },
    { name: "p90 of processors: 45 to 64", key: "p90Processors", from: 45, to: 64 },
    { name: "run time: 4,863 s +- 15 %", key: "meanRunSeconds", from: 4133.5, to: 5592.5 },
    { name: "gap: 771 s +- 20 %", key: "meanGapSeconds", from: 616.8, to: 925.2 },
  ] as const)("$name", ({ key, from, to }) => {
    const found = mean(profiles.map((one) => one[key]));
    expect(found).toBeGreaterThanOrEqual(from);
    expect(found).toBeLessThanOrEqual(to);
  });
});

describe("shape", () => {
  const jobs = generateLublinJobs({ jobs: 5000, seed: 3, processors: 256 });

  test("the same seed gives the same jobs, another seed others", () => {
    expect(generateLublinJobs({ jobs: 5000, seed: 3, processors: 256 })).toEqual(jobs);
    expect(generateLublinJobs({ jobs: 5000, seed: 4, processors: 256 })).not.toEqual(jobs);
  });

  test("fewer jobs of a seed are the first of more", () => {
    expect(generateLublinJobs({ jobs: 10, seed: 3, processors: 256 })).toEqual(jobs.slice(0, 10));
  });

  test("whole seconds, run times from 1 s to e^12 s, arrivals in order, no walltime", () => {
    expect(jobs.filter((job) => job.runMs % 1000 !== 0 || job.submitMs % 1000 !== 0)).toEqual([]);
    expect(Math.min(...jobs.map((job) => job.runMs))).toBeGreaterThanOrEqual(1000);
    expect(Math.max(...jobs.map((job) => job.runMs))).toBeLessThanOrEqual(162_754_000);
    expect(jobs.map((job) => job.submitMs)).toEqual(
      jobs.map((job) => job.submitMs).toSorted((a, b) => a - b),
    );
    expect(jobs.filter((job) => job.walltimeMs !== undefined)).toEqual([]);
  });

  test("more than half of the parallel jobs are powers of two", () => {
    const parallel = jobs.filter((job) => job.processors > 1);
    const powers = parallel.filter((job) => Number.isInteger(Math.log2(job.processors)));
    // 0.576 of 0.756, and a few of the others by chance.
    expect(powers.length / parallel.length).toBeGreaterThan(0.74);
    expect(powers.length / parallel.length).toBeLessThan(0.86);
  });

  test("wide jobs run longer than narrow ones", () => {
    const runs = (wide: boolean): number =>
      mean(jobs.filter((job) => job.processors > 64 === wide).map((job) => job.runMs));
    expect(runs(true) / runs(false)).toBeGreaterThan(2);
  });

  test.each([1, 2, 5, 100])("no job is wider than a machine of %i", (processors) => {
    const sizes = generateLublinJobs({ jobs: 2000, seed: 1, processors }).map((job) => job.processors);
    expect(Math.min(...sizes)).toBe(1);
    expect(Math.max(...sizes)).toBe(processors);
  });

  test("most jobs of a day arrive at about 14:00, and fewest at about 05:00", () => {
    const days = generateLublinJobs({ jobs: 100_000, seed: 5, processors: 256 });
    const byHour = Map.groupBy(days, ({ submitMs }) => Math.floor(submitMs / 3_600_000) % 24);
    const countOf = (hour: number): number => byHour.get(hour)?.length ?? 0;
    const hours = Array.from({ length: 24 }, (_, hour) => hour).toSorted((a, b) => countOf(a) - countOf(b));
    expect([4, 5]).toEqual(expect.arrayContaining(hours.slice(0, 2)));
    // The busiest half hour ends at 14:00. Its neighbours are nearly as busy.
    expect([12, 13, 14, 15]).toEqual(expect.arrayContaining(hours.slice(-3)));
  });
});
