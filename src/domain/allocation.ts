import type { BucketKey } from "./bucket.ts";
import type { RankedDemand } from "./demand.ts";
import type { NodeId, SetName } from "./ids.ts";
import type { DemandOutcome, GroupedArray, PlanBound } from "./plan.ts";
import type { CreateSet } from "./intent.ts";
import type { Reason } from "./reason.ts";
import type { Refusal } from "./refusal.ts";
import type { Seconds } from "./units.ts";

/** The allocator's answer. */
export interface Allocation {
  readonly creates: readonly CreateSet[];
  /** Deallocated nodes to start. */
  readonly starts: readonly NodeId[];
  /** All placements of this plan: each node, or run of identical nodes, on which a job has slots. */
  readonly loads: readonly NodeLoad[];
  /** The existing nodes that are needed, each with the demands that need it, as "set/demand". A node that is not listed is spare. */
  readonly needed: ReadonlyMap<NodeId, readonly string[]>;
  readonly outcomes: readonly DemandOutcome[];
  /** For named nodes that are not there as they were asked for: why. */
  readonly names: ReadonlyMap<string, NameWhy>;
  /** Groups that exist or that demands ask for, by array and size. */
  readonly groups: readonly GroupedArray[];
  /** `rank`: placed strictly by rank. `size`: placed again by size, which was cheaper and gave no demand less. */
  readonly placedBy: "rank" | "size";
  /** Demands that cost more than their set may spend. What else could be placed of them is unknown. */
  readonly leftOut: readonly RankedDemand[];
  /** Cost of this allocation, in steps, and what of it each request set spent. */
  readonly steps: number;
  readonly stepsBySet: ReadonlyMap<SetName, number>;
  /** What the new nodes come to, and the least that they come to in any plan that serves as much. Undefined: there are none, or prices are unknown. */
  readonly bound: PlanBound | undefined;
  /** How each job found its places, in order of rank. Only with `bucket-order`. */
  readonly orders?: readonly PlacementOrder[];
}

/** Why a named node is not there as it was asked for, and the request set whose target got this reason. */
export interface NameWhy {
  readonly reason: Reason;
  readonly set: SetName;
}

/** The buckets that a job considered, and its placements there, in order of use. */
export interface PlacementOrder {
  /** "set/demand". */
  readonly by: string;
  readonly candidates: readonly BucketKey[];
  /** Buckets whose nodes do not meet the constraints, each with the first constraint that failed. */
  readonly refused: readonly { readonly bucket: BucketKey; readonly refusal: Refusal }[];
  readonly uses: readonly PlacementUse[];
}

/** Slots put on a run of identical nodes. */
export interface PlacementUse {
  readonly bucket: BucketKey;
  /** The existing node. Absent: nodes in flight or planned. */
  readonly nodeId?: NodeId;
  /** The number of the run in this plan. */
  readonly run: number;
  /** Number of nodes that were just planned for the run. 0: the run existed already. */
  readonly made: number;
  /** Number of nodes used, and slots on each. Unused nodes of the run form the run `rest` from now on. */
  readonly nodes: number;
  readonly slots: number;
  readonly rest?: number;
}

/** One existing node, or `count` identical nodes that are in flight or planned, and the slots on each of them. */
export interface NodeLoad {
  readonly origin: "existing" | "in-flight" | "planned";
  readonly bucket: BucketKey;
  readonly nodeId?: NodeId;
  readonly count: number;
  readonly jobs: readonly {
    /** "set/demand". */
    readonly by: string;
    readonly slots: number;
    /** They already run there, so they count even if they do not fit. */
    readonly bound: boolean;
  }[];
}

/** Policy of the allocator. */
export interface AllocationPolicy {
  /** Prefix of generated placement-group names. */
  readonly groupPrefix: string;
  /** A group that lacks nodes is given up after this time. */
  readonly groupFillSeconds: Seconds;
  /**
   * - `existing-first`: existing nodes, then nodes in flight, then new ones.
   * - `bucket-order`: like scalelib. Buckets in recorded order, existing before new nodes in each, strictly by rank (scalelib.md 10 and
   *   11).
   */
  readonly preference: "existing-first" | "bucket-order";
  /** Choice among buckets for new nodes: by node array priority and then in recorded order, or by price. */
  readonly among: "priority" | "cheapest";
  /** Mixes of sizes are not looked for. Absent: they are. */
  readonly mixes?: "off";
  /** A trial plan. No reasons are read, so none are worked out. */
  readonly isTrial?: boolean;
  /** Budget for placing the demands, in steps. Retries and explanations have the same budget again. Absent: the default for one plan. */
  readonly steps?: number;
}
