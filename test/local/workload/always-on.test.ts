import { expect, test } from "vitest";
import { playAlwaysOn } from "../../../src/local/workload/always-on.ts";
import { dayOfWork, twoBursts } from "../../../src/local/workload/compressed-workload.ts";
import { job } from "../play/bench.ts";

test("two nodes of four cores: the third job waits for the first end, and the nodes are on until the last", () => {
  const jobs = [job("a", 0, 8, 1800), job("b", 600, 4, 1800), job("too wide", 600, 9, 60)];
  // b waits from 600 s to 1800 s and ends at 3600 s.
  expect(playAlwaysOn(jobs, { nodes: 2, coresPerNode: 4 })).toEqual({ nodeHours: 2, meanWaitSeconds: 600 });
});

test("no jobs cost nothing", () => {
  expect(playAlwaysOn([], { nodes: 2, coresPerNode: 4 })).toEqual({ nodeHours: 0, meanWaitSeconds: 0 });
});

test("a day of work: nothing arrives before 7 and after 20, and it is in order", () => {
  const arrivals = dayOfWork({ jobs: 120, seed: 3, maxProcessors: 256, load: 0.6 }).map(
    ({ submitMs }) => submitMs,
  );
  expect(arrivals).toHaveLength(120);
  expect(arrivals).toEqual(arrivals.toSorted((a, b) => a - b));
  expect(arrivals[0]).toBeGreaterThanOrEqual(7 * 3_600_000);
  expect(arrivals.at(-1)).toBeLessThanOrEqual(20 * 3_600_000);
});

test("two bursts of twenty jobs, short ones, with 18 minutes without an arrival between them", () => {
  const jobs = twoBursts({ seed: 3, maxProcessors: 256 });
  expect(jobs).toHaveLength(40);
  expect(Math.max(...jobs.map(({ runMs }) => runMs))).toBeLessThanOrEqual(170_000);
  expect(jobs[19]?.submitMs).toBeLessThanOrEqual(120_000);
  expect(jobs[20]?.submitMs).toBeGreaterThanOrEqual(1_200_000);
  expect(jobs.at(-1)?.submitMs).toBe(1_320_000);
});
