import type { Allocation, AllocationPolicy, World } from "../domain/allocation.ts";
import type { Node } from "../domain/cluster.ts";
import type { RankedDemand } from "../domain/demand.ts";
import type { NodeId } from "../domain/ids.ts";
import { InTurn } from "../domain/in-turn.ts";
import type { Policy } from "../domain/policy.ts";
import type { LedgerNode } from "../domain/record.ts";
import { stillInFlight } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { allocate } from "./allocate.ts";
import { bootingSince, isStarting } from "./starts.ts";
import type { WorldInput } from "./world.ts";
import { buildWorld, readyOnly } from "./world.ts";

/** How generated placement groups are called. */
const GROUP_PREFIX = "group-";

/** How the allocator is to choose, by a cluster's configuration. */
export function allocationPolicyOf(policy: Policy): AllocationPolicy {
  const { preference, among, groupFillTimeoutSeconds: groupFillSeconds } = policy;
  return { groupPrefix: GROUP_PREFIX, groupFillSeconds, preference, among };
}

/** The order in which capacity is used; lower goes first. */
const ORDER = { busy: 0, ready: 1, wantsToStop: 2, coming: 3, deallocated: 4 };

/** The place of a node in the order of use; a node that is marked gives way to others that are up. */
export function orderOf(node: Node, known: LedgerNode | undefined): number {
  if (node.phase === "ready" && known?.draining !== undefined) return ORDER.wantsToStop;
  return orderUnmarked(node, known);
}

function orderUnmarked(node: Node, known: LedgerNode | undefined): number {
  if (node.phase === "deallocated" && !isStarting(known)) return ORDER.deallocated;
  if (node.phase !== "ready") return ORDER.coming + ageFraction(known);
  if (known?.busyness.state === "busy") return ORDER.busy;
  return ORDER.ready + ageFraction(known);
}

/**
 * In [0, 1), growing with time: of nodes that are alike those that came first are used first, so that a plan once made stands; of those
 * that showed up at once those that were asked for first.
 */
function ageFraction(known: LedgerNode | undefined): number {
  if (known === undefined) return 0;
  const askedAfter = Math.min(known.askedAfter ?? 0, REQUESTS_APART - 1);
  return Math.min(bootingSince(known) + askedAfter / REQUESTS_APART, LAST_INSTANT) / (LAST_INSTANT + 1);
}

/** In the year 2096: so early that in a number of 53 bits there is room for this many requests in each millisecond. */
const LAST_INSTANT = 4e12;
const REQUESTS_APART = 500;

/** A cluster without the order of use and those who ask: what {@link findSpare} tries out. */
export type Supply = Omit<WorldInput, "order" | "demands">;

export interface Spare {
  readonly spare: ReadonlySet<NodeId>;
  /** Who needs the candidates that are not spare: "set/demand". No other nodes are here. */
  readonly needed: Allocation["needed"];
}

/** What of a plan tells whom it can do without. */
export type Present = Pick<Allocation, "creates" | "starts" | "needed" | "outcomes">;

/**
 * Of the candidates, those that the demand can do without: with all that is there or coming, and also when only Ready nodes serve it.
 * `present`: the plan that is made of this supply, if somebody has it.
 */
export function findSpare(
  supply: Supply,
  demands: readonly RankedDemand[],
  candidates: ReadonlySet<NodeId>,
  now: Instant,
  present?: Present,
): Spare {
  const { spare, plan } = spareIn((world) => world, supply, demands, candidates, now, present);
  const needed = new Map([...plan.needed].filter(([id]) => candidates.has(id)));
  return { spare: spareAmongReady(supply, demands, spare, now, plan), needed };
}

/** Of nodes that `plan` does not need, those that the demand does not need either when only Ready nodes are there to serve it. */
export function spareAmongReady(
  supply: Supply,
  demands: readonly RankedDemand[],
  candidates: ReadonlySet<NodeId>,
  now: Instant,
  plan: Present,
): ReadonlySet<NodeId> {
  // The plan itself shows how.
  if (candidates.size === 0 || usesOnlyReady(plan, supply)) return candidates;
  return spareIn(readyOnly, supply, demands, candidates, now).spare;
}

/** Whether the plan serves all demand, and with nodes that are up. */
export function isServedByReady(plan: Present, supply: Supply): boolean {
  return plan.outcomes.every(({ asked, placed }) => placed >= asked) && usesOnlyReady(plan, supply);
}

/** Whatever the plan does, it does with nodes that are up. */
function usesOnlyReady(
  { creates, starts, needed }: Present,
  { snapshot, inFlight, pendingCreates, doubted }: Supply,
): boolean {
  if ([creates, starts, pendingCreates].some(({ length }) => length > 0)) return false;
  if (inFlight.some((entry) => stillInFlight(entry) > 0)) return false;
  const needs = new InTurn(needed);
  const isUp = ({ nodeId, phase }: Node): boolean => phase === "ready" && doubted?.has(nodeId) !== true;
  return snapshot.nodes.every((node) => isUp(node) || needs.get(node.nodeId) === undefined);
}

interface Found {
  readonly spare: ReadonlySet<NodeId>;
  /** A plan that does without them. */
  readonly plan: Present;
}

/**
 * Others stand in for the candidates where they can. As the allocator takes the first node that will do, it may serve one demand with the
 * very nodes that another needs: so it is tried out what it does once they are gone. If that is worse than now, only those go that the
 * demand does not use now.
 */
function spareIn(
  view: (world: World) => World,
  supply: Supply,
  demands: readonly RankedDemand[],
  candidates: ReadonlySet<NodeId>,
  now: Instant,
  known?: Present,
): Found {
  const policy = { ...allocationPolicyOf(supply.policy), isTrial: true };
  const plan = (order: WorldInput["order"], excluded = supply.excluded): Allocation =>
    allocate(view(buildWorld({ ...supply, demands, excluded, order })), demands, policy, now);
  const unmarked: WorldInput["order"] = (node, entry) =>
    candidates.has(node.nodeId) ? orderUnmarked(node, entry) : orderOf(node, entry);
  const present = known ?? plan(unmarked);
  const unused = notNeeded(candidates, present);
  if (unused.size === candidates.size) return { spare: unused, plan: present };

  const last = plan((node, entry) =>
    candidates.has(node.nodeId) ? ORDER.wantsToStop : orderOf(node, entry),
  );
  const spare = notNeeded(candidates, last);
  // Nothing to try out: nobody goes, or whoever goes goes in either case.
  if (spare.size === 0 || (spare.size === unused.size && [...unused].every((id) => spare.has(id))))
    return { spare, plan: last };
  const future = plan(unmarked, new Set([...supply.excluded, ...spare]));
  return isAsGood(future, present) ? { spare, plan: last } : { spare: unused, plan: present };
}

function notNeeded(candidates: ReadonlySet<NodeId>, { needed }: Present): ReadonlySet<NodeId> {
  return new Set([...candidates].filter((id) => !needed.has(id)));
}

/** No more nodes to create or to start, and no demand that has less. */
function isAsGood(future: Present, present: Present): boolean {
  const brought = ({ creates, starts }: Present): number =>
    creates.reduce((total, { count }) => total + count, starts.length);
  return (
    brought(future) <= brought(present) &&
    future.outcomes.every((outcome, i) => outcome.placed >= (present.outcomes[i]?.placed ?? 0))
  );
}
