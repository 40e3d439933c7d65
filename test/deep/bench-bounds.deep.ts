import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { LOADS } from "../bench/loads.ts";
import { lowerBounds } from "../bench/lower-bound.ts";
import type { Result } from "../bench/measure.ts";
import { openCluster } from "../bench/open-cluster.ts";
import { atOnce } from "../../src/domain/sliced.ts";
import { readJobsInSlices } from "../../src/wire/message/job.ts";

/** All loads in all sizes, in a process of their own, as `npm run bench` runs them. The lines are printed for the log. */
const results = new Map<string, Result>();
const keyOf = (name: string, size: number): string => `${name} ${size}`;

beforeAll(() => {
  const main = fileURLToPath(new URL("../bench/main.ts", import.meta.url));
  const { stdout, status } = spawnSync(process.execPath, ["--expose-gc", main], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  console.log(stdout);
  expect(status).toBe(0);
  for (const line of stdout.trimEnd().split("\n")) {
    const result: Result = JSON.parse(line);
    results.set(keyOf(result.bench, result.size), result);
  }
}, 1_800_000);

function resultOf(name: string, size: number): Result {
  const result = results.get(keyOf(name, size));
  if (result === undefined) throw new Error(`the bench printed no line for ${name} of ${size}`);
  return result;
}

/** On two cores; where reading the same input takes long, half as much again as that may be taken. */
describe("how long a plan may take", () => {
  test.each([
    { name: "mixed-jobs", size: 5000, milliseconds: 40 },
    { name: "task-array", size: 1_000_000, milliseconds: 10 },
    { name: "mpi-jobs", size: 400, milliseconds: 20 },
    { name: "karpenter-pods", size: 20_000, milliseconds: 500 },
    { name: "distinct-jobs", size: 100_000, milliseconds: 4000 },
  ])("$name of $size: $milliseconds ms", ({ name, size, milliseconds }) => {
    const { seconds, parseSeconds } = resultOf(name, size);
    expect(seconds).toBeLessThan(Math.max(milliseconds / 1000, 1.5 * parseSeconds));
  });

  test.each([
    { name: "one-slot-jobs", times: 12 },
    { name: "mixed-jobs", times: 12 },
    { name: "distinct-jobs", times: 13 },
  ])("$name: ten times as many jobs take at most $times times as long", ({ name, times }) => {
    expect(resultOf(name, 100_000).seconds / resultOf(name, 10_000).seconds).toBeLessThanOrEqual(times);
  });
});

describe("how good a plan is", () => {
  const cases = LOADS.flatMap((load) => load.sizes.map((size) => ({ load, size, name: load.name })));

  test.each(cases)("$name of $size: no better than can be", ({ load, name, size }) => {
    const { nodes, cost } = resultOf(name, size);
    const input = load.input(size);
    const least = lowerBounds(openCluster(input.cluster), atOnce(readJobsInSlices(input.jobs, 0)).jobs);
    expect(nodes).toBeGreaterThanOrEqual(least.nodes);
    expect(cost).toBeGreaterThanOrEqual(least.cost * (1 - 1e-9));
  });

  test.each(["packing-shuffled", "packing-large-first", "packing-small-first"])(
    "%s: 2,595 nodes, as few as there can be",
    (name) => {
      const { nodes, nodesLowerBound } = resultOf(name, 51_000);
      expect([nodes, nodesLowerBound]).toEqual([2595, 2595]);
    },
  );

  test.each(cases.filter(({ size }) => size >= 1000))(
    "$name of $size: at most 5 % above the bound",
    ({ load, name, size }) => {
      const { nodes, nodesLowerBound, cost, costLowerBound } = resultOf(name, size);
      const excess = load.policy.among === "cheapest" ? cost / costLowerBound : nodes / nodesLowerBound;
      expect(excess).toBeLessThanOrEqual(1.05);
    },
  );
});
