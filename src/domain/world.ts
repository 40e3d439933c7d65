import type { NodeAttributes, Pool } from "./demand.ts";
import type { ArrayName, Digest, NodeId, PlacementGroup, SetName } from "./ids.ts";
import type { LimitId } from "./limit.ts";
import type { NodeProperties } from "./node-view.ts";
import type { DemandOutcome, PlanLoads } from "./plan.ts";
import type { Reason } from "./reason.ts";
import type { BucketKey, Purpose } from "./bucket.ts";
import type { GroupFill } from "./record.ts";
import type { Resources } from "./resources.ts";
import type { Seconds } from "./units.ts";

/** The allocator's only view of the cluster: all capacity that it may use, and all limits. */
export interface World {
  /** Nodes that exist and count as capacity, and hosts that only a scheduler reports. */
  readonly nodes: readonly SupplyNode[];
  /**
   * The configuration names placement groups of some array. Then no other groups are generated in any array (`bucket-order` only;
   * scalelib.md 8).
   */
  readonly namesGroups?: true;
  /** Accepted creates that no observation has shown yet. Without an `order`: in the order in which they were requested. */
  readonly inFlight: readonly InFlightSupply[];
  /** Where new nodes can be made, preferred first. Empty: no new node may be planned. */
  readonly buckets: readonly BucketOffer[];
  /** The limits. Each is shared by all buckets that name it by index. */
  readonly limits: readonly SharedLimit[];
  /** All arrays of the cluster, and which of them are managed. A dynamic array is like the array that it extends. */
  readonly arrays: ReadonlyMap<ArrayName, "managed" | "not-managed">;
  /** Dynamic node arrays that get no new nodes, with the reason. Absent: none. */
  readonly refusedArrays?: ReadonlyMap<ArrayName, Reason>;
  /** Placement groups whose nodes differ from their array's template, by {@link scaleSetKey}. Absent: none. */
  readonly scaleSets?: ReadonlyMap<string, ScaleSet>;
  /** Licences and quotas that jobs share. Absent: none. */
  readonly pools?: readonly Pool[];
  /** Names for which no node is made now, and why. Absent: none. */
  readonly blockedNames?: ReadonlyMap<string, Reason>;
  /** Our own limits on one request set or one user. Absent: none. */
  readonly caps?: readonly Cap[];
  /** For buckets that a target changes with its attributes from spot to regular nodes, or the reverse: the changed bucket. */
  readonly counterparts?: ReadonlyMap<BucketOffer, BucketOffer>;
  /** Present if no new node is possible at all, whatever the limits allow. */
  readonly closed?: Reason;
  /** Groups that earlier plans found lacking nodes. Absent: none. */
  readonly groupFills?: readonly GroupFill[];
  /** Names of groups that existed recently. New groups do not reuse them. Absent: none. */
  readonly formerGroups?: ReadonlySet<string>;
  /**
   * Where the last plan placed jobs. They stay there unless another place is better. A function, because most plans do not need it. Absent
   * or undefined: unknown.
   */
  readonly last?: () => LastPlan | undefined;
  /** The steps of the plan that it has cost to make this world: default resources, rules of senders. Absent: none. */
  readonly steps?: number;
  /** Absent: no set rests. */
  readonly resting?: Resting;
  /** The default resources cost more than they may, so nodes may lack resources, and nothing can be planned. */
  readonly isTooDear?: true;
}

/** Demand was too dear a moment ago (docs/protocol.md, The budget of a plan). */
export interface Resting {
  /** Whether little is spent on a set. */
  rests(set: SetName): boolean;
  /** Whether all sets of its sender rest. Few of its jobs are read. */
  restsWhole(set: SetName): boolean;
  /** Whether a set may draw on the pot: with rules those of other senders, without rules none. */
  mayDraw(set: SetName): boolean;
}

/** The stored part of a plan: its placements, its demands, and the nodes that it observed. */
export interface LastPlan {
  readonly demands: readonly (Pick<DemandOutcome, "set" | "id" | "placed"> &
    Partial<Pick<DemandOutcome, "pending">>)[];
  readonly nodes: ReadonlySet<NodeId>;
  readonly loads: PlanLoads;
}

/** The common properties of the nodes of one placement group. */
export interface ScaleSet {
  /** The dynamic node array that they were created for. */
  readonly dynamic?: ArrayName;
  /** Digest of the attributes that they were created with. */
  readonly attributesDigest?: Digest;
}

