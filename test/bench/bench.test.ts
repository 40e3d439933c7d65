import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { JobDemand } from "../../src/domain/demand.ts";
import type { World } from "../../src/domain/world.ts";
import { atOnce } from "../../src/domain/sliced.ts";
import { readJobsInSlices } from "../../src/wire/message/job.ts";
import { Dice } from "../simulation/dice.ts";
import { leastByTrying } from "./brute-force.ts";
import { maximise } from "./linear-program.ts";
import type { JobText, LoadInput } from "./load.ts";
import { LOADS } from "./loads.ts";
import { lowerBounds } from "./lower-bound.ts";
import { measure } from "./measure.ts";
import { openCluster } from "./open-cluster.ts";
import type { TinyLoad } from "./tiny-load.ts";
import { drawTinyLoad, inputOf } from "./tiny-load.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));

function bench(...options: readonly string[]) {
  return spawnSync(process.execPath, ["--expose-gc", main, ...options], { encoding: "utf8" });
}

function jobsOf(load: string, size: number): readonly JobText[] {
  return LOADS.find(({ name }) => name === load)?.input(size).jobs ?? [];
}

function read(input: LoadInput): { readonly world: World; readonly jobs: readonly JobDemand[] } {
  const { jobs, rejected } = atOnce(readJobsInSlices(input.jobs, 0));
  expect(rejected).toEqual([]);
  return { world: openCluster(input.cluster), jobs };
}

function boundsOf(tiny: TinyLoad) {
  const { world, jobs } = read(inputOf(tiny));
  return lowerBounds(world, jobs);
}

describe("loads", () => {
  test.each(LOADS)("$name: the same size is the same input, and all of its jobs can be read", (load) => {
    const input = load.input(700);
    expect(JSON.stringify(load.input(700))).toBe(JSON.stringify(input));
    expect(read(input).jobs.length).toBe(input.jobs.length);
  });

  test("of 1,000 pods 400 are generic, 200 spread over nodes, 200 in groups and 200 alone; seven labels each", () => {
    const jobs = jobsOf("karpenter-pods", 1000);
    const count = (kind: string, slots: (job: JobText) => number) => {
      const some = jobs.filter(({ name }) => name.startsWith(kind));
      return [some.length, some.reduce((sum, job) => sum + slots(job), 0)];
    };
    expect(count("generic", () => 1)).toEqual([400, 400]);
    expect(count("spread", (job) => job["node-count"] ?? 0)).toEqual([7, 200]);
    expect(count("group", (job) => job.iterations ?? 0)).toEqual([7, 200]);
    expect(count("alone", () => 1)).toEqual([200, 200]);
  });

  test("no group of pods is larger than 600: 42,000 pods have 1,200 of each label, in two groups", () => {
    const groups = jobsOf("karpenter-pods", 42_000).filter(({ name }) => name.startsWith("group"));
    expect(groups.map(({ iterations }) => iterations)).toEqual(Array.from({ length: 14 }, () => 600));
  });

  test("the packing case has 50 small pods for each large one", () => {
    const large = jobsOf("packing-shuffled", 51_000).filter(({ name }) => name.startsWith("large"));
    expect(large.length).toBe(1000);
  });

  test("of distinct jobs no two take the same", () => {
    const jobs = jobsOf("distinct-jobs", 5000);
    const amounts = jobs.map(
      ({ constraints: [first] }) => `${String(first?.["ncpus"])} ${String(first?.["mem"])}`,
    );
    expect(new Set(amounts).size).toBe(5000);
  });
});

