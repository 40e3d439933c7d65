import type { NodeAttributes, Pool, RankedDemand } from "./demand.ts";
import type { ArrayName, Digest, NodeId, PlacementGroup, SetName } from "./ids.ts";
import type { NodeProperties } from "./node-view.ts";
import type { DemandOutcome, GroupedArray, PlanLoads } from "./plan.ts";
import type { LimitId, Reason } from "./reason.ts";
import type { BucketKey, Purpose } from "./bucket.ts";
import type { CreateSet, GroupFill } from "./record.ts";
import type { Refusal } from "./refusal.ts";
import type { Resources } from "./resources.ts";

/** Everything that the allocator may use, and every ceiling: its only view of the cluster. */
export interface World {
  /** Nodes that exist and count as capacity, and hosts that only a scheduler knows. */
  readonly nodes: readonly SupplyNode[];
  /** The configuration names placement groups of some array: then no others are generated anywhere (`bucket-order` only; scalelib.md 8). */
  readonly namesGroups?: true;
  /** Accepted creates that no look has shown yet; without an `order`, in the order in which they were asked for. */
  readonly inFlight: readonly InFlightSupply[];
  /** Where new nodes can be made, preferred first. Empty: nothing new may be planned. */
  readonly buckets: readonly BucketOffer[];
  /** The ceilings, each shared by every bucket that names it by index. */
  readonly limits: readonly SharedLimit[];
  /** All arrays of the cluster, and which of them are ours; dynamic ones as those that they extend. */
  readonly arrays: ReadonlyMap<ArrayName, "managed" | "not-managed">;
  /** Dynamic node arrays that get no new nodes, and why; absent: none. */
  readonly refusedArrays?: ReadonlyMap<ArrayName, Reason>;
  /** Placement groups whose nodes are not as their array's template has them, by {@link scaleSetKey}; absent: none. */
  readonly scaleSets?: ReadonlyMap<string, ScaleSet>;
  /** Licences and quotas that jobs share; absent: none. */
  readonly pools?: readonly Pool[];
  /** Our own ceilings on what one request set or one user may hold; absent: none. */
  readonly caps?: readonly Cap[];
  /** Buckets that a target asks for with attributes that make spot nodes where the array does not, or the reverse, as they are then. */
  readonly counterparts?: ReadonlyMap<BucketOffer, BucketOffer>;
  /** Present: nothing new can be had at all, whatever the limits say. */
  readonly closed?: Reason;
  /** Groups that earlier plans found lacking; absent: none. */
  readonly groupFills?: readonly GroupFill[];
  /** Names of groups that existed not long ago: no new one gets them. Absent: none. */
  readonly formerGroups?: ReadonlySet<string>;
  /** Where the last plan had jobs: they stay there, if nothing else is better. Most plans need not ask. Absent, or no answer: not known. */
  readonly last?: () => LastPlan | undefined;
}

/** What is left of a plan: what it put where, of which demands, and the nodes that it had seen. */
export interface LastPlan {
  readonly demands: readonly (Pick<DemandOutcome, "set" | "id" | "placed"> &
    Partial<Pick<DemandOutcome, "pending">>)[];
  readonly nodes: ReadonlySet<NodeId>;
  readonly loads: PlanLoads;
}

/** What the nodes of one placement group have in common. */
export interface ScaleSet {
  /** The dynamic node array that they were created for. */
  readonly dynamic?: ArrayName;
  /** Digest of the attributes that they were created with. */
  readonly look?: Digest;
}

