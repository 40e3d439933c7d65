import type { WhyAside } from "./request-sets.ts";
import type { Demand } from "./demand.ts";
import type { Remedy } from "./remedy.ts";
import type { BucketKey, Purpose } from "./bucket.ts";
import type { ArrayName, NodeId, SetName } from "./ids.ts";
import type { Mode } from "./mode.ts";
import type { NodeVerdict } from "./node-verdict.ts";
import type { Reason } from "./reason.ts";
import type { CreateSet } from "./intent.ts";
import type { Instant } from "./units.ts";
import { isoTime } from "./units.ts";
import { withoutAbsent } from "./without-absent.ts";

/** The result of one reconcile, with its reasons. Every decision, including "do nothing", has a reason. */
export interface Plan {
  readonly number: number;
  readonly at: Instant;
  readonly creates: readonly CreateSet[];
  /** Deallocated nodes that are started. Absent: none. */
  readonly starts?: readonly NodeId[];
  readonly terminates: readonly NodeId[];
  /** Those of `terminates` that are deallocated: their disks are kept. Absent: none. */
  readonly deallocates?: readonly NodeId[];
  /** `observe`: the plan changes nothing and shows what it would do. Absent: it acts. */
  readonly mode?: "observe";
  /** Node arrays that are only observed while the plan acts on others. Absent: none. */
  readonly observed?: readonly ArrayName[];
  /** Changes that the plan would make in observed node arrays. Absent: none is observed, or the cluster is not started. */
  readonly withheld?: Proposal;
  /** Changes that this plan made to the virtual fleet of the observed node arrays. Absent: none is observed. */
  readonly virtual?: Proposal;
  readonly demands: readonly DemandOutcome[];
  readonly nodes: ReadonlyMap<NodeId, NodeVerdict>;
  /** Only some demands are kept here: their positions in the full list, and its length. Absent: all demands are here. */
  readonly kept?: { readonly positions: readonly number[]; readonly of: number };
  /** Groups that exist or that demands ask for. Absent: none. */
  readonly groups?: readonly GroupedArray[];
  /** The jobs on each node. Absent: not known. */
  readonly loads?: PlanLoads;
  /** What its new nodes come to. Absent: there are none, or their prices are unknown. */
  readonly bound?: PlanBound;
  /** Request sets with demands that are too expensive to plan. Absent: none. */
  readonly leftOut?: readonly LeftOutSet[];
}

/** New and started nodes of a plan, as a number or as a price per hour, and a lower bound of that for all plans that serve as much. */
export interface PlanBound {
  readonly unit: "nodes" | "price";
  readonly amount: number;
  readonly least: number;
  /** Of a price. Absent: it is not known. */
  readonly currency?: string;
}

/** "this plan costs 12.40 USD an hour; at least 12.10 are needed". */
export function boundText({ unit, amount, least, currency }: PlanBound): string {
  if (unit === "nodes")
    return `this plan makes ${amount} ${amount === 1 ? "node" : "nodes"}; at least ${least} ${least === 1 ? "is" : "are"} needed`;
  const price = [amount.toFixed(2), ...(currency === undefined ? [] : [currency])].join(" ");
  return `this plan costs ${price} an hour; at least ${floorCents(least)} are needed`;
}

/** Rounded down: a bound stays one. But not below what was lowered by rounding only. */
const floorCents = (amount: number): string => (Math.floor(amount * 100 * (1 + 2e-9)) / 100).toFixed(2);

/** The demands of one request set that a plan left out. */
export interface LeftOutSet {
  readonly set: SetName;
  /** How many demands were left out, and the id of the first. */
  readonly demands: number;
  readonly first: string;
  /** Why they are expensive to plan: "40,000 jobs with up to 100 alternatives each". */
  readonly why: string;
  /** How many of them have no outcome in the plan, because it did not read them. Absent: all have one. */
  readonly unread?: number;
  /** Present: the plan did not read the set. Then `first` is empty. */
  readonly aside?: WhyAside;
  /** The configuration is expensive, and not the demand. Absent: the demand is. */
  readonly by?: "configuration";
}

/** The changes that a plan makes or would make. */
export interface Proposal {
  readonly creates: readonly CreateSet[];
  /** Deallocated nodes. */
  readonly starts: readonly NodeId[];
  /** In a withheld proposal this includes nodes that it would only mark and then observe once more. */
  readonly terminates: readonly NodeId[];
}

/** The mode of a plan, for answers. */
export function modeShown({ mode, observed }: Plan): {
  readonly mode: Mode;
  readonly observed?: readonly ArrayName[];
} {
  return { mode: mode ?? "act", ...withoutAbsent({ observed }) };
}

/** All changes of a plan: those that it makes, and those that it would make in observed node arrays. */
export function proposalOf({ withheld, creates, starts = [], terminates }: Plan): Proposal {
  if (withheld === undefined) return { creates, starts, terminates };
  return {
    creates: [...creates, ...withheld.creates],
    starts: [...starts, ...withheld.starts],
    terminates: [...terminates, ...withheld.terminates],
  };
}

/** The plan without some of its stops. */
export function withoutStopped(plan: Plan, isDropped: (node: NodeId) => boolean): Plan {
  const { deallocates, ...rest } = plan;
  const left = deallocates?.filter((id) => !isDropped(id)) ?? [];
  return {
    ...rest,
    terminates: plan.terminates.filter((id) => !isDropped(id)),
    ...(left.length === 0 ? {} : { deallocates: left }),
  };
}

