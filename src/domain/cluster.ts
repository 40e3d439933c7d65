import type { ArrayName, ClusterName, MachineType, NodeId, PlacementGroup } from "./ids.ts";
import type { Resources, Scalar } from "./resources.ts";
import type { Instant, Seconds } from "./units.ts";

/** A cluster as one `status?nodes=true` answer showed it (cyclecloud-wire.md A.3), parsed leniently into a uniform shape. */
export interface Snapshot {
  readonly cluster: ClusterName;
  readonly at: Instant;
  /**
   * It began before CycleCloud must have done what it held during a standstill (`provesFrom` of the record). What it lacks, or has not
   * changed, proves nothing. Absent: it proves that.
   */
  readonly early?: true;
  /** Absent until the cluster was started for the first time. */
  readonly state?: string;
  readonly targetState?: string;
  readonly limit: CountAndCores;
  readonly arrays: readonly NodeArray[];
  /** In an accepted observation this includes nodes that it lacks and that do not count as gone yet: they have `missing`. */
  readonly nodes: readonly Node[];
  /** Nodes that a bucket names in `activeNodes` and the node list lacks: the two halves come from different moments. Absent: none. */
  readonly unlisted?: readonly Unlisted[];
}

/** A node that only its bucket names. */
export interface Unlisted {
  readonly array: ArrayName;
  readonly machineType: MachineType;
  readonly name: string;
  /** The first status of the current run that named it only there. */
  readonly since: Instant;
}

/** A limit in nodes and in cores (vCPUs). Absent: CycleCloud gave none. */
export interface CountAndCores {
  readonly count?: number;
  readonly cores?: number;
}

/** A node array in the status. */
export interface NodeArray {
  readonly name: ArrayName;
  readonly limit: CountAndCores;
  readonly region?: string;
  readonly spot: boolean;
  /** False: `Configuration.autoscale.enabled` is false, so the array is not ours. */
  readonly autoscaled: boolean;
  /** `Configuration.autoscale.is_hpc` is false: no placement group is made here for jobs (scalelib.md 8). */
  readonly notHpc?: true;
  /** Its ShutdownPolicy is Deallocate: a node that is idle or down is deallocated and not terminated. */
  readonly deallocates?: true;
  /** Its ShutdownPolicy, where that is a word that we do not know. It counts as Terminate. */
  readonly oddShutdownPolicy?: string;
  /** The array's own PlacementGroupId. The array then has exactly this group. */
  readonly placementGroup?: PlacementGroup;
  /** CycleCloud's `Priority`, default 1. Higher is preferred. */
  readonly priority: number;
  /** `Configuration.autoscale.resources`: more resources of each node. */
  readonly resources: Resources;
  /** The array's own Memory, instead of the VM size's. */
  readonly memoryGib?: number;
  /**
   * Members of Configuration that are plain values. In an observation only those that default resources of the configuration in force name.
   */
  readonly configuration?: Readonly<Record<string, Scalar>>;
  readonly buckets: readonly StatusBucket[];
  /** The observation lacks the array, which does not count as gone yet. Absent: the observation shows it. */
  readonly missing?: Omit<Missing, "named">;
}

/** The node arrays whose nodes are deallocated and not terminated. */
export function deallocatingArrays({ arrays }: Pick<Snapshot, "arrays">): ReadonlySet<ArrayName> {
  return new Set(arrays.flatMap(({ name, deallocates }) => (deallocates === true ? [name] : [])));
}

