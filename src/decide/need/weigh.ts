import type { Unread } from "../senders/demands-in-force.ts";
import type { Instant } from "../../domain/units.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Policy } from "../../domain/policy.ts";
import type { PlanLoads, LoadRun, PlanLoad } from "../../domain/plan.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { Pool, RankedDemand } from "../../domain/demand.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { Aside } from "../../domain/request-sets.ts";
import type { Allocation, NodeLoad } from "../../domain/allocation.ts";
import type { LastPlan, World } from "../../domain/world.ts";
import type { Reports } from "../world/scheduler-only.ts";
import { orderOf, buildWorld } from "../world/build-world.ts";
import type { Dynamics } from "../world/dynamic-arrays.ts";
import { blockedNames } from "../nodes/names.ts";
import { isIdleLongEnough } from "../stops/scale-down.ts";
import { allocate } from "../search/allocate.ts";
import type { Standings } from "../../domain/node-standing.ts";
import type { Supply } from "./spare.ts";
import { allocationPolicyOf, isServedByReady, spareAmongReady } from "./spare.ts";
import { LeftOut, withLastPlaced } from "./left-out.ts";
import { pendingCreates } from "../intents/create-requests.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import { bucketId } from "../../domain/bucket.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** The part of the allocator's answer that a plan uses. */
interface Weighing extends Pick<
  Allocation,
  | "creates"
  | "starts"
  | "needed"
  | "outcomes"
  | "names"
  | "groups"
  | "leftOut"
  | "steps"
  | "stepsBySet"
  | "bound"
> {
  readonly loads: PlanLoads;
  /** The configuration's default resources cost too much, so all demand is left out. */
  readonly isTooDear?: true;
}

/** A plan, and the nodes that it can do without. */
export interface Weighed {
  readonly allocation: Weighing;
  /** Nodes that are spare even if only Ready nodes count as substitutes. */
  readonly spare: ReadonlySet<NodeId>;
  readonly leftOut: LeftOut;
}

/** The demand of the sets in force, and what else they report. */
interface Wanted {
  readonly demands: readonly RankedDemand[];
  readonly pools: readonly Pool[];
  readonly dynamics: Dynamics;
  /** The amounts that schedulers report for their hosts. Undefined: none. */
  readonly reports: Reports | undefined;
  /** The placements of the last plan. Undefined: they are unknown or incomplete. */
  readonly last: () => LastPlan | undefined;
  /** Sets whose demand is not among these. */
  readonly aside: Aside;
  /** Jobs that are not among these. */
  readonly unread: Unread;
}

/** The placements of the stored plan. Undefined if it has none, or not all of them. */
export function lastPlanOf({ plan }: Bodies): LastPlan | undefined {
  if (plan?.loads === undefined || plan.kept !== undefined || plan.loads.cut > 0) return undefined;
  const { demands, nodes, loads } = plan;
  return { demands, nodes: new Set(nodes.keys()), loads };
}

export interface ToWeigh {
  readonly record: ClusterRecord;
  readonly snapshot: Snapshot;
  readonly ledger: Ledger;
  readonly standings: Standings;
  readonly wanted: Wanted;
  /** Idle nodes with old attributes that do not count for the demand. Absent: none. */
  readonly replaced?: ReadonlySet<NodeId>;
  readonly policy: Policy;
  readonly now: Instant;
}

/** Plans for all demand, and finds the nodes that the demand can do without. */
export function weigh(asked: ToWeigh): Weighed {
  const { wanted, now } = asked;
  const supply = supplyNow(asked);
  const allocation = planFor(asked, supply);
  const leftOut = new LeftOut(allocation.leftOut, wanted.aside, wanted.unread);
  const candidates = findReleasable(asked, supply, allocation, leftOut);
  const planned = leftOut.others(wanted.demands);
  return {
    allocation,
    spare: spareAmongReady(supply, planned, candidates, now, allocation),
    leftOut,
  };
}

/** The supply to plan with now. */
export function supplyNow(asked: ToWeigh): Supply {
  const { record, snapshot, ledger, standings, wanted, policy, now, replaced = NO_NODES } = asked;
  const { pools, dynamics, reports } = wanted;
  const seen = { snapshot, ledger, standings, policy, pools, dynamics, excluded: replaced, now };
  return supplyOf(record, reports === undefined ? seen : { ...seen, reports });
}

const NO_NODES: ReadonlySet<NodeId> = new Set();

/** The plan for all demand. */
function planFor({ wanted, policy, now }: ToWeigh, supply: Supply): Weighing {
  const { demands, last } = wanted;
  const world: World = { ...buildWorld({ ...supply, demands, order: orderOf }), last };
  const answer = allocate(world, demands, allocationPolicyOf(policy), now);
  const { creates, starts, needed, names, groups, leftOut, steps, stepsBySet, bound } = answer;
  const outcomes = leftOut.length === 0 ? answer.outcomes : withLastPlaced(answer, last());
  const loads = storeLoads(answer);
  const dear = world.isTooDear === true ? { isTooDear: true as const } : {};
  return {
    creates,
    starts,
    needed,
    outcomes,
    names,
    groups,
    leftOut,
    steps,
    stepsBySet,
    bound,
    loads,
    ...dear,
  };
}

