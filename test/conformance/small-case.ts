import type { Json } from "./compare.ts";
import type { VectorCase } from "./vector-case.ts";

/** Small clusters in the format of the allocator's vectors, for tests of the runner itself: arrays of four-core nodes with 8 GB. */

type Fields = Readonly<Record<string, Json>>;

/** A bucket of five free nodes; quotas are far away unless said otherwise. */
export function bucketOf(size: string, more: Fields = {}): Json {
  return {
    bucketId: `b-${size}`,
    definition: { machineType: size },
    valid: true,
    activeCount: 0,
    activeCoreCount: 0,
    availableCount: 5,
    availableCoreCount: 20,
    maxCount: 5,
    maxCoreCount: 20,
    familyConsumedCoreCount: 0,
    familyQuotaCoreCount: 1000,
    regionalConsumedCoreCount: 0,
    regionalQuotaCoreCount: 1000,
    maxPlacementGroupSize: 10,
    placementGroups: [],
    lastCapacityFailure: -1,
    virtualMachine: { vcpuCount: 4, memory: 8, gpuCount: 0, infiniband: false },
    ...more,
  };
}

export function arrayOf(
  name: string,
  buckets: readonly Json[],
  more: Fields = {},
  record: Fields = {},
): Json {
  return {
    name,
    maxCount: 100,
    maxCoreCount: 1000,
    nodearray: { Name: name, Region: "r", Interruptible: false, Configuration: {}, ...record },
    buckets,
    ...more,
  };
}

/** A node of size D4 of array "a", up. */
export function nodeOf(name: string, more: Fields = {}): Json {
  return {
    Name: name,
    NodeId: `id-${name}`,
    Template: "a",
    MachineType: "D4",
    Status: "Ready",
    TargetState: "Started",
    Hostname: `ip-${name}`,
    Configuration: {},
    ...more,
  };
}

/** A started cluster with these arrays; `more`: nodes, config, default_placement_groups. */
export function inputOf(
  arrays: readonly Json[],
  jobs: readonly Json[],
  more: Fields = {},
): VectorCase["input"] {
  return {
    clusterStatus: {
      state: "Started",
      targetState: "Started",
      maxCount: 100,
      maxCoreCount: 1000,
      nodearrays: arrays,
    },
    nodes: [],
    jobs,
    ...more,
  };
}
