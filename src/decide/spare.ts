import type { Allocation, AllocationPolicy, World } from "../domain/allocation.ts";
import type { Node } from "../domain/cluster.ts";
import type { RankedDemand } from "../domain/demand.ts";
import type { NodeId } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import type { LedgerNode } from "../domain/record.ts";
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

/** Of the candidates, those that the demand can do without, with all that is there or coming. */
export function findSpare(
  supply: Supply,
  demands: readonly RankedDemand[],
  candidates: ReadonlySet<NodeId>,
  now: Instant,
): Spare {
  return spareIn((world) => world, supply, demands, candidates, now);
}

/** Of the candidates, those that the demand does not need when only Ready nodes are there to serve it. */
export function spareAmongReady(
  supply: Supply,
  demands: readonly RankedDemand[],
  candidates: ReadonlySet<NodeId>,
  now: Instant,
): ReadonlySet<NodeId> {
  return spareIn(readyOnly, supply, demands, candidates, now).spare;
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
): Spare {
  const plan = (order: WorldInput["order"], excluded = supply.excluded): Allocation =>
    allocate(
      view(buildWorld({ ...supply, demands, excluded, order })),
      demands,
      allocationPolicyOf(supply.policy),
      now,
    );
  const unmarked: WorldInput["order"] = (node, known) =>
    candidates.has(node.nodeId) ? orderUnmarked(node, known) : orderOf(node, known);
  const present = plan(unmarked);
  const unused = notNeeded(candidates, present);
  const answer = (spare: ReadonlySet<NodeId>, { needed }: Allocation): Spare => ({
    spare,
    needed: new Map([...needed].filter(([id]) => candidates.has(id))),
  });
  if (unused.size === candidates.size) return answer(unused, present);

  const last = plan((node, known) =>
    candidates.has(node.nodeId) ? ORDER.wantsToStop : orderOf(node, known),
  );
  const spare = notNeeded(candidates, last);
  // Nothing to try out: nobody goes, or whoever goes goes in either case.
  if (spare.size === 0 || (spare.size === unused.size && [...unused].every((id) => spare.has(id))))
    return answer(spare, last);
  const future = plan(unmarked, new Set([...supply.excluded, ...spare]));
  return isAsGood(future, present) ? answer(spare, last) : answer(unused, present);
}

function notNeeded(candidates: ReadonlySet<NodeId>, { needed }: Allocation): ReadonlySet<NodeId> {
  return new Set([...candidates].filter((id) => !needed.has(id)));
}

/** No more nodes to create or to start, and no demand that has less. */
function isAsGood(future: Allocation, present: Allocation): boolean {
  const brought = ({ creates, starts }: Allocation): number =>
    creates.reduce((total, { count }) => total + count, starts.length);
  return (
    brought(future) <= brought(present) &&
    future.outcomes.every((outcome, i) => outcome.placed >= (present.outcomes[i]?.placed ?? 0))
  );
}
