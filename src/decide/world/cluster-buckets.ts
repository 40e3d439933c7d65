import type { Catalogue, VmSize } from "../../domain/catalogue.ts";
import { describeVmSize, findVmSize } from "../../domain/catalogue.ts";
import type { Machine, Node, NodeArray } from "../../domain/cluster.ts";
import type { DefaultResource } from "../../domain/default-resource.ts";
import type { ArrayName, MachineType, PlacementGroup } from "../../domain/ids.ts";
import type { Resources, Scalar } from "../../domain/resources.ts";
import type { Defaults, StepsLeft } from "../constraints/default-resources.ts";
import { applyDefaults, compileDefaults } from "../constraints/default-resources.ts";
import type { NodeView, NodeProperties } from "../../domain/node-view.ts";
import { readSizeName } from "./quota-family.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { Seconds } from "../../domain/units.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/**
 * A bucket of a cluster with the resources of its nodes and their number. `machine` is absent if no array offers the VM size any more, or if
 * CycleCloud does not describe it.
 */
export interface ClusterBucket extends ViewedBucket {
  /** A new node here, including default resources. */
  readonly view: NodeView;
  /** vCPUs of a node here. */
  readonly cores: number;
  /** Number of nodes that the status shows and that count against limits. */
  nodes: number;
  nodeCores: number;
  /** Number of nodes that were requested and that no status shows yet. */
  waiting: number;
  /** Those of `waiting` that are spot in an array that is not, or the reverse. */
  waitingOpposite: number;
}

/** The rules for resources of nodes that do not come from the cluster. */
export interface ResourceRules {
  /** The configuration's default resources. */
  readonly configured: readonly DefaultResource[];
  readonly own: readonly DefaultResource[];
  readonly catalogue: Catalogue;
  /** The steps that computing the configured ones may cost. Absent: any number. */
  readonly steps?: number;
}

/** The buckets of a cluster. A bucket is the same for all spellings of its VM size. */
export class ClusterBuckets {
  readonly #arrays: ReadonlyMap<ArrayName, NodeArray>;
  readonly #catalogue: Catalogue;
  readonly #defaults: Defaults;
  readonly #steps: number;
  readonly #left: StepsLeft;
  readonly #machines = new Map<string, Machine>();
  /** By the size as it was spelled, because most lookups repeat. */
  readonly #spelled = new Map<ArrayName, Map<MachineType, Map<PlacementGroup | undefined, ClusterBucket>>>();
  readonly #buckets = new Map<string, ClusterBucket>();
  /** Shared resources of equal nodes, by bucket and memory. */
  readonly #shared = new Map<ClusterBucket, Map<string, Resources>>();
  readonly #opposites = new Map<ClusterBucket, NodeView>();

