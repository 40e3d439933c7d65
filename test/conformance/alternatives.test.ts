/** Of alternatives scalelib fills each node by the one that holds first, once; our own vectors for what happens where that does not do. */
import { expect, test } from "vitest";
import type { Json } from "./compare.ts";
import { judgeCase, SUITES } from "./suites.ts";

const suite = SUITES.find(({ name }) => name === "allocator/packing");

const SIZE = "Standard_G6";
/** Its GPU is known to both the catalogue and CycleCloud. */
const vmSizes: Json = {
  westeurope: {
    [SIZE]: {
      name: SIZE,
      family: "standardGFamily",
      location: "westeurope",
      capabilities: { vCPUs: 6, MemoryGB: 56, GPUs: 1 },
    },
  },
};

/** A size with a GPU and six cores; `available` new nodes. */
const cluster = (available: number): Json => ({
  state: "Started",
  targetState: "Started",
  maxCount: 100,
  maxCoreCount: 1000,
  nodearrays: [
    {
      name: "gpu",
      maxCount: 100,
      maxCoreCount: 1000,
      nodearray: { Name: "gpu", Region: "westeurope", SubnetId: "rg/vnet/default", Interruptible: false },
      buckets: [
        {
          definition: { machineType: SIZE },
          bucketId: "gpu-b0",
          valid: true,
          activeCount: 0,
          activeCoreCount: 0,
          availableCount: available,
          availableCoreCount: 6 * available,
          maxCount: available,
          maxCoreCount: 6 * available,
          familyConsumedCoreCount: 0,
          familyQuotaCoreCount: 1000,
          regionalConsumedCoreCount: 0,
          regionalQuotaCoreCount: 1000,
          maxPlacementGroupSize: 100,
          placementGroups: [],
          lastCapacityFailure: -1,
          virtualMachine: { vcpuCount: 6, memory: 56, infiniband: false, gpuCount: 1 },
        },
      ],
    },
  ],
});

/** What the library does with a job for `iterations` slots where there is room for two nodes: one slot on each, by its GPU. */
function libraryCase(iterations: number, asks: Json, slots: readonly number[]) {
  const names = slots.map((_, i) => `gpu-${i + 1}`);
  const allocated = slots.reduce((total, one) => total + one, 0);
  return {
    name: "alternatives",
    input: { clusterStatus: cluster(2), nodes: [], jobs: [{ name: "1", constraints: [asks], iterations }] },
    expected: {
      jobs: [
        {
          job: "1",
          unit: "slots",
          requested: iterations,
          status: "success",
          allocated,
          remaining: iterations - allocated,
          by_bucket: [{ bucket: "gpu/Standard_G6", existing: 0, new: names.length, slots: allocated }],
          nodes: names.map((name, i): Json => [name, "new", slots[i] ?? 0]),
          candidates: ["gpu/Standard_G6"],
        },
      ],
      buckets: [{ bucket: "gpu/Standard_G6", available: 2 - names.length }],
      demand: {
        new: names,
        matched: names,
        unmatched: [],
        failed: [],
        new_by_bucket: [{ bucket: "gpu/Standard_G6", state: "Off", count: names.length }],
      },
      nodes: names.map((name): Json => [name, "gpu/Standard_G6", "r", ["1"], { ngpus: 0 }]),
    },
  };
}

const gpuOrCores: Json = { or: [{ ngpus: 1 }, { ncpus: 2 }] };

test.each([
  { name: "each has a GPU", one: libraryCase(2, gpuOrCores, [1, 1]), kind: "passed", defects: [] },
  {
    name: "the library leaves the cores of a full bucket unused (defect 9)",
    one: libraryCase(5, gpuOrCores, [1, 1]),
    kind: "deviated",
    defects: [9],
  },
  {
    name: "without alternatives it would not",
    one: libraryCase(5, { ngpus: 0, ncpus: 2 }, [1, 1]),
    kind: "failed",
    defects: [],
  },
  {
    name: "nor would it leave a node before it is full",
    one: libraryCase(2, gpuOrCores, [2]),
    kind: "failed",
    defects: [],
  },
  {
    name: "the library puts all slots that take nothing on one node (defect 19)",
    one: libraryCase(3, { "node.nodearray": "gpu" }, [3]),
    kind: "deviated",
    defects: [19],
  },
  {
    name: "it does not where each takes something",
    one: libraryCase(3, { ncpus: 6 }, [3]),
    kind: "failed",
    defects: [],
  },
])("$name: $kind", ({ one, kind, defects }) => {
  if (suite === undefined) throw new Error("there is such a suite");
  const verdict = judgeCase(suite, one, { vmSizes });
  expect({ kind: verdict.kind, defects: verdict.defects }, JSON.stringify(verdict.differences)).toEqual({
    kind,
    defects,
  });
});