export interface SupplyNode {
  readonly nodeId: NodeId;
  /** Absent: a host that only a scheduler reports. */
  readonly name?: string;
  readonly hostname?: string;
  readonly bucket: BucketKey;
  readonly purpose: Purpose;
  readonly resources: Resources;
  /**
   * The resources that its scheduler reports as free. Tasks that are bound to the node take nothing more of these. Absent: none is
   * reported.
   */
  readonly left?: Resources;
  /** Its scheduler reports work on it. */
  readonly occupied?: true;
  /** A host that only a scheduler reports: usable by the jobs of these request sets, and no node of ours. Absent: a node of the cluster. */
  readonly onlyFor?: readonly SetName[];
  /** The properties that constraints can test, made on first use. Absent: only those of its bucket. */
  readonly properties?: () => NodeProperties;
  /** Its vCPUs, whatever `resources` calls a core. Targets in cores count these. */
  readonly cores: number;
  /** Lower is used first: busy nodes, then free nodes, then nodes that want to stop, then nodes that are still coming. */
  readonly order: number;
  /** True if the node is up, false if it is still coming. */
  readonly ready: boolean;
  /**
   * Deallocated: it keeps its disks and has no VM. Once started it is a node like others. Starting it counts against the limits as a new
   * node does.
   */
  readonly deallocated?: true;
  /**
   * The node was deallocated, its start was requested, and it is not up yet. Its `order` is the time of that request, which ranks it among
   * the nodes in flight.
   */
  readonly starting?: true;
  /** What starting it takes from which limits. Absent: the same as a new node of its bucket. */
  readonly charges?: BucketOffer["charges"];
}

export interface InFlightSupply {
  readonly bucket: BucketKey;
  readonly purpose: Purpose;
  readonly resources: Resources;
  readonly properties?: () => NodeProperties;
  /** vCPUs of each. */
  readonly cores: number;
  readonly count: number;
  /** When it was requested, to rank it among starting nodes. Absent: before all of them. */
  readonly order?: number;
}

export interface BucketOffer {
  /** Without a placement group: one offer per array and VM size. */
  readonly bucket: BucketKey;
  /** The resources of one new node. */
  readonly resources: Resources;
  readonly properties?: () => NodeProperties;
  /** Seconds since the bucket last lacked capacity. Absent: it never did. */
  readonly capacityFailureSeconds?: Seconds;
  /** vCPUs of one new node. */
  readonly cores: number;
  /** Price of one node per hour, in the currency of the price table. Absent: unknown. */
  readonly price?: number;
  /** New nodes may be evicted at any time. */
  readonly spot?: true;
  /** Only targets that name their nodes create any here. */
  readonly onlyNamed?: true;
  /** The amounts that one new node takes from limits (indices into `limits`). */
  readonly charges: readonly Charge[];
  /** Present: no new node here, with the reason (invalid, backing off). */
  readonly refusal?: Reason;
  /** Maximum number of nodes in one placement group. Absent: this bucket has no placement groups. */
  readonly maxPlacementGroupSize?: number;
  /** The array is not for HPC: no placement group is made here for jobs, but groups with a given name are used. */
  readonly notHpc?: true;
  /** Groups that the configuration names for this bucket, in its order. They need not exist yet. */
  readonly configuredGroups?: readonly PlacementGroup[];
  /** The array's only group, if it is pinned to one. */
  readonly pinnedGroup?: PlacementGroup;
  /** Resources and properties of a new node in this placement group. Absent: the same as without a group. */
  readonly inGroup?: (group: PlacementGroup) => Pick<BucketOffer, "resources" | "properties">;
  /** Names of groups that may be made here, used after all other buckets (`bucket-order` only). Absent: two fresh names. */
  readonly generatedGroups?: readonly PlacementGroup[];
  /**
   * Present if the bucket belongs to a dynamic node array: the bucket in which its nodes are created, under the same limits. Only demand
   * that names the dynamic array makes new nodes here.
   */
  readonly parent?: BucketOffer;
  /** Present if a target's attributes change the bucket from spot to regular nodes or the reverse: the bucket of the array itself. */
  readonly counterpartOf?: BucketOffer;
  /** Attributes of new nodes, before those of the demand itself. Absent: none. */
  readonly attributes?: NodeAttributes;
  /** Hosts that only a scheduler reports, for the jobs of these request sets. No new node is possible here. `bucket-order` only. */
  readonly onlyFor?: readonly SetName[];
  /** Nodes per group in use, including nodes that are being stopped. */
  readonly groupSizes: ReadonlyMap<PlacementGroup, number>;
  /**
   * Groups that are backing off, with the reason. While there is one, no group with a fresh name is made here: that would evade the pause.
   */
  readonly groupRefusals?: ReadonlyMap<PlacementGroup, Reason>;
}

/** The amount that one new node takes from a limit (an index into `limits`), in the limit's unit. */
export interface Charge {
  readonly limit: number;
  readonly amount: number;
  /** The family whose quota it counts against is guessed from the name of the VM size. */
  readonly guessed?: true;
}

export interface SharedLimit {
  readonly id: LimitId;
  readonly used: number;
  readonly max: number;
  /** Never below zero. May be less than `max - used` if CycleCloud reports less. */
  readonly left: number;
  /** A bucket without a maximum of its own: `max` is what CycleCloud offers now. */
  readonly isOffered?: true;
}

/** The maximum for one request set or user. It counts nodes that their demands need, existing or new. */
export interface Cap {
  readonly kind: "request-set" | "user";
  readonly name: string;
  /** Request sets that share the cap; `name` lists them. Absent: it is the cap of the one set `name`. */
  readonly sets?: readonly SetName[];
  readonly unit: "nodes" | "cores";
  readonly max: number;
}