describe("lower bounds", () => {
  const small = { ncpus: 4, memory: 8, price: 5 };
  const large = { ncpus: 8, memory: 8, price: 8 };
  test.each<{ name: string; tiny: TinyLoad; nodes: number; cost: number }>([
    {
      name: "ten cores are 1.25 nodes of eight: two nodes, and the price of 1.25",
      tiny: {
        types: [small, large],
        nodes: [],
        jobs: [{ kind: "packed", slots: 10, ncpus: 1, memory: 0 }],
      },
      nodes: 2,
      cost: 10,
    },
    {
      name: "slots that want a node alone are whole nodes of the cheapest type that holds them",
      tiny: { types: [small, large], nodes: [], jobs: [{ kind: "alone", slots: 3, ncpus: 1, memory: 1 }] },
      nodes: 3,
      cost: 15,
    },
    {
      name: "existing nodes are free, and counted: of sixteen cores eight are there",
      tiny: { types: [large], nodes: [0], jobs: [{ kind: "packed", slots: 16, ncpus: 1, memory: 0 }] },
      nodes: 2,
      cost: 8,
    },
    {
      name: "an existing node that one slot has alone holds nothing else: 1 slot alone and 8 cores are one new node at least",
      tiny: {
        types: [large],
        nodes: [0],
        jobs: [
          { kind: "alone", slots: 1, ncpus: 1, memory: 0 },
          { kind: "packed", slots: 8, ncpus: 1, memory: 0 },
        ],
      },
      nodes: 2,
      cost: 8,
    },
    {
      name: "two resources are bought together: 8 cores with 16 GiB are two small nodes, dearer than either resource by itself",
      tiny: {
        types: [
          { ncpus: 4, memory: 1, price: 3 },
          { ncpus: 1, memory: 4, price: 3 },
        ],
        nodes: [],
        // Of each type one: 5 cores and 5 GiB for 6. Cores alone would be 3.75, memory likewise.
        jobs: [{ kind: "packed", slots: 5, ncpus: 1, memory: 1 }],
      },
      nodes: 2,
      cost: 6,
    },
  ])("$name", ({ tiny, nodes, cost }) => {
    const bounds = boundsOf(tiny);
    expect(bounds.nodes).toBe(nodes);
    expect(bounds.cost).toBeCloseTo(cost, 6);
  });

  test("on 400 tiny loads they are never above the best of all plans, and often near it", () => {
    let near = 0;
    for (let seed = 1; seed <= 400; seed += 1) {
      const tiny = drawTinyLoad(new Dice(seed));
      const bounds = boundsOf(tiny);
      const [nodes, cost] = [leastByTrying(tiny, "nodes"), leastByTrying(tiny, "cost")];
      expect(bounds.nodes, `nodes of seed ${seed}`).toBeLessThanOrEqual(nodes);
      expect(bounds.cost, `cost of seed ${seed}`).toBeLessThanOrEqual(cost + 1e-6);
      if (bounds.nodes === nodes) near += 1;
    }
    expect(near).toBeGreaterThan(200);
  });

  test("a linear program: 3x + 5y under x <= 4, 2y <= 12, 3x + 2y <= 18 is largest at (2, 6)", () => {
    const [x, y] = maximise(
      [3, 5],
      [
        { coefficients: [1, 0], most: 4 },
        { coefficients: [0, 2], most: 12 },
        { coefficients: [3, 2], most: 18 },
      ],
    );
    expect(x).toBeCloseTo(2, 9);
    expect(y).toBeCloseTo(6, 9);
  });
});

describe("results", () => {
  // Five times as many, and the other two orders: test/deep/bench-bounds.deep.ts.
  test("packing-shuffled: 519 nodes, as few as there can be", () => {
    const load = LOADS.find(({ name }) => name === "packing-shuffled");
    if (load === undefined) throw new Error("the load is there");
    const result = measure(load, 10_200, { warmUps: 0, timed: 1 });
    // Ten large ones and a small one fill each of 20 nodes, twenty small ones each of 499.
    expect([result.nodes, result.nodesLowerBound]).toEqual([519, 519]);
  });

  test("each is one line of JSON with exactly the keys that are promised; progress goes elsewhere", () => {
    const { stdout, stderr, status } = bench("--only", "karpenter-pods", "--size", "100", "--runs", "1");
    expect(status).toBe(0);
    expect(stderr).toContain("karpenter-pods: 100 pods");
    const lines = stdout.trimEnd().split("\n");
    expect(lines.length).toBe(1);
    const result: Record<string, unknown> = JSON.parse(lines[0] ?? "");
    expect(Object.keys(result)).toEqual([
      "bench",
      "size",
      "seconds",
      "perSecond",
      "nodes",
      "nodesLowerBound",
      "cost",
      "costLowerBound",
      "parseSeconds",
      "planOverParse",
      "bytesPerJob",
      "checksum",
    ]);
    const { bench: name, checksum, ...numbers } = result;
    expect(name).toBe("karpenter-pods");
    expect(checksum).toMatch(/^[0-9a-f]{16}$/);
    for (const [key, value] of Object.entries(numbers)) expect(value, key).toBeGreaterThan(0);
  });

  test("the command lists its loads, and refuses one that it does not have", () => {
    expect(bench("--list").stdout).toContain("distinct-jobs: 10000, 100000 jobs\n");
    const refused = bench("--only", "nothing");
    expect([refused.status, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain("no such load: nothing");
  });
});
