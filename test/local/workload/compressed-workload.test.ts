import { describe, expect, test } from "vitest";
import { compressWorkload } from "../../../src/local/workload/compressed-workload.ts";
import { generateLublinJobs } from "../../../src/local/workload/lublin.ts";

describe("the default run: 200 jobs in two hours", () => {
  const raw = generateLublinJobs({ jobs: 200, seed: 1, processors: 64 });
  const bent = compressWorkload({ jobs: 200, seed: 1, hours: 2, maxProcessors: 64 });

  test("the first job comes at 0, the last after two hours", () => {
    expect(bent.jobs.length).toBe(200);
    expect([bent.jobs[0]?.submitMs, bent.jobs.at(-1)?.submitMs]).toEqual([0, 7_200_000]);
  });

  test("the printed factors lead back to the model's own jobs", () => {
    const first = raw[0]?.submitMs ?? 0;
    raw.forEach((job, index) => {
      const submitMs = (bent.jobs[index]?.submitMs ?? 0) * bent.arrivalDivisor + first;
      expect(Math.abs(submitMs - job.submitMs)).toBeLessThan(bent.arrivalDivisor);
      expect(bent.jobs[index]).toMatchObject({
        processors: job.processors,
        runMs: Math.min(job.runMs, bent.longestRunMs),
      });
    });
    expect(bent.jobsCutShort).toBe(raw.filter((job) => job.runMs > bent.longestRunMs).length);
    expect(bent.jobsCutShort).toBeGreaterThan(0);
  });

  test("the jobs offer at most 0.8 of the machine", () => {
    const work = bent.jobs.reduce((sum, job) => sum + job.processors * job.runMs, 0);
    expect(bent.offeredLoad).toBeCloseTo(work / (7_200_000 * 64), 9);
    expect(bent.offeredLoad).toBeLessThanOrEqual(0.8);
  });
});

test.each([
  { name: "a load that cannot be had cuts at the shortest length", load: 0, longestRunMs: 60_000 },
  { name: "a load that is never reached cuts at the longest", load: 1000, longestRunMs: 1_800_000 },
])("$name", ({ load, longestRunMs }) => {
  const bent = compressWorkload({ jobs: 100, seed: 2, hours: 2, maxProcessors: 32, load });
  expect(bent.longestRunMs).toBe(longestRunMs);
});

test.each([0, 1])("%i jobs are no special case", (jobs) => {
  const bent = compressWorkload({ jobs, seed: 2, hours: 2, maxProcessors: 32 });
  expect([bent.jobs.length, bent.arrivalDivisor]).toEqual([jobs, 1]);
});
