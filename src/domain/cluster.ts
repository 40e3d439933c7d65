import type { ArrayName, ClusterName, MachineType, NodeId, PlacementGroup } from "./ids.ts";
import type { Resources, Scalar } from "./resources.ts";
import type { Instant } from "./units.ts";

/** One observation of a cluster: a single `status?nodes=true` answer (cyclecloud-wire.md A.3), read leniently and made uniform. */
export interface Snapshot {
  readonly cluster: ClusterName;
  readonly at: Instant;
  /** Absent until the cluster was started once. */
  readonly state?: string;
  readonly targetState?: string;
  readonly limit: CountAndCores;
  readonly arrays: readonly NodeArray[];
  /** Once believed, those too that the look lacks and that are not yet taken for gone: they have `missing`. */
  readonly nodes: readonly Node[];
  /** Nodes that a bucket names in `activeNodes` and the list lacks: the two halves are not of one moment. Absent: none. */
  readonly unlisted?: readonly Unlisted[];
}

/** A node that only its bucket names. */
export interface Unlisted {
  readonly array: ArrayName;
  readonly machineType: MachineType;
  readonly name: string;
  /** The first status of an unbroken line that named it only there. */
  readonly since: Instant;
}

/** A ceiling in nodes and in cores (vCPUs); absent: CycleCloud named none. */
export interface CountAndCores {
  readonly count?: number;
  readonly cores?: number;
}

export interface NodeArray {
  readonly name: ArrayName;
  readonly limit: CountAndCores;
  readonly region?: string;
  readonly spot: boolean;
  /** False: `Configuration.autoscale.enabled` is false, so the array is not ours. */
  readonly autoscaled: boolean;
  /** `Configuration.autoscale.is_hpc` is false: no placement group is made here for jobs (scalelib.md 8). */
  readonly notHpc?: true;
  /** The array's own PlacementGroupId: then it has exactly that group. */
  readonly placementGroup?: PlacementGroup;
  /** CycleCloud's `Priority`, default 1; higher is preferred. */
  readonly priority: number;
  /** `Configuration.autoscale.resources`: more resources of each node. */
  readonly resources: Resources;
  /** The array's own Memory, instead of the VM size's. */
  readonly memoryGib?: number;
  /** Members of Configuration that are values, not objects. Once a look is made: only those that default resources of the configuration in force name. */
  readonly configuration?: Readonly<Record<string, Scalar>>;
  readonly buckets: readonly Bucket[];
  /** The look lacks the array, and it is not yet taken for gone; absent: the look shows it. */
  readonly missing?: { readonly since: Instant };
}

/** One machine type of an array, with the limits that the status gives for it. */
export interface Bucket {
  readonly bucketId: string;
  readonly machineType: MachineType;
  /** False: existing nodes only, nothing new. */
  readonly valid: boolean;
  readonly invalidReason?: string;
  /** How many more nodes can be created now, as CycleCloud sees it: one more limit, never the only one (A.3, semantics 1). */
  readonly availableCount: number;
  readonly activeCount: number;
  readonly maxCount?: number;
  readonly maxCoreCount?: number;
  /** Cores, by family; absent for spot (0/0 there means nothing, A.3 semantics 2). */
  readonly familyQuota?: Quota;
  /** Cores, by region; for spot arrays the region's spot quota. */
  readonly regionalQuota?: Quota;
  readonly maxPlacementGroupSize?: number;
  readonly placementGroups: readonly { readonly name: PlacementGroup; readonly activeCount: number }[];
  /** Seconds since the last capacity failure; absent: never. */
  readonly lastCapacityFailureSeconds?: number;
  readonly machine: Machine;
}

export interface Quota {
  readonly quotaCores: number;
  readonly consumedCores: number;
}

export interface Machine {
  readonly vcpus: number;
  /** What one VM costs in quota; more than `vcpus` for constrained sizes (A.3 semantics 6). */
  readonly quotaVcpus: number;
  readonly gpus: number;
  readonly memoryGib: number;
  readonly infiniband: boolean;
}

/** A node in the list of a request's nodes: what tells the sets of one request apart. */
export type RequestedNode = Pick<Node, "nodeId" | "name" | "array" | "machineType" | "placementGroup">;

/**
 * Where a node is on its way (cyclecloud-wire.md A.5).
 * `coming`: wanted, not up yet, whatever its Status is called; the boot timeout decides. `ready`: up, and it has an address.
 * `failed`: Failed or Unavailable while wanted. `going`: TargetState is not Started and it is not gone yet. `off`: no VM.
 * `deallocated`: kept, restartable. `unknown`: unclear, as it has no TargetState and no Status that settles whether it is wanted.
 */
export type NodePhase = "coming" | "ready" | "failed" | "going" | "off" | "deallocated" | "unknown";

/** Since when looks lack a node. */
export interface Missing {
  readonly since: Instant;
  /** Its bucket still names it. */
  readonly named?: true;
}

export interface Node {
  readonly nodeId: NodeId;
  /** Unique now, reused later: for people, never a key. */
  readonly name: string;
  readonly array: ArrayName;
  readonly machineType: MachineType;
  readonly phase: NodePhase;
  /** CycleCloud's Status and StatusMessage, for people. */
  readonly status: string;
  readonly statusMessage?: string;
  /** It is wanted, and its Status is none that CycleCloud documents for a node on its way up: Off, or a word that we do not know. */
  readonly unexpectedStatus?: true;
  /** Its record does not say what is wanted. */
  readonly noTargetState?: true;
  /** The look lacks it: this is its last record. */
  readonly missing?: Missing;
  readonly vcpus?: number;
  readonly memoryGib?: number;
  readonly hostname?: string;
  readonly privateIp?: string;
  readonly instanceId?: string;
  readonly placementGroup?: PlacementGroup;
  /** Absent: its record does not say, so it is what its array is. */
  readonly spot?: boolean;
  readonly keepAlive: boolean;
  /** Its Configuration switches autostop off: it is not stopped for being idle, though it may still ask. */
  readonly stopDisabled?: true;
  /** The key of our stop URL in its Configuration; absent: there is none that one of our keys has signed for its array. */
  readonly stopKey?: string;
  /** The node's own `Configuration.autoscale.resources`. */
  readonly resources?: Resources;
  readonly configuration?: Readonly<Record<string, Scalar>>;
}

/** The look lacks it, and it was up, on its way up or unclear: it counts as there. Others only take room under the limits. */
export function isLost({ missing, phase }: Node): boolean {
  return missing !== undefined && (phase === "ready" || phase === "coming" || phase === "unknown");
}