export interface SupplyNode {
  readonly nodeId: NodeId;
  readonly hostname?: string;
  readonly bucket: BucketKey;
  readonly purpose: Purpose;
  readonly resources: Resources;
  /** What its scheduler says is left of some of its resources. Tasks that are bound to it take nothing more of these. Absent: of none. */
  readonly left?: Resources;
  /** Its scheduler says that something runs there. */
  readonly occupied?: true;
  /** A host that only a scheduler knows: for the jobs of these request sets, and no node of ours. Absent: a node of the cluster. */
  readonly onlyFor?: readonly SetName[];
  /** What constraints may ask of it, made when one does; absent: no more than its bucket says. */
  readonly properties?: () => NodeProperties;
  /** Its vCPUs, whatever `resources` calls a core: what a target in cores counts. */
  readonly cores: number;
  /** Lower is used first: busy nodes before free ones, those before nodes that want to stop, those before nodes still coming. */
  readonly order: number;
  /** Up; false: still coming. */
  readonly ready: boolean;
  /** Deallocated: it keeps its disks and no VM. Once started it is a node like others; starting takes from the limits what a new one would. */
  readonly deallocated?: true;
  /** It was deallocated, has been asked to start and is not up yet: it stands among what is in flight by its `order`, the time of that. */
  readonly starting?: true;
  /** What starting it takes from which limits; absent: what a new node of its bucket takes. */
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
  /** When it was asked for, to stand among starting nodes; absent: before all of them. */
  readonly order?: number;
}

export interface BucketOffer {
  /** Without a placement group: one offer per array and VM size. */
  readonly bucket: BucketKey;
  /** What one new node offers. */
  readonly resources: Resources;
  readonly properties?: () => NodeProperties;
  /** Seconds since the bucket last lacked capacity; absent: never. */
  readonly capacityFailureSeconds?: number;
  /** vCPUs of one new node. */
  readonly cores: number;
  /** Of one node, an hour, in the currency of the price table; absent: not known. */
  readonly price?: number;
  /** New nodes may be evicted at any time. */
  readonly spot?: true;
  /** What one new node takes from which limits (indices into `limits`). */
  readonly charges: readonly Charge[];
  /** Present: nothing new here, and why (invalid, backing off). */
  readonly refusal?: Reason;
  /** Largest number of nodes in one placement group; absent: this bucket knows no placement groups. */
  readonly maxPlacementGroupSize?: number;
  /** No placement group is made here for jobs; those that have a name are used. Its array says that it is not for HPC. */
  readonly notHpc?: true;
  /** Groups that the configuration names for this bucket, in its order; they need not exist yet. */
  readonly configuredGroups?: readonly PlacementGroup[];
  /** The array's only group, if it is pinned to one. */
  readonly pinnedGroup?: PlacementGroup;
  /** What a new node of this placement group is and offers; absent: the same as without one. */
  readonly inGroup?: (group: PlacementGroup) => Pick<BucketOffer, "resources" | "properties">;
  /** Names of groups that may be made here, used after all other buckets (`bucket-order` only); absent: two fresh names. */
  readonly generatedGroups?: readonly PlacementGroup[];
  /**
   * Present: the bucket is of a dynamic node array, and its nodes are created in this one, under the same limits. Only demand that names
   * the array makes new nodes here.
   */
  readonly parent?: BucketOffer;
  /** Present: the bucket as a target has it whose attributes make spot nodes where its array does not, or the reverse; this is the array's. */
  readonly counterpartOf?: BucketOffer;
  /** What new nodes are created with, before anything that the demand itself adds; absent: nothing. */
  readonly attributes?: NodeAttributes;
  /** Hosts that only a scheduler knows, for the jobs of these request sets: nothing new can be had here. `bucket-order` only. */
  readonly onlyFor?: readonly SetName[];
  /** Nodes per group in use, going ones included. */
  readonly groupSizes: ReadonlyMap<PlacementGroup, number>;
  /** Groups that are backing off, and why. While there is one, no group with a fresh name is made here: that would evade the pause. */
  readonly groupRefusals?: ReadonlyMap<PlacementGroup, Reason>;
}

/** What one new node takes from a limit (an index into `limits`), in its unit. */
export interface Charge {
  readonly limit: number;
  readonly amount: number;
  /** That it counts against this family's quota is a guess by the name of its VM size. */
  readonly guessed?: true;
}

export interface SharedLimit {
  readonly id: LimitId;
  readonly used: number;
  readonly max: number;
  /** Never below zero; can be less than `max - used` where CycleCloud says so. */
  readonly left: number;
}