/** Nodes that the plan does not need and that may be released, if other nodes can serve the demand. */
function findReleasable(
  { snapshot, ledger, policy, now }: ToWeigh,
  supply: Supply,
  allocation: Weighing,
  leftOut: LeftOut,
): ReadonlySet<NodeId> {
  const candidates = new Set<NodeId>();
  ledger.forEach((node, id) => {
    if (!mayBeReleased(node, policy, now) || allocation.needed.has(id)) return;
    if (leftOut.setFor(node) === undefined) candidates.add(id);
  });
  if (candidates.size === 0) return candidates;
  snapshot.nodes.forEach(({ nodeId, phase, stopDisabled }) => {
    // An unclear node may be one of those that serve the demand. It is released only if other nodes that are up serve all of it.
    if (
      phase === "unknown" &&
      candidates.has(nodeId) &&
      (!leftOut.none || !isServedByReady(allocation, supply))
    )
      candidates.delete(nodeId);
    if (stopDisabled === true && ledger.get(nodeId)?.draining === undefined) candidates.delete(nodeId);
  });
  return candidates;
}

type Seen = Omit<Supply, "inFlight" | "pendingCreates" | "backoffs" | "groupFills">;

/** The supply to plan with: what was observed, and what the record contains about intents, nodes in flight and pauses. */
export function supplyOf(record: ClusterRecord, seen: Seen): Supply {
  const { inFlight, intents, backoffs, groupFills, dear } = record;
  return {
    ...seen,
    ...withoutAbsent({ resting: dear, blockedNames: blockedNames(record, seen) }),
    inFlight,
    pendingCreates: pendingCreates(intents),
    backoffs,
    ...withoutAbsent({ groupFills }),
  };
}

function mayBeReleased(node: LedgerNode, policy: Policy, now: Instant): boolean {
  return node.goneAt === undefined && (node.draining !== undefined || isIdleLongEnough(node, policy, now));
}

/** Maximum number of nodes, or runs of identical nodes, that a plan stores, and of runs of jobs on them. The nodes of others are counted in `cut`. */
const MOST_LOADS = 20_000;
const MOST_RUNS = 200_000;

/** The placements of an allocation in the stored form: jobs by their position among the outcomes, in runs, and buckets by their position in a list. */
export function storeLoads({ loads, outcomes }: Pick<Allocation, "loads" | "outcomes">): PlanLoads {
  const positions = new Map<string, number>();
  // Nothing of the others is on a node, and a long queue has 100,000 of them.
  outcomes.forEach(({ set, id, placed }, at) => {
    if (placed > 0) positions.set(`${set}/${id}`, at);
  });
  const places = new Map<string, { readonly bucket: BucketKey; readonly at: number }>();
  // Most nodes share the object of their bucket.
  const known = new Map<BucketKey, number>();
  const placeOf = (bucket: BucketKey): number => {
    const id = bucketId(bucket);
    const place = places.get(id) ?? { bucket, at: places.size };
    places.set(id, place);
    known.set(bucket, place.at);
    return place.at;
  };
  const stored: PlanLoad[] = [];
  let runs = 0;
  let cut = 0;
  for (const load of loads) {
    const jobs = runsOf(load, positions);
    if (stored.length >= MOST_LOADS || runs + jobs.length > MOST_RUNS) {
      cut += load.count;
      continue;
    }
    runs += jobs.length;
    const { origin, nodeId, count } = load;
    const bucket = known.get(load.bucket) ?? placeOf(load.bucket);
    stored.push(
      nodeId === undefined ? { origin, bucket, count, jobs } : { origin, bucket, nodeId, count, jobs },
    );
  }
  return { buckets: [...places.values()].map(({ bucket }) => bucket), loads: stored, cut };
}

/** Consecutive jobs among the outcomes with the same number of slots are one run. */
function runsOf({ jobs }: NodeLoad, positions: ReadonlyMap<string, number>): readonly LoadRun[] {
  const [only] = jobs;
  if (only !== undefined && jobs.length === 1) {
    const at = positions.get(only.by);
    return at === undefined ? [] : [runOf(at, at, only.slots, only.bound)];
  }
  const sorted = jobs
    .flatMap(({ by, slots, bound }) => {
      const at = positions.get(by);
      return at === undefined ? [] : [{ at, slots, bound }];
    })
    .toSorted((a, b) => Number(b.bound) - Number(a.bound) || a.at - b.at);
  const runs: { first: number; last: number; readonly slots: number; readonly bound: boolean }[] = [];
  for (const { at, slots, bound } of sorted) {
    const run = runs.at(-1);
    if (run !== undefined && run.last + 1 === at && run.slots === slots && run.bound === bound) run.last = at;
    else runs.push({ first: at, last: at, slots, bound });
  }
  return runs.map(({ first, last, slots, bound }) => runOf(first, last, slots, bound));
}

const runOf = (first: number, last: number, slots: number, bound: boolean): LoadRun =>
  bound ? [first, last, slots, 1] : [first, last, slots];
