import type { Allocation, AllocationPolicy } from "../../domain/allocation.ts";
import type { SupplyNode, World } from "../../domain/world.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import type { NodeId } from "../../domain/ids.ts";
import { stillInFlight } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { PLAN_STEPS } from "../constraints/budget.ts";
import { allocate } from "../search/allocate.ts";
import { buildWorld, readyOnly, ORDER, orderOf, orderUnmarked } from "../world/build-world.ts";
import { isUp, standingIn } from "../../domain/node-standing.ts";
import type { WorldInput } from "../world/world-input.ts";
import { NONE_ASIDE } from "../../domain/request-sets.ts";
import type { Unread } from "../senders/demands-in-force.ts";
import { LeftOut } from "./left-out.ts";
import type { Policy } from "../../domain/policy.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

// Long: one question (which nodes can the plan do without?) and the trial plans that answer it within one budget.

/** The input of trial plans: a cluster without the order of use and without demands. */
export type Supply = Omit<WorldInput, "order" | "demands">;

export interface Spare {
  readonly spare: ReadonlySet<NodeId>;
  /** The demands ("set/demand") that need candidates which are not spare. Contains no other nodes. */
  readonly needed: Allocation["needed"];
  /** Candidates for which the answer is unknown, and why. They are not spare. */
  readonly unknown: ReadonlyMap<NodeId, string>;
}

/** The part of a plan that shows which nodes it can do without. */
type Present = Pick<Allocation, "creates" | "starts" | "needed" | "outcomes" | "leftOut" | "steps">;

/** Maximum cost of a plan together with all its trial plans, as a multiple of the budget of one plan. */
const PLANS_TOGETHER = 2;

/** The candidates that the demand can do without, both with all nodes that exist or are coming, and with Ready nodes only. */
export function findSpare(
  supply: Supply,
  { demands, unread }: { readonly demands: readonly RankedDemand[]; readonly unread?: Unread },
  candidates: ReadonlySet<NodeId>,
  now: Instant,
): Spare {
  const trials = new Trials(supply, now, 0);
  const world = trials.world(demands, candidates);
  const whole = trials.make(world, demands);
  const leftOut = new LeftOut(whole.leftOut, NONE_ASIDE, unread);
  const unknown = new Map<NodeId, string>();
  for (const id of candidates) if (mayNeed(leftOut, supply, id)) unknown.set(id, MAY_NEED);
  const open = new Set([...candidates].filter((id) => !unknown.has(id)));
  if (open.size === 0) return { spare: open, needed: new Map(), unknown };
  const planned = leftOut.others(demands);
  const asked = { demands: planned, candidates: open };
  const { spare, plan } = leftOut.none
    ? spareIn(same, trials, { ...asked, world }, whole)
    : spareIn(same, trials, { ...asked, world: trials.world(planned, open) });
  const last = trials.isOver ? NO_NODES : amongReady(trials, planned, spare, plan);
  if (trials.isOver) for (const id of open) unknown.set(id, TOO_EXPENSIVE);
  const needed = new Map([...plan.needed].filter(([id]) => open.has(id)));
  return { spare: last, needed, unknown };
}

const NO_NODES: ReadonlySet<NodeId> = new Set();
const same = (world: World): World => world;

/** The text does not name the request set, because a node reads it. The plan names it. */
export const MAY_NEED = "demand that costs too much to be planned may need the node; ask again";

const TOO_EXPENSIVE = "to find out whether the demand can do without the node costs too much; ask again";

function mayNeed(leftOut: LeftOut, { ledger }: Supply, id: NodeId): boolean {
  const known = ledger.get(id);
  return known !== undefined && leftOut.setFor(known) !== undefined;
}

/** The candidates, which `plan` does not need, that the demand also does not need if only Ready nodes serve it. */
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
  // The plan uses only Ready nodes, so it is the proof.
  if (candidates.size === 0 || usesOnlyReady(plan, trials.supply)) return candidates;
  const world = trials.world(demands, candidates);
  const { spare } = spareIn(readyOnly, trials, { world, demands, candidates });
  return trials.isOver ? NO_NODES : spare;
}

/** Whether the plan serves all demand with nodes that are up. */
export function isServedByReady(plan: Present, supply: Supply): boolean {
  return plan.outcomes.every(({ asked, placed }) => placed >= asked) && usesOnlyReady(plan, supply);
}

/** Whether all nodes of the plan are up. */
function usesOnlyReady(
  { creates, starts, needed }: Present,
  { snapshot, inFlight, pendingCreates, standings }: Supply,
): boolean {
  if ([creates, starts, pendingCreates].some(({ length }) => length > 0)) return false;
  if (inFlight.some((entry) => stillInFlight(entry) > 0)) return false;
  return snapshot.nodes.every(
    ({ nodeId }) => isUp(standingIn(standings, nodeId)) || needed.get(nodeId) === undefined,
  );
}

/** Trial plans, and the steps left for them. */
export class Trials {
  readonly supply: Supply;
  readonly #now: Instant;
  readonly #policy: AllocationPolicy;
  readonly #each: number;
  #left: number;
  #isOver = false;