/** At most so much for one request set or user: nodes that its demands need, whether they exist or are to be made. */
export interface Cap {
  readonly kind: "request-set" | "user";
  readonly name: string;
  /** Request sets that share it, which `name` sums up; absent: it is of the one of that name. */
  readonly sets?: readonly SetName[];
  readonly unit: "nodes" | "cores";
  readonly max: number;
}

/** The allocator's answer. */
export interface Allocation {
  readonly creates: readonly CreateSet[];
  /** Deallocated nodes to be started. */
  readonly starts: readonly NodeId[];
  /** What this plan puts where: every node, or run of identical nodes, on which a job has slots. */
  readonly loads: readonly NodeLoad[];
  /** Which existing nodes are needed, and by whom: "set/demand". A node that is absent is spare. */
  readonly needed: ReadonlyMap<NodeId, readonly string[]>;
  readonly outcomes: readonly DemandOutcome[];
  /** Groups that are asked for or there, by array and size. */
  readonly groups: readonly GroupedArray[];
  /** Strictly by rank; or those that could be had once more by size, which was cheaper and left no demand with less. */
  readonly settledBy: "rank" | "size";
  /** Demands that cost more than their set may spend: what is not placed of them, and what they could use, is not known. */
  readonly leftOut: readonly RankedDemand[];
  /** What the answer has cost. */
  readonly steps: number;
  /** How each job found its places, in the order of rank; only of `bucket-order`. */
  readonly orders?: readonly PlacementOrder[];
}

/** The buckets that a job looked at, and what it took there, in the order of use. */
export interface PlacementOrder {
  /** "set/demand". */
  readonly by: string;
  readonly candidates: readonly BucketKey[];
  /** Buckets whose nodes do not meet the constraints, and the first thing that said no. */
  readonly refused: readonly { readonly bucket: BucketKey; readonly refusal: Refusal }[];
  readonly uses: readonly PlacementUse[];
}

/** Slots put on a run of identical nodes. */
export interface PlacementUse {
  readonly bucket: BucketKey;
  /** The existing node; absent: nodes in flight or to be made. */
  readonly nodeId?: NodeId;
  /** The run, by its number in this plan. */
  readonly run: number;
  /** How many nodes were planned for the run just now; 0: it was there. */
  readonly made: number;
  /** Nodes used, and slots on each; the others of the run, if any, are the run `rest` from now on. */
  readonly nodes: number;
  readonly slots: number;
  readonly rest?: number;
}

/** One existing node, or so many nodes alike that are in flight or to be made, and the slots on each of them. */
export interface NodeLoad {
  readonly origin: "existing" | "in-flight" | "planned";
  readonly bucket: BucketKey;
  readonly nodeId?: NodeId;
  readonly count: number;
  readonly jobs: readonly {
    /** "set/demand". */
    readonly by: string;
    readonly slots: number;
    /** These run there already, so they are counted even where they do not fit. */
    readonly bound: boolean;
  }[];
}

/** How the allocator chooses. */
export interface AllocationPolicy {
  /** Prefix of generated placement-group names. */
  readonly groupPrefix: string;
  /** A group that lacks nodes is filled for so long before it is given up. */
  readonly groupFillSeconds: number;
  /**
   * `existing-first`: nodes that exist, those in flight, then new ones. `bucket-order`: as scalelib does it: buckets in recorded order,
   * existing before new nodes inside each, strictly by rank (scalelib.md 10 and 11).
   */
  readonly preference: "existing-first" | "bucket-order";
  /** Among buckets for new nodes: by node array priority, then in recorded order; or by price. */
  readonly among: "priority" | "cheapest";
  /** The plan is only tried out: nobody will read why something is unmet, so that it is not worked out. */
  readonly isTrial?: boolean;
  /** What placing the demands may cost; trying better ways and explaining have as much again. Absent: what a plan may cost. */
  readonly steps?: number;
}