/** One machine type of an array, with the limits in the status. */
export interface StatusBucket {
  readonly bucketId: string;
  readonly machineType: MachineType;
  /** False: no new nodes, only existing ones. */
  readonly valid: boolean;
  readonly invalidReason?: string;
  /** Number of nodes that can be created now, according to CycleCloud: one more limit, never the only one (A.3, semantics 1). */
  readonly availableCount: number;
  readonly activeCount: number;
  readonly maxCount?: number;
  readonly maxCoreCount?: number;
  /** Cores, by family. Absent for spot, where 0/0 has no meaning (A.3 semantics 2). */
  readonly familyQuota?: Quota;
  /** Cores, by region. For spot arrays the region's spot quota. */
  readonly regionalQuota?: Quota;
  readonly maxPlacementGroupSize?: number;
  readonly placementGroups: readonly { readonly name: PlacementGroup; readonly activeCount: number }[];
  /** Seconds since the last capacity failure. Absent: never. */
  readonly lastCapacityFailureSeconds?: Seconds;
  readonly machine: Machine;
  /** Counts of nodes and of cores that contradict each other, in words. The counts of nodes are used. Absent: none. */
  readonly contradictions?: readonly string[];
}

/** A quota of Azure, and how much of it is used. */
export interface Quota {
  readonly quotaCores: number;
  readonly consumedCores: number;
}

/** The machine of a VM size. */
export interface Machine {
  readonly vcpus: number;
  /** The quota that one VM uses. More than `vcpus` for constrained sizes (A.3 semantics 6). */
  readonly quotaVcpus: number;
  readonly gpus: number;
  readonly memoryGib: number;
  readonly infiniband: boolean;
}

/** A node in the list of a request's nodes: the properties that distinguish the sets of one request. */
export type RequestedNode = Pick<Node, "nodeId" | "name" | "array" | "machineType" | "placementGroup">;

/**
 * The state of a node between request and removal (cyclecloud-wire.md A.5).
 * - `coming`: wanted and not up yet, with any Status. It has until its boot timeout.
 * - `ready`: up, with an address.
 * - `failed`: Failed or Unavailable while wanted.
 * - `going`: TargetState is not Started, and the node is not gone yet.
 * - `off`: no VM.
 * - `deallocated`: kept, can be restarted.
 * - `unknown`: no TargetState that we know, and no Status that shows whether it is wanted.
 */
export type NodePhase = "coming" | "ready" | "failed" | "going" | "off" | "deallocated" | "unknown";

/** Since when observations lack a node array or a node. */
export interface Missing {
  readonly since: Instant;
  /** How many of them, early ones not counted. */
  readonly observations: number;
  /** Its bucket still names it. */
  readonly named?: true;
}

/** A node in the status. */
export interface Node {
  readonly nodeId: NodeId;
  /** Unique now and reused later. For users, never a key. */
  readonly name: string;
  readonly array: ArrayName;
  readonly machineType: MachineType;
  readonly phase: NodePhase;
  /** CycleCloud's Status and StatusMessage, for users. */
  readonly status: string;
  readonly statusMessage?: string;
  /** The node is wanted, but CycleCloud does not document its Status for a node on its way up: Off, or an unknown word. */
  readonly unexpectedStatus?: true;
  /** Its record has no TargetState, or one that we do not know. */
  readonly noTargetState?: true;
  /** The observation lacks the node. This is its last record. */
  readonly missing?: Missing;
  readonly vcpus?: number;
  readonly memoryGib?: number;
  readonly hostname?: string;
  readonly privateIp?: string;
  readonly instanceId?: string;
  readonly placementGroup?: PlacementGroup;
  /** Absent: its record does not say, so its array decides. */
  readonly spot?: boolean;
  readonly keepAlive: boolean;
  /** Its Configuration switches autostop off. It is not stopped for being idle, but it may still ask to stop. */
  readonly stopDisabled?: true;
  /** The key of our stop URL in its Configuration. Absent: it has no URL that one of our keys has signed for its array. */
  readonly stopKey?: string;
  /** The node's own `Configuration.autoscale.resources`. */
  readonly resources?: Resources;
  readonly configuration?: Readonly<Record<string, Scalar>>;
}

/** The observation lacks a node that was up, on its way up or unclear: it counts as present. Other missing nodes only use up limits. */
export function isLost({ missing, phase }: Node): boolean {
  return missing !== undefined && (phase === "ready" || phase === "coming" || phase === "unknown");
}