  /** `spent`: the cost of the plan that they belong to, in steps. */
  constructor(supply: Supply, now: Instant, spent: number) {
    this.supply = supply;
    this.#now = now;
    this.#policy = { ...allocationPolicyOf(supply.policy), isTrial: true };
    this.#each = this.#policy.steps ?? PLAN_STEPS;
    this.#left = PLANS_TOGETHER * this.#each - spent;
  }

  /** The cluster for a trial plan, with these candidates as nodes that are not marked to stop. */
  world(
    demands: readonly RankedDemand[],
    candidates: ReadonlySet<NodeId>,
    excluded = this.supply.excluded,
  ): World {
    return buildWorld({ ...this.supply, demands, excluded, order: orderBut(candidates) });
  }

  /** A plan that may leave demands out. */
  make(world: World, demands: readonly RankedDemand[]): Allocation {
    const steps = Math.max(0, Math.min(this.#each, this.#left));
    const answer = allocate(world, demands, { ...this.#policy, steps }, this.#now);
    this.#left -= answer.steps;
    return answer;
  }

  /** A plan that must be complete. If it leaves something out, {@link isOver} is true from then on. */
  plan(world: World, demands: readonly RankedDemand[]): Allocation {
    const answer = this.make(world, demands);
    this.#isOver ||= answer.leftOut.length > 0;
    return answer;
  }

  /** A trial plan has left something out, so the trials prove nothing. */
  get isOver(): boolean {
    return this.#isOver;
  }
}

interface Asked {
  /** {@link Trials.world} for these demands and candidates. */
  readonly world: World;
  readonly demands: readonly RankedDemand[];
  readonly candidates: ReadonlySet<NodeId>;
}

interface Found {
  readonly spare: ReadonlySet<NodeId>;
  /** A plan that does without them. */
  readonly plan: Present;
}

/** The order of use in which candidates count as not marked to stop. */
const orderBut =
  (candidates: ReadonlySet<NodeId>): WorldInput["order"] =>
  (node, entry) =>
    candidates.has(node.nodeId) ? orderUnmarked(node, entry) : orderOf(node, entry);

/**
 * The candidates that one plan can do without. A trial plan uses the candidates last, so that other nodes replace them. The allocator takes
 * the first node that fits, so releasing the rest may still harm another demand: one more trial plan is made without them. If that needs more
 * new nodes or places less, only the candidates that the present plan does not use are spare.
 */
function spareIn(
  view: (world: World) => World,
  trials: Trials,
  { world, demands, candidates }: Asked,
  known?: Present,
): Found {
  const present = known ?? trials.plan(view(world), demands);
  const unused = notNeeded(candidates, present);
  if (trials.isOver || unused.size === candidates.size) return { spare: unused, plan: present };

  const last = trials.plan(view(withLast(world, candidates)), demands);
  const spare = notNeeded(candidates, last);
  // No further trial is needed: no candidate is spare, or the same ones are spare in both plans.
  if (
    trials.isOver ||
    spare.size === 0 ||
    (spare.size === unused.size && [...unused].every((id) => spare.has(id)))
  )
    return { spare, plan: last };
  const excluded = new Set([...trials.supply.excluded, ...spare]);
  const future = trials.plan(view(trials.world(demands, candidates, excluded)), demands);
  return isAsGood(future, present) ? { spare, plan: last } : { spare: unused, plan: present };
}

/** The world in which candidates are used after other nodes that are up. Those that start keep the place of their request. */
function withLast(world: World, candidates: ReadonlySet<NodeId>): World {
  const isLast = ({ nodeId, starting }: SupplyNode): boolean => candidates.has(nodeId) && starting !== true;
  const nodes = world.nodes.map((node) => (isLast(node) ? { ...node, order: ORDER.wantsToStop } : node));
  return { ...world, nodes };
}

function notNeeded(candidates: ReadonlySet<NodeId>, { needed }: Present): ReadonlySet<NodeId> {
  return new Set([...candidates].filter((id) => !needed.has(id)));
}

/** Whether a plan creates and starts no more nodes, and gives no demand less. */
function isAsGood(future: Present, present: Present): boolean {
  const brought = ({ creates, starts }: Present): number =>
    creates.reduce((total, { count }) => total + count, starts.length);
  return (
    brought(future) <= brought(present) &&
    future.outcomes.every((outcome, i) => outcome.placed >= (present.outcomes[i]?.placed ?? 0))
  );
}

/** Prefix of the names of generated placement groups. */
const GROUP_PREFIX = "group-";

/** The allocator's policy, from the configuration of a cluster. */
export function allocationPolicyOf(policy: Policy): AllocationPolicy {
  const {
    preference,
    among,
    mixes,
    groupFillTimeoutSeconds: groupFillSeconds,
    planSteps: steps,
    remedySteps,
  } = policy;
  return {
    groupPrefix: GROUP_PREFIX,
    groupFillSeconds,
    preference,
    among,
    ...withoutAbsent({ mixes, steps, remedySteps }),
  };
}
