import type {
  ClusterOptions,
  HeadNodeOptions,
  InvalidReason,
  MachineTypeOptions,
  NodeArrayOptions,
  Quirks,
  QuotaOptions,
  ShutdownPolicy,
  SimulatorOptions,
  Timings,
} from "./options.ts";
import { defaultMaxPlacementGroupSize, defaultQuirks, defaultTimings, unboundedCount } from "./options.ts";
import type { JsonObject } from "./json.ts";
import type { Random } from "./random.ts";
import { drawUuid } from "./random.ts";
import type { Seconds } from "../domain/units.ts";

/** One VM size with every field known. */
export type Machine = {
  readonly name: string;
  readonly vcpuCount: number;
  readonly pcpuCount: number;
  readonly gpuCount: number;
  readonly memory: number;
  readonly infiniband: boolean;
  readonly quotaCores: number;
  readonly family: string;
  readonly pricePerHour: number | undefined;
};

/** One machine type of a node array, with all its placement groups. */
export type Bucket = {
  readonly id: string;
  readonly array: NodeArray;
  readonly machine: Machine;
  invalidReason: InvalidReason | undefined;
  /** Number of further VMs that Azure has. Undefined: enough. */
  capacityLeft: number | undefined;
  lastCapacityFailureAt: number | undefined;
};

export type NodeArray = {
  readonly name: string;
  readonly cluster: Cluster;
  readonly maxCount: number;
  readonly maxCoreCount: number;
  readonly region: string;
  readonly subnetId: string;
  readonly spot: boolean;
  readonly placementGroupId: string | undefined;
  readonly priority: number | undefined;
  readonly maxPlacementGroupSize: number;
  readonly throttleCapacitySeconds: Seconds;
  readonly configuration: JsonObject;
  readonly shutdownPolicy: ShutdownPolicy;
  readonly timings: Timings;
  readonly buckets: readonly Bucket[];
  /** Its wire record. Undefined until the first status. */
  record: JsonObject | undefined;
};

export type Cluster = {
  readonly name: string;
  state: string | undefined;
  targetState: string | undefined;
  readonly maxCount: number;
  readonly maxCoreCount: number;
  readonly arrays: readonly NodeArray[];
  readonly headNodes: readonly HeadNodeOptions[];
};

/** The options with defaults filled in and names resolved. The nodes are in the fleet. */
export type World = {
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly machines: ReadonlyMap<string, Machine>;
  readonly quotas: QuotaOptions;
  readonly quirks: Quirks;
};

const defaultSubnet = "example-rg/example-vnet/compute";

/**
 * Fills in the defaults and links arrays to their machine types. Throws an Error if a machine type is not defined; it names the array and
 * the known machine types.
 */
export function buildWorld(options: SimulatorOptions, random: Random): World {
  const machines = new Map(
    Object.entries(options.machineTypes).map(([name, machine]) => [
      name.toLowerCase(),
      buildMachine(name, machine),
    ]),
  );
  const timings = { ...defaultTimings, ...options.timings };
  return {
    clusters: new Map(
      options.clusters.map((cluster) => [cluster.name, buildCluster(cluster, machines, timings, random)]),
    ),
    machines,
    quotas: options.quotas ?? {},
    quirks: { ...defaultQuirks, ...options.quirks },
  };
}

/** Letter case does not matter in names of machine types (cyclecloud-wire.md A.3). */
export function findBucket(array: NodeArray, machineType: string): Bucket | undefined {
  const wanted = machineType.toLowerCase();
  return array.buckets.find((bucket) => bucket.machine.name.toLowerCase() === wanted);
}

function buildMachine(name: string, options: MachineTypeOptions): Machine {
  return {
    name,
    vcpuCount: options.vcpuCount,
    pcpuCount: options.pcpuCount ?? options.vcpuCount,
    gpuCount: options.gpuCount ?? 0,
    memory: options.memory,
    infiniband: options.infiniband ?? false,
    quotaCores: options.vcpuQuotaCount ?? options.vcpuCount,
    family: options.family,
    pricePerHour: options.pricePerHour,
  };
}

function buildCluster(
  options: ClusterOptions,
  machines: ReadonlyMap<string, Machine>,
  timings: Timings,
  random: Random,
): Cluster {
  const arrays: NodeArray[] = [];
  const cluster: Cluster = {
    name: options.name,
    state: options.state === null ? undefined : (options.state ?? "Started"),
    targetState: options.targetState === null ? undefined : (options.targetState ?? "Started"),
    maxCount: options.maxCount ?? unboundedCount,
    maxCoreCount: options.maxCoreCount ?? unboundedCount,
    arrays,
    headNodes: options.headNodes ?? [],
  };
  for (const head of cluster.headNodes) requireMachine(machines, head.machineType, `head node ${head.name}`);
  for (const array of options.arrays) arrays.push(buildArray(array, cluster, machines, timings, random));
  return cluster;
}

function buildArray(
  options: NodeArrayOptions,
  cluster: Cluster,
  machines: ReadonlyMap<string, Machine>,
  timings: Timings,
  random: Random,
): NodeArray {
  const buckets: Bucket[] = [];
  const array: NodeArray = {
    name: options.name,
    cluster,
    maxCount: options.maxCount ?? unboundedCount,
    maxCoreCount: options.maxCoreCount ?? unboundedCount,
    region: options.region,
    subnetId: options.subnetId ?? defaultSubnet,
    spot: options.spot ?? false,
    placementGroupId: options.placementGroupId,
    priority: options.priority,
    maxPlacementGroupSize: options.maxPlacementGroupSize ?? defaultMaxPlacementGroupSize,
    throttleCapacitySeconds: options.throttleCapacitySeconds ?? 0,
    configuration: options.configuration ?? {},
    shutdownPolicy: options.shutdownPolicy ?? "Terminate",
    timings: { ...timings, ...options.timings },
    buckets,
    record: undefined,
  };
  for (const machineType of options.machineTypes) {
    const machine = requireMachine(machines, machineType, `array ${options.name}`);
    buckets.push({
      id: drawUuid(random),
      array,
      machine,
      invalidReason: options.invalid?.[machineType],
      capacityLeft: options.capacity?.[machineType],
      lastCapacityFailureAt: undefined,
    });
  }
  return array;
}

/** Throws if the options define no such machine type. */
export function requireMachine(machines: ReadonlyMap<string, Machine>, name: string, user: string): Machine {
  const machine = machines.get(name.toLowerCase());
  if (machine !== undefined) return machine;
  const known = [...machines.values()].map((machine) => machine.name).join(", ");
  throw new Error(`${user}: machine type ${name} is not defined; defined are: ${known}`);
}