/** All groups of one array and size. The autoscale API calls this a generated array (cyclecloud-wire.md C.2). */
export interface GroupedArray {
  /** "execute:64" for groups of 64 cores, "execute:16n" for groups of 16 nodes. */
  readonly name: string;
  /** The array that its nodes are created in. */
  readonly array: ArrayName;
  /** Groups that the set with the largest request asks for. */
  readonly wanted: number;
  /** The first few sets that ask for them. */
  readonly sets: readonly SetName[];
  /** The provider has no placement groups, so the same number of ordinary nodes is made. */
  readonly ungrouped?: true;
  readonly groups: readonly GroupState[];
}

export interface GroupState {
  /** Its placement group is the group's id. Undefined if the provider has no placement groups. */
  readonly bucket: BucketKey;
  /**
   * `filling`: nodes are lacking, and the existing ones are kept. `given-up`: the group was not complete in time, and its nodes may be
   * stopped. `spare`: no demand asks for the group.
   */
  readonly state: "whole" | "filling" | "given-up" | "spare";
  /** Number of nodes of a complete group. */
  readonly size: number;
  /** `nodes`: nodes that exist, are in flight or are created by this plan. `existing`: nodes that exist. `ready`: nodes that are up. */
  readonly nodes: number;
  readonly existing: number;
  readonly ready: number;
  /** Since when nodes are lacking or still booting. Absent: the group is complete and up. */
  readonly since?: Instant;
  readonly givenUpAt?: Instant;
}

/** Why a node is not needed although demands ask for groups like its own. Undefined if its group was not given up. */
export function whyReleased({ groups = [] }: Plan, purpose: Purpose): string | undefined {
  if (purpose.kind !== "group" || purpose.group === undefined) return undefined;
  const states = groups.find(({ name }) => name === purpose.key)?.groups ?? [];
  const state = states.find(({ bucket }) => bucket.placementGroup === purpose.group);
  if (state?.givenUpAt === undefined) return undefined;
  return `its group ${purpose.group} was given up at ${isoTime(state.givenUpAt)}, because it had only ${state.nodes} of ${state.size} nodes`;
}

/** Where a plan places jobs, in a compact form: it is stored with every plan and may cover 100,000 jobs on thousands of nodes. */
export interface PlanLoads {
  /** Loads refer to buckets by their position here. */
  readonly buckets: readonly BucketKey[];
  readonly loads: readonly PlanLoad[];
  /** Number of nodes with jobs that were left out to bound the size. */
  readonly cut: number;
}

/** The jobs on one existing node, or on each of `count` identical nodes that are in flight or planned. */
export interface PlanLoad {
  readonly origin: "existing" | "in-flight" | "planned";
  readonly bucket: number;
  readonly nodeId?: NodeId;
  readonly count: number;
  readonly jobs: readonly LoadRun[];
}

/** Consecutive demands, first and last by position in {@link Plan.demands}, with `slots` slots each. `bound` 1: they already run there. */
export type LoadRun =
  | readonly [first: number, last: number, slots: number]
  | readonly [first: number, last: number, slots: number, bound: 1];

/** The result for one demand. Placed plus unmet equals asked, in the demand's own unit. */
export interface DemandOutcome {
  readonly set: SetName;
  readonly id: string;
  readonly kind: "target" | "groups" | "job";
  /** Nodes or cores of a target, groups, or slots of a job. */
  readonly unit: "nodes" | "cores" | "groups" | "slots";
  readonly asked: number;
  /** Slots or nodes on nodes that exist or were requested. At most `asked`. */
  readonly placed: number;
  /** The part of `placed` that waits for nodes which this plan creates or which are still coming. */
  readonly pending: number;
  /** At least one whenever `placed` is less than `asked`. */
  readonly reasons: readonly Reason[];
  /** Number of reasons left out. Absent: none. */
  readonly moreReasons?: number;
  /** Of a target that names nodes and lacks some: how many more there is room for. Absent: it lacks none, or the plan left it out. */
  readonly room?: NamedRoom;
  /** The change that would let all of the demand be placed. Absent: nothing is lacking, or it is unknown. */
  readonly binding?: Remedy;
}

/** Room for more nodes of an array, size and group. */
export interface NamedRoom {
  readonly nodes: number;
  /** There is none because of pauses: when the first of them ends. */
  readonly until?: Instant;
}

/** Whether a demand is not completely placed. */
export const isShort = ({ placed, asked }: Pick<DemandOutcome, "placed" | "asked">): boolean =>
  placed < asked;

/** Number of demands that are not completely placed. */
function countUnmet(outcomes: readonly DemandOutcome[]): number {
  return outcomes.reduce((unmet, outcome) => (isShort(outcome) ? unmet + 1 : unmet), 0);
}

/** How many demands a plan is for, and how many of them it does not place. Jobs that it did not read count as not placed. */
export function countDemands({ demands, leftOut = [] }: Plan): {
  readonly demands: number;
  readonly unmet: number;
} {
  const unread = leftOut.reduce((sum, one) => sum + (one.unread ?? 0), 0);
  return { demands: demands.length + unread, unmet: countUnmet(demands) + unread };
}

/** The amount that a demand asks for, in its own unit. */
export function askedBy(demand: Demand): Pick<DemandOutcome, "unit" | "asked"> {
  switch (demand.kind) {
    case "target":
      return { unit: demand.amount.unit, asked: demand.amount.count };
    case "groups":
      return { unit: "groups", asked: demand.groups };
    case "job":
      return { unit: "slots", asked: demand.iterations * (demand.nodeCount ?? 1) };
  }
}
