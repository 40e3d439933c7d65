// Long: one question, which nodes the plan can do without, and the trials that answer it: they share what they try out.
import type { Allocation, AllocationPolicy } from "../../domain/allocation.ts";
import type { World } from "../../domain/world.ts";
import type { Node } from "../../domain/cluster.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import type { NodeId } from "../../domain/ids.ts";
import { InTurn } from "../../domain/in-turn.ts";
import { stillInFlight } from "../../domain/in-flight.ts";
import type { Instant } from "../../domain/units.ts";
import { PLAN_STEPS } from "../constraints/budget.ts";
import { allocate } from "../search/allocate.ts";
import { buildWorld, readyOnly } from "../world/build-world.ts";
import { ORDER, orderOf, orderUnmarked } from "../world/order-of-use.ts";
import type { WorldInput } from "../world/world-input.ts";
import { allocationPolicyOf } from "./allocation-policy.ts";
import { LeftOut } from "./left-out.ts";

/** A cluster without the order of use and those who ask: what {@link findSpare} tries out. */
export type Supply = Omit<WorldInput, "order" | "demands">;

export interface Spare {
  readonly spare: ReadonlySet<NodeId>;
  /** Who needs the candidates that are not spare: "set/demand". No other nodes are here. */
  readonly needed: Allocation["needed"];
  /** Candidates of which nothing can be told, and why. They are not spare. */
  readonly unknown: ReadonlyMap<NodeId, string>;
}

/** What of a plan tells whom it can do without. */
export type Present = Pick<Allocation, "creates" | "starts" | "needed" | "outcomes" | "leftOut" | "steps">;

/** What a plan and all that is tried out with it may cost together, by what it may cost itself. */
const PLANS_TOGETHER = 2;

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
  const trials = new Trials(supply, now, present?.steps ?? 0);
  const whole = present ?? trials.make((world) => world, demands, orderBut(candidates));
  const leftOut = new LeftOut(whole.leftOut);
  const unknown = new Map<NodeId, string>();
  for (const id of candidates) if (mayNeed(leftOut, supply, id)) unknown.set(id, MAY_NEED);
  const open = new Set([...candidates].filter((id) => !unknown.has(id)));
  if (open.size === 0) return { spare: open, needed: new Map(), unknown };
  const planned = leftOut.others(demands);
  const known = leftOut.none ? whole : undefined;
  const { spare, plan } = spareIn((world) => world, trials, planned, open, known);
  const last = trials.isOver ? NOBODY : amongReady(trials, planned, spare, plan);
  if (trials.isOver) for (const id of open) unknown.set(id, TOO_DEAR);
  const needed = new Map([...plan.needed].filter(([id]) => open.has(id)));
  return { spare: last, needed, unknown };
}

const NOBODY: ReadonlySet<NodeId> = new Set();

/** A node is not told whose demand it is: the plan says so. */
const MAY_NEED = "demand that costs too much to be planned may need the node; ask again";

const TOO_DEAR = "to find out whether the demand can do without the node costs too much; ask again";

function mayNeed(leftOut: LeftOut, { ledger }: Supply, id: NodeId): boolean {
  const known = ledger.get(id);
  return known !== undefined && leftOut.setFor(known) !== undefined;
}

/** Of nodes that `plan` does not need, those that the demand does not need either when only Ready nodes are there to serve it. */
export function spareAmongReady(
  supply: Supply,
  demands: readonly RankedDemand[],
  candidates: ReadonlySet<NodeId>,
  now: Instant,
  plan: Present,
): ReadonlySet<NodeId> {
  return amongReady(new Trials(supply, now, plan.steps), demands, candidates, plan);
}

function amongReady(
  trials: Trials,
  demands: readonly RankedDemand[],
  candidates: ReadonlySet<NodeId>,
  plan: Present,
): ReadonlySet<NodeId> {
  // The plan itself shows how.
  if (candidates.size === 0 || usesOnlyReady(plan, trials.supply)) return candidates;
  const { spare } = spareIn(readyOnly, trials, demands, candidates);
  return trials.isOver ? NOBODY : spare;
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

/** Plans that are only tried out, and what is left for them. */
class Trials {
  readonly supply: Supply;
  readonly #now: Instant;
  readonly #policy: AllocationPolicy;
  readonly #each: number;
  #left: number;
  #isOver = false;

  /** `spent`: what the plan that they belong to has cost. */
  constructor(supply: Supply, now: Instant, spent: number) {
    this.supply = supply;
    this.#now = now;
    this.#policy = { ...allocationPolicyOf(supply.policy), isTrial: true };
    this.#each = this.#policy.steps ?? PLAN_STEPS;
    this.#left = PLANS_TOGETHER * this.#each - spent;
  }

  /** A plan that says by itself what it has left out. */
  make(
    view: (world: World) => World,
    demands: readonly RankedDemand[],
    order: WorldInput["order"],
    excluded = this.supply.excluded,
  ): Allocation {
    const world = view(buildWorld({ ...this.supply, demands, excluded, order }));
    const steps = Math.max(0, Math.min(this.#each, this.#left));
    const answer = allocate(world, demands, { ...this.#policy, steps }, this.#now);
    this.#left -= answer.steps;
    return answer;
  }

  /** A plan that has to be whole. */
  plan(...asked: Parameters<Trials["make"]>): Allocation {
    const answer = this.make(...asked);
    this.#isOver ||= answer.leftOut.length > 0;
    return answer;
  }

  /** One of them has left something out: they tell nothing. */
  get isOver(): boolean {
    return this.#isOver;
  }
}

interface Found {
  readonly spare: ReadonlySet<NodeId>;
  /** A plan that does without them. */
  readonly plan: Present;
}

/** Candidates stand where they would without a mark. */
const orderBut =
  (candidates: ReadonlySet<NodeId>): WorldInput["order"] =>
  (node, entry) =>
    candidates.has(node.nodeId) ? orderUnmarked(node, entry) : orderOf(node, entry);

/**
 * Others stand in for the candidates where they can. As the allocator takes the first node that will do, it may serve one demand with the
 * very nodes that another needs: so it is tried out what it does once they are gone. If that is worse than now, only those go that the
 * demand does not use now.
 */
function spareIn(
  view: (world: World) => World,
  trials: Trials,
  demands: readonly RankedDemand[],
  candidates: ReadonlySet<NodeId>,
  known?: Present,
): Found {
  const present = known ?? trials.plan(view, demands, orderBut(candidates));
  const unused = notNeeded(candidates, present);
  if (trials.isOver || unused.size === candidates.size) return { spare: unused, plan: present };

  const last = trials.plan(view, demands, (node, entry) =>
    candidates.has(node.nodeId) ? ORDER.wantsToStop : orderOf(node, entry),
  );
  const spare = notNeeded(candidates, last);
  // Nothing to try out: nobody goes, or whoever goes goes in either case.
  if (
    trials.isOver ||
    spare.size === 0 ||
    (spare.size === unused.size && [...unused].every((id) => spare.has(id)))
  )
    return { spare, plan: last };
  const excluded = new Set([...trials.supply.excluded, ...spare]);
  const future = trials.plan(view, demands, orderBut(candidates), excluded);
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
