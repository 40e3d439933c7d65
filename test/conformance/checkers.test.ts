import { describe, expect, test } from "vitest";
import { answerAllocator } from "./answer-allocator.ts";
import { findFaults } from "./checkers.ts";
import type { Json } from "./compare.ts";
import { isObject } from "./compare.ts";
import { arrayOf, bucketOf, inputOf } from "./small-case.ts";
import type { Suite } from "./suites.ts";
import { judgeAnswer, SUITES } from "./suites.ts";
import type { VectorCase } from "./vector-case.ts";

/** One array of 4-core nodes: three more can be had, a group holds two; a-1 is up and a-2 has failed. */
const bucket: Json = {
  bucketId: "b0",
  definition: { machineType: "D4" },
  valid: true,
  activeCount: 2,
  activeCoreCount: 8,
  availableCount: 3,
  availableCoreCount: 12,
  maxCount: 5,
  maxCoreCount: 20,
  familyConsumedCoreCount: 8,
  familyQuotaCoreCount: 100,
  regionalConsumedCoreCount: 8,
  regionalQuotaCoreCount: 100,
  maxPlacementGroupSize: 2,
  placementGroups: [{ name: "g", activeCount: 0, activeCoreCount: 0 }],
  lastCapacityFailure: -1,
  virtualMachine: { vcpuCount: 4, memory: 16, gpuCount: 0, infiniband: false },
};

const node = (name: string, status: string): Json => ({
  Name: name,
  NodeId: `id-${name}`,
  Template: "a",
  MachineType: "D4",
  Status: status,
  TargetState: "Started",
  Hostname: `ip-${name}`,
  Configuration: {},
});

const input: VectorCase["input"] = {
  clusterStatus: {
    state: "Started",
    targetState: "Started",
    maxCount: 100,
    maxCoreCount: 1000,
    nodearrays: [
      {
        name: "a",
        maxCount: 100,
        maxCoreCount: 1000,
        nodearray: { Name: "a", Region: "r", Interruptible: false, Configuration: {} },
        buckets: [bucket],
      },
    ],
  },
  nodes: [node("a-1", "Ready"), node("a-2", "Failed")],
  jobs: [
    {
      name: "alone",
      constraints: [{ ncpus: 1 }, { exclusive: true }, { "node.colocated": false }],
      iterations: 2,
    },
    { name: "pair", constraints: [{ ncpus: 4 }, { "in-a-placement-group": true }], node_count: 2 },
  ],
};
const one: VectorCase = { name: "small", input, expected: {} };
const sound = {
  jobs: [
    outcome("alone", 2, "a/D4", ["a-1", "existing", 1], ["a-3", "new", 1]),
    outcome("pair", 2, "a/D4/g", ["a-4", "new", 1], ["a-5", "new", 1]),
  ],
  demand: { new_by_bucket: made(1, 2) },
  nodes: [
    ["a-3", "a/D4", "r", [], {}],
    ["a-4", "a/D4/g", "r", [], {}],
    ["a-5", "a/D4/g", "r", [], {}],
  ],
};

function outcome(job: string, allocated: number, at: string, ...nodes: readonly Json[]) {
  return { job, allocated, requested: 2, by_bucket: [{ bucket: at }], nodes };
}

function made(outside: number, inGroup: number): Json {
  return [
    { bucket: "a/D4", count: outside },
    { bucket: "a/D4/g", count: inGroup },
  ];
}

const [alone, pair] = sound.jobs;
if (alone === undefined || pair === undefined) throw new Error("two jobs");
const nothing = { ...pair, allocated: 0, by_bucket: [], nodes: [] };

