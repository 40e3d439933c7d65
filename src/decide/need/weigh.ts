import type { Instant } from "../../domain/units.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Questions } from "../../domain/questions.ts";
import type { Policy } from "../../domain/policy.ts";
import type { PlanLoads } from "../../domain/plan.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { Pool, RankedDemand } from "../../domain/demand.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { Allocation } from "../../domain/allocation.ts";
import type { LastPlan, World } from "../../domain/world.ts";
import type { Reports } from "../world/scheduler-only.ts";
import { orderOf } from "../world/order-of-use.ts";
import type { Dynamics } from "../world/dynamic-arrays.ts";
import { buildWorld } from "../world/build-world.ts";
import { isIdleLongEnough } from "../stops/scale-down.ts";
import { heldNodes } from "../stops/held.ts";
import { allocate } from "../search/allocate.ts";
import { uselessNodes } from "../nodes/replaced.ts";
import { excludedNodes } from "../nodes/excluded.ts";
import { doubtedNodes } from "../nodes/doubt.ts";
import type { Supply } from "./spare.ts";
import { allocationPolicyOf } from "./allocation-policy.ts";
import { isServedByReady, spareAmongReady } from "./spare.ts";
import type { Recall } from "./recall.ts";
import { premisesOf } from "./recall.ts";
import { storeLoads } from "./plan-loads.ts";
import { LeftOut, withLastPlaced } from "./left-out.ts";
import { pendingCreates, stoppingNodes } from "../intents/open-intents.ts";

/** What a plan takes from the allocator's answer. */
export interface Weighing extends Pick<
  Allocation,
  "creates" | "starts" | "needed" | "outcomes" | "groups" | "leftOut" | "steps"
> {
  readonly loads: PlanLoads;
}

/** What a plan needs, and what it can do without. */
export interface Weighed {
  readonly allocation: Weighing;
  /** Nodes that are spare even if only Ready nodes count as substitutes. */
  readonly spare: ReadonlySet<NodeId>;
  /** Nodes of no use that count as there: see {@link uselessNodes}. */
  readonly kept: ReadonlySet<NodeId>;
  readonly leftOut: LeftOut;
}

/** What the sets in force ask for. */
export interface Wanted {
  readonly demands: readonly RankedDemand[];
  readonly pools: readonly Pool[];
  readonly dynamics: Dynamics;
  /** What schedulers say of their hosts; undefined: nothing of amounts. */
  readonly reports: Reports | undefined;
  /** Where the last plan had what it knew; undefined: it did not keep that whole. */
  readonly last: () => LastPlan | undefined;
}

export function lastPlanOf({ plan }: Bodies): LastPlan | undefined {
  if (plan?.loads === undefined || plan.kept !== undefined || plan.loads.cut > 0) return undefined;
  const { demands, nodes, loads } = plan;
  return { demands, nodes: new Set(nodes.keys()), loads };
}

interface ToWeigh {
  readonly record: ClusterRecord;
  readonly snapshot: Snapshot;
  readonly ledger: Ledger;
  readonly questions: Questions;
  readonly wanted: Wanted;
  readonly policy: Policy;
  readonly now: Instant;
  readonly recall: Recall<Weighing>;
}

/** Plans for all demand, and finds the nodes that the demand can do without. */
export function weigh({
  record,
  snapshot,
  ledger,
  questions,
  wanted,
  policy,
  now,
  recall,
}: ToWeigh): Weighed {
  const { demands, pools, dynamics, reports, last } = wanted;
  const stopping = stoppingNodes(record.intents);
  const held = heldNodes(snapshot, ledger, questions, policy, now);
  const useless = excludedNodes(snapshot, ledger, stopping, policy, now);
  const excluded = new Set([...useless, ...held.closed]);
  const doubted = doubtedNodes(record, snapshot, ledger, policy, now);
  const { full } = held;
  const seen = { snapshot, ledger, policy, pools, dynamics, excluded, doubted, full, now };
  const input = supplyOf(record, reports === undefined ? seen : { ...seen, reports });
  const work = (asked: PlanQuestion): Weighing => {
    const world: World = {
      ...buildWorld({ ...input, excluded: asked.excluded, demands, order: orderOf }),
      last: () => asked.last,
    };
    const answer = allocate(world, demands, allocationPolicyOf(policy), now);
    const { creates, starts, needed, groups, leftOut, steps } = answer;
    const outcomes = leftOut.length === 0 ? answer.outcomes : withLastPlaced(answer, asked.last);
    return { creates, starts, needed, outcomes, groups, leftOut, steps, loads: storeLoads(answer) };
  };
  const allocation = recall.answer(
    premisesOf(record, input),
    new PlanQuestion(excluded, last),
    work,
    isTimeless,
  );
  const leftOut = new LeftOut(allocation.leftOut);
  const candidates = new Set<NodeId>();
  ledger.forEach((node, id) => {
    if (!mayBeReleased(node, policy, now) || allocation.needed.has(id)) return;
    if (leftOut.setFor(node) === undefined) candidates.add(id);
  });
  if (candidates.size > 0) {
    snapshot.nodes.forEach(({ nodeId, phase, stopDisabled }) => {
      // An unclear node may be one of those that serve the demand: it goes only where others that are up serve all of it.
      if (
        phase === "unknown" &&
        candidates.has(nodeId) &&
        (!leftOut.none || !isServedByReady(allocation, input))
      )
        candidates.delete(nodeId);
      if (stopDisabled === true && ledger.get(nodeId)?.draining === undefined) candidates.delete(nodeId);
    });
  }
  const kept = new Set(uselessNodes(snapshot, ledger, policy, now).kept);
  const planned = leftOut.others(demands);
  return {
    allocation,
    spare: spareAmongReady(input, planned, candidates, now, allocation),
    kept,
    leftOut,
  };
}

type Seen = Omit<Supply, "inFlight" | "pendingCreates" | "backoffs" | "groupFills">;

/** What there is to plan with: by what was seen, and by what the record says is under way or rests. */
export function supplyOf({ inFlight, intents, backoffs, groupFills }: ClusterRecord, seen: Seen): Supply {
  return {
    ...seen,
    inFlight,
    pendingCreates: pendingCreates(intents),
    backoffs,
    ...(groupFills === undefined ? {} : { groupFills }),
  };
}

/** What a plan rests on besides its premises; the last plan is looked into when somebody asks, and mostly nobody does. */
class PlanQuestion {
  readonly excluded: ReadonlySet<NodeId>;
  readonly #last: () => LastPlan | undefined;

  constructor(excluded: ReadonlySet<NodeId>, last: () => LastPlan | undefined) {
    this.excluded = excluded;
    this.#last = last;
  }

  get last(): LastPlan | undefined {
    return this.#last();
  }
}

/** No group has begun to be filled just now. */
function isTimeless({ groups }: Weighing): boolean {
  return groups.every((array) => array.groups.every(({ since }) => since === undefined));
}

function mayBeReleased(node: LedgerNode, policy: Policy, now: Instant): boolean {
  return node.goneAt === undefined && (node.draining !== undefined || isIdleLongEnough(node, policy, now));
}