  /** `arrays`: those of the cluster, and dynamic node arrays as arrays of their own. */
  constructor(arrays: readonly NodeArray[], rules: ResourceRules) {
    this.#catalogue = rules.catalogue;
    this.#defaults = compileDefaults(rules.configured, rules.own);
    this.#steps = rules.steps ?? Number.MAX_SAFE_INTEGER;
    this.#left = { left: this.#steps };
    this.#arrays = new Map(arrays.map((array) => [array.name, array]));
    for (const array of arrays) {
      for (const bucket of array.buckets) {
        const size = bucket.machineType.toLowerCase();
        if (isDescribed(bucket.machine) && !this.#machines.has(size))
          this.#machines.set(size, bucket.machine);
      }
    }
  }

  /** What default resources have cost so far, in steps. */
  get spent(): number {
    return this.#steps - this.#left.left;
  }

  /** The steps did not suffice, so nodes may lack resources. */
  get isSpent(): boolean {
    return this.#left.left < 0;
  }

  /** All buckets that were looked up so far. */
  all(): Iterable<ClusterBucket> {
    return this.#buckets.values();
  }

  /** A bucket. It is made by the first lookup. */
  at(array: ArrayName, machineType: MachineType, group: PlacementGroup | undefined): ClusterBucket {
    const sizes =
      this.#spelled.get(array) ?? new Map<MachineType, Map<PlacementGroup | undefined, ClusterBucket>>();
    this.#spelled.set(array, sizes);
    const groups = sizes.get(machineType) ?? new Map<PlacementGroup | undefined, ClusterBucket>();
    sizes.set(machineType, groups);
    const known = groups.get(group);
    if (known !== undefined) return known;
    const clusterBucket = this.#open(array, machineType, group);
    groups.set(group, clusterBucket);
    return clusterBucket;
  }

  /** An existing node, including default resources. `withNodeId` adds its id. */
  view(node: Node, clusterBucket: ClusterBucket, times?: () => NodeTimes): NodeView {
    const view = viewNode(node, clusterBucket, this.#catalogue, times?.());
    return { ...view, available: this.#resourcesOf(node, () => view, clusterBucket) };
  }

  /** The resources of an existing node. Most allocations need nothing else of it. */
  resources(node: Node, clusterBucket: ClusterBucket, times?: () => NodeTimes): Resources {
    const view = () => viewNode(node, clusterBucket, this.#catalogue, times?.());
    return this.#resourcesOf(node, view, clusterBucket);
  }

  /** A new node of a bucket that is spot or not, whatever its array is. */
  viewAs(clusterBucket: ClusterBucket, { spot }: { readonly spot: boolean }): NodeView {
    const { array } = clusterBucket;
    if (array === undefined || array.spot === spot) return clusterBucket.view;
    const known = this.#opposites.get(clusterBucket);
    if (known !== undefined) return known;
    const plain = viewBucket({ ...clusterBucket, array: { ...array, spot } }, this.#catalogue);
    const view = { ...plain, available: this.#withDefaults(plain) };
    this.#opposites.set(clusterBucket, view);
    return view;
  }

  /** Nodes of a bucket without own attributes have equal resources. They are computed once and share one object. */
  #resourcesOf(node: Node, view: () => NodeView, clusterBucket: ClusterBucket): Resources {
    const alike = this.#defaults.perBucket && node.resources === undefined;
    if (!alike) return this.#withDefaults(view());
    const shared = this.#shared.get(clusterBucket) ?? new Map<string, Resources>();
    this.#shared.set(clusterBucket, shared);
    const vcpus = clusterBucket.machine === undefined ? node.vcpus : undefined;
    const key = `${node.memoryGib} ${node.spot} ${vcpus}`;
    const resources = shared.get(key) ?? this.#withDefaults({ ...view(), nodeId: null });
    shared.set(key, resources);
    return resources;
  }

  #withDefaults(view: NodeView): Resources {
    return applyDefaults(this.#defaults, view, this.#left).resources;
  }

  #open(array: ArrayName, machineType: MachineType, group: PlacementGroup | undefined): ClusterBucket {
    const size = machineType.toLowerCase();
    const key = [array, size, group].join("\n");
    const known = this.#buckets.get(key);
    if (known !== undefined) return known;
    const nodeArray = this.#arrays.get(array);
    const bucket = nodeArray?.buckets.find((one) => one.machineType.toLowerCase() === size);
    const machine = isDescribed(bucket?.machine) ? bucket.machine : this.#machines.get(size);
    const here = {
      bucket: {
        array,
        machineType: bucket?.machineType ?? machineType,
        ...withoutAbsent({ placementGroup: group }),
      },
      array: nodeArray,
      machine,
      ...withoutAbsent({
        bucketId: bucket?.bucketId,
        capacityFailureSeconds: bucket?.lastCapacityFailureSeconds,
      }),
    };
    const view = viewBucket(here, this.#catalogue);
    const clusterBucket: ClusterBucket = {
      ...here,
      view: { ...view, available: this.#withDefaults(view) },
      cores: machine?.vcpus ?? coresOfSize(this.#catalogue, nodeArray?.region, machineType),
      nodes: 0,
      nodeCores: 0,
      waiting: 0,
      waitingOpposite: 0,
    };
    this.#buckets.set(key, clusterBucket);
    return clusterBucket;
  }
}

/** vCPUs of an existing node: those of its bucket, else those of its own record, else those of its VM size. */
export function coresOf(node: Node, clusterBucket: ClusterBucket): number {
  if (clusterBucket.machine !== undefined) return clusterBucket.machine.vcpus;
  return node.vcpus !== undefined && node.vcpus > 0 ? node.vcpus : clusterBucket.cores;
}

/** CycleCloud shows a bucket that it does not describe with 0 vCPUs. */
function isDescribed(machine: Machine | undefined): machine is Machine {
  return machine !== undefined && machine.vcpus > 0;
}

/** A node has at least one core. */
const LEAST_CORES = 1;

/**
 * vCPUs of a VM size that CycleCloud does not describe: those of the size table, else the number in its name (the names of all sizes that are
 * newer than the table contain it), else one, so that the node counts. If that is too few, CycleCloud adds fewer nodes than requested.
 */
function coresOfSize(catalogue: Catalogue, location: string | undefined, size: MachineType): number {
  return describeVmSize(catalogue, location, size).vcpus ?? readSizeName(size)?.vcpus ?? LEAST_CORES;
}

/** The part of a bucket that views need. Array and machine are absent if the cluster no longer offers them. */
interface ViewedBucket {
  readonly bucket: BucketKey;
  readonly array: NodeArray | undefined;
  readonly machine: Machine | undefined;
  /** CycleCloud's id of the bucket. */
  readonly bucketId?: string;
  readonly capacityFailureSeconds?: Seconds;
}

const NO_CONFIGURATION: Readonly<Record<string, Scalar>> = {};
const NO_JOBS: ReadonlySet<string> = new Set<string>();

/** The version that scalelib reports. */
const LIBRARY_VERSION = "7.9";

/** A new node of a bucket (scalelib.md 3 and 5), before default resources. */
function viewBucket(clusterBucket: ViewedBucket, catalogue: Catalogue): NodeView {
  const { array } = clusterBucket;
  const machine = describeMachine(clusterBucket, catalogue);
  const properties: NodeProperties = {
    ...commonProperties(clusterBucket, machine),
    name: `${clusterBucket.bucket.array}-0`,
    hostname: null,
    fqdn: null,
    hostname_or_uuid: null,
    private_ip: null,
    instance_id: null,
    spot: array?.spot ?? false,
    memory: { amount: array?.memoryGib ?? machine.memoryGib, unit: "g" },
    state: "Off",
    exists: false,
    keep_alive: false,
    ...NO_TIMES,
  };
  const view: NodeView = {
    properties,
    available: array?.resources ?? {},
    nodeId: null,
    configuration: array?.configuration ?? NO_CONFIGURATION,
    jobs: NO_JOBS,
  };
  const { capacityFailureSeconds } = clusterBucket;
  return capacityFailureSeconds === undefined ? view : { ...view, capacityFailureSeconds };
}

/**
 * An existing node, before default resources. It is described by its bucket, like a new one. If the two differed, the nodes of each plan could
 * be too small for the next one, which would create more (scalelib defects 29 and 30). The node's own record can only add to that.
 */
function viewNode(node: Node, clusterBucket: ViewedBucket, catalogue: Catalogue, times = NO_TIMES): NodeView {
  const machine = describeMachine(clusterBucket, catalogue, node);
  const hostname = node.hostname?.split(".")[0] ?? null;
  const properties: NodeProperties = {
    ...commonProperties(clusterBucket, machine),
    name: node.name,
    hostname,
    fqdn: node.hostname ?? null,
    hostname_or_uuid: hostname ?? node.nodeId,
    private_ip: node.privateIp ?? null,
    instance_id: node.instanceId ?? null,
    spot: node.spot ?? clusterBucket.array?.spot ?? false,
    memory: { amount: Math.max(node.memoryGib ?? 0, machine.memoryGib), unit: "g" },
    state: node.status,
    exists: node.phase === "ready" || node.phase === "coming" || node.phase === "failed",
    keep_alive: node.keepAlive,
    ...times,
  };
  return {
    properties,
    available: withOwn(clusterBucket.array?.resources, node.resources),
    nodeId: node.nodeId,
    configuration: node.configuration ?? clusterBucket.array?.configuration ?? NO_CONFIGURATION,
    jobs: NO_JOBS,
  };
}

function withOwn(ofArray: Resources = {}, own: Resources | undefined): Resources {
  return own === undefined ? ofArray : { ...ofArray, ...own };
}

type OfOneNode =
  | "name"
  | "hostname"
  | "fqdn"
  | "hostname_or_uuid"
  | "private_ip"
  | "instance_id"
  | "spot"
  | "memory"
  | "state"
  | "exists"
  | "keep_alive"
  | keyof NodeTimes;

/** The properties that the ledger has, and no status. Null: not known, or not so. */
export type NodeTimes = Pick<
  NodeProperties,
  | "create_time"
  | "create_time_unix"
  | "create_time_remaining"
  | "last_match_time"
  | "last_match_time_unix"
  | "delete_time"
  | "delete_time_unix"
>;

/** Those of a node that does not exist. */
export const NO_TIMES: NodeTimes = {
  create_time: null,
  create_time_unix: null,
  create_time_remaining: null,
  last_match_time: null,
  last_match_time_unix: null,
  delete_time: null,
  delete_time_unix: null,
};

/** The properties that all nodes of a bucket have. */
function commonProperties(clusterBucket: ViewedBucket, machine: Described): Omit<NodeProperties, OfOneNode> {
  const group = clusterBucket.bucket.placementGroup ?? null;
  return {
    nodearray: clusterBucket.bucket.array,
    bucket_id: clusterBucket.bucketId ?? null,
    vm_size: clusterBucket.bucket.machineType,
    vm_family: machine.family,
    location: clusterBucket.array?.region ?? null,
    vcpu_count: machine.vcpus,
    pcpu_count: machine.pcpus,
    gpu_count: machine.gpus,
    infiniband: machine.infiniband,
    colocated: group !== null,
    placement_group: group,
    cores_per_socket: machine.vcpusPerCore,
    version: LIBRARY_VERSION,
  };
}

interface Described {
  readonly family: string;
  readonly vcpus: number;
  readonly pcpus: number;
  readonly gpus: number;
  readonly memoryGib: number;
  readonly infiniband: boolean;
  /** Null: not known. */
  readonly vcpusPerCore: number | null;
}

/** The machine by CycleCloud and the catalogue. The larger number of GPUs counts, except if the user's own table has one. */
function describeMachine(clusterBucket: ViewedBucket, catalogue: Catalogue, node?: Node): Described {
  const { array, bucket } = clusterBucket;
  const found = findVmSize(catalogue, array?.region, bucket.machineType);
  const own = found.authority === "override" ? found.size : {};
  const size = describeVmSize(catalogue, array?.region, bucket.machineType);
  const reported = clusterBucket.machine;
  const vcpus = own.vcpus ?? reported?.vcpus ?? node?.vcpus ?? size.vcpus ?? 0;
  return {
    family: size.family ?? "unknown",
    vcpus,
    pcpus: physicalCores(size, vcpus),
    gpus: own.gpus ?? Math.max(reported?.gpus ?? 0, size.gpus ?? 0),
    memoryGib: own.memoryGib ?? reported?.memoryGib ?? node?.memoryGib ?? size.memoryGib ?? 0,
    infiniband: own.infiniband ?? ((reported?.infiniband ?? false) || (size.infiniband ?? false)),
    vcpusPerCore: size.vcpusPerCore ?? null,
  };
}

function physicalCores(size: VmSize, vcpus: number): number {
  if (size.vcpus === undefined) return vcpus;
  const perCore = size.vcpusPerCore ?? 1;
  return perCore > 0 ? Math.floor(size.vcpus / perCore) : size.vcpus;
}