describe("the checkers", () => {
  test("find nothing wrong with a sound answer", () => {
    expect(findFaults(one, sound, { vmSizes: {} })).toEqual([]);
  });

  test.each<{ readonly name: string; readonly answer: Json; readonly fault: string }>([
    {
      name: "more new nodes than are available, over all groups",
      answer: { ...sound, demand: { new_by_bucket: made(2, 2) } },
      fault: "bucket a/D4: 4 of 3 nodes",
    },
    {
      name: "more nodes than a placement group holds",
      answer: { ...sound, demand: { new_by_bucket: made(0, 3) } },
      fault: "group g: 0 and 3 of 2 nodes",
    },
    {
      name: "two slots of an exclusive job on a node",
      answer: { ...sound, jobs: [outcome("alone", 2, "a/D4", ["a-1", "existing", 2]), pair] },
      fault: "alone: slot 2 of 2 is too much for a-1",
    },
    {
      name: "a node that has failed",
      answer: {
        ...sound,
        jobs: [outcome("alone", 2, "a/D4", ["a-1", "existing", 1], ["a-2", "existing", 1]), pair],
      },
      fault: "alone: a-2 is no healthy node of a bucket",
    },
    {
      name: "a job that shares the node of an exclusive one",
      answer: {
        ...sound,
        jobs: [alone, outcome("pair", 2, "a/D4", ["a-1", "existing", 1], ["a-4", "new", 1])],
      },
      fault: "pair: slot 1 of 1 is too much for a-1",
    },
    {
      name: "half of what goes whole or not at all",
      answer: { ...sound, jobs: [alone, outcome("pair", 1, "a/D4/g", ["a-4", "new", 1])] },
      fault: "pair: 1 of 2, all or none",
    },
    {
      name: "in two buckets",
      answer: { ...sound, jobs: [alone, { ...pair, by_bucket: [{ bucket: "a/D4" }, { bucket: "a/D4/g" }] }] },
      fault: "pair: in a/D4 and a/D4/g",
    },
    {
      name: "less than a naive first fit places",
      answer: { ...sound, jobs: [alone, nothing], demand: { new_by_bucket: made(1, 0) } },
      fault: "placed 2, a naive first fit places 4: alone 2/2, pair 0/2",
    },
  ])("find $name", ({ answer, fault }) => {
    expect(findFaults(one, answer, { vmSizes: {} })).toContain(fault);
  });

  test("of alternatives the one is taken that has room beside the rest", () => {
    const job: Json = {
      name: "k",
      constraints: [{ ncpus: 3 }, { or: [{ ncpus: 2 }, { mem: "memory::1g" }] }],
    };
    const config: Json = { default_resources: [{ select: {}, name: "mem", value: "node.memory" }] };
    const alternatives: VectorCase = { ...one, input: { ...input, config, jobs: [job] } };
    const answer = {
      jobs: [{ ...outcome("k", 1, "a/D4", ["a-1", "existing", 1]), requested: 1 }],
      demand: { new_by_bucket: [] },
      nodes: [],
    };
    expect(findFaults(alternatives, answer, { vmSizes: {} })).toEqual([]);
    const idle = { ...answer, jobs: [{ ...outcome("k", 0, "a/D4"), by_bucket: [], nodes: [] }] };
    expect(findFaults(alternatives, idle, { vmSizes: {} })).toEqual([
      "placed 0, a naive first fit places 1: k 0/1",
    ]);
  });

  test.each([
    { name: "two of each size by default", config: {}, record: {}, places: 4 },
    {
      name: "one more, where the array may have two and has one",
      config: { nodearrays: { a: { max_placement_groups: 2 } } },
      record: {},
      places: 1,
    },
    {
      name: "none in an array that is not for HPC",
      config: {},
      record: { Configuration: { autoscale: { is_hpc: false } } },
      places: 0,
    },
  ])("the naive first fit has generated groups: $name", ({ config, record, places }) => {
    // Each group holds one node, and the one that is there is full.
    const size = bucketOf("D4", {
      maxPlacementGroupSize: 1,
      placementGroups: [{ name: "g", activeCount: 1, activeCoreCount: 4 }],
    });
    const other = bucketOf("D8", { maxPlacementGroupSize: 1 });
    const job: Json = {
      name: "k",
      constraints: [{ ncpus: 4 }, { "in-a-placement-group": true }],
      iterations: 9,
    };
    const grouped: VectorCase = {
      name: "groups",
      input: inputOf([arrayOf("a", [size, other], {}, record)], [job], {
        config,
        default_placement_groups: true,
      }),
      expected: {},
    };
    const idle = { jobs: [{ job: "k", allocated: 0, requested: 9, by_bucket: [], nodes: [] }] };
    expect(findFaults(grouped, idle, { vmSizes: {} })).toEqual(
      places === 0 ? [] : [`placed 0, a naive first fit places ${places}: k 0/${places}`],
    );
  });

  test("an answer that deviates and has a fault fails", () => {
    const suite = SUITES.find(({ name }) => name === "allocator/packing");
    if (suite === undefined) throw new Error("the suite is there");
    const answer = answerAllocator(one, { vmSizes: {} });
    // The library packs both slots of the exclusive job onto one node: defect 11.
    const expected: Json = {
      ...(isObject(answer) ? answer : {}),
      jobs: [outcome("alone", 2, "a/D4", ["a-1", "existing", 2]), pair],
    };
    const judge = (actual: Json, of: Suite) => judgeAnswer(of, { ...one, expected }, actual, { vmSizes: {} });
    expect(judge(answer, suite)).toMatchObject({ kind: "deviated", defects: [11] });
    const wasteful = { ...sound, jobs: [alone, nothing], demand: { new_by_bucket: made(1, 0) } };
    expect(judge(wasteful, suite).kind).toBe("failed");
  });
});
