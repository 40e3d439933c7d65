import type { Allocation, AllocationPolicy } from "../../domain/allocation.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import { compareText } from "../../domain/text.ts";
import type { Instant } from "../../domain/units.ts";
import type { World } from "../../domain/world.ts";
import { attempt } from "./attempt.ts";
import { improve } from "./improve.ts";
import { boundOf } from "./lower-bound.ts";
import type { Problem } from "./problem.ts";
import { readProblem } from "./problem.ts";
import type { Try } from "./hardest-first.ts";
import type { Bins } from "../bins/bins.ts";
import { createsOf } from "../draft/creates.ts";
import { reportGroups } from "../place/group-report.ts";
import type { Attempt } from "./better.ts";
import { raisedWorld } from "../why/raised-world.ts";
import { Trials, tryRemedies } from "./try-remedies.ts";

/**
 * Works out what the demands need: which existing nodes, and which new ones in which bucket and placement group, under every limit. Rank
 * (priority, then position, set name and id) decides which demand gets scarce capacity. The order of everything else in the input changes
 * nothing. Bound tasks occupy their hosts before all else, even beyond what is free there, because the scheduler will not move them
 * (architecture.md, Merging demand). `now` decides which pauses of buckets have ended, and which groups are no longer waited for. Every
 * demand gets an outcome, in the order of rank.
 *
 * The first try places the demands in the order of rank. If it creates nodes or leaves something unmet, {@link improve} looks for a better
 * plan. Remedies of what is unmet are tried before they are told ({@link tryRemedies}).
 */
export function allocate(
  world: World,
  demands: readonly RankedDemand[],
  policy: AllocationPolicy,
  now: Instant,
): Allocation {
  const ranked = byRank(demands);
  const withReasons = policy.isTrial !== true;
  const problem = readProblem(world, ranked, policy, now);
  const { plan, cost, isLeast } = solve(problem, withReasons);
  if (!withReasons || plan.isMet) return new Answer(plan, problem, isLeast);
  const { budget } = problem.ground;
  const trials = new Trials(
    plan.outcomes,
    budget,
    cost,
    policy,
    (raises, { steps, explainedTo, first, at = now }) => {
      const other = raisedWorld(world, raises);
      if (other === undefined) return undefined;
      const some = first === undefined ? ranked : ranked.slice(0, first);
      return solve(readProblem(other, some, { ...policy, steps }, at), explainedTo !== undefined, explainedTo)
        .plan;
    },
  );
  return new Answer({ ...plan, outcomes: tryRemedies(plan.outcomes, trials) }, problem, isLeast);
}

interface Solved {
  readonly plan: Attempt;
  /** Steps that it took. */
  readonly cost: number;
  /** No plan costs less. */
  readonly isLeast: true | undefined;
}

/** The best plan for a problem. `withReasons`: it says why demands are unmet, jobs up to the rank `last`. */
function solve(problem: Problem, withReasons: boolean, last = Infinity): Solved {
  const first: Try = { way: { order: "rank", opening: "own" }, entries: problem.entries };
  const inRankOrder = attempt(problem, first, { withReasons, last });
  const { best, taken, isLeast } = improve(problem, first, inRankOrder);
  const { budget } = problem.ground;
  const cost = budget.spent;
  // Only the chosen plan needs reasons, and only for what it leaves unmet.
  if (!withReasons || taken === first || best.isMet) return { plan: best, cost, isLeast };
  // Repeating the try costs what it cost before.
  const plan = budget.on("repeating", () => attempt(problem, taken, { withReasons: true, last })) ?? best;
  return { plan, cost, isLeast };
}

/** Sorted by priority (high first), then position, set name and id. */
function byRank(demands: readonly RankedDemand[]): readonly RankedDemand[] {
  let before = demands[0];
  for (const one of demands) {
    if (before !== undefined && compareRanks(before, one) > 0) return demands.toSorted(compareRanks);
    before = one;
  }
  return demands;
}

function compareRanks(a: RankedDemand, b: RankedDemand): number {
  return (
    b.demand.priority - a.demand.priority ||
    a.demand.position - b.demand.position ||
    compareText(a.set, b.set) ||
    compareText(a.demand.id, b.demand.id)
  );
}

/**
 * Parts of an allocation that are computed on first use: a plan that is only tried never needs them. This is a class because getters
 * written into each object would give each object its own hidden class, which keeps the whole plan in memory until a full collection
 * (docs/decisions.md, "No getter in an object that each plan makes again").
 */
class Answer implements Allocation {
  readonly creates: Allocation["creates"];
  readonly starts: Allocation["starts"];
  readonly outcomes: Allocation["outcomes"];
  readonly names: Allocation["names"];
  readonly groups: Allocation["groups"];
  readonly placedBy: Allocation["placedBy"];
  readonly leftOut: Allocation["leftOut"];
  readonly steps: number;
  readonly orders?: NonNullable<Allocation["orders"]>;
  readonly #bins: Bins;
  readonly #attempt: Attempt;
  readonly #problem: Problem;
  readonly #isLeast: true | undefined;
  #needed: Allocation["needed"] | undefined;

  constructor(best: Attempt, problem: Problem, isLeast: true | undefined) {
    const { draft, outcomes, order, leftOut } = best;
    const { bins } = draft;
    this.#attempt = best;
    this.#problem = problem;
    this.#isLeast = isLeast;
    this.leftOut = leftOut;
    this.steps = bins.budget.spent;
    this.creates = createsOf(bins);
    this.starts = [...bins.toStart].flatMap((bin) => bins.node(bin)?.nodeId ?? []);
    this.outcomes = outcomes;
    this.names = draft.named.why;
    this.groups = reportGroups(draft);
    this.placedBy = draft.way.order;
    if (order !== undefined) this.orders = order.orders;
    this.#bins = bins;
  }

  get needed(): Allocation["needed"] {
    return (this.#needed ??= this.#bins.needed());
  }

  get bound(): Allocation["bound"] {
    const nothing: Try = { way: { order: "rank", opening: "own" }, entries: [] };
    const begin = (): Attempt => attempt(this.#problem, nothing, { withReasons: false });
    const bound = boundOf(this.#problem, this.#attempt, begin);
    return this.#isLeast === true && bound?.unit === "price" ? { ...bound, least: bound.amount } : bound;
  }

  get stepsBySet(): Allocation["stepsBySet"] {
    return this.#bins.budget.spentBySet();
  }

  get loads(): Allocation["loads"] {
    return this.#bins.loads();
  }
}
