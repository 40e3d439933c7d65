import type { AllocationPolicy } from "../../domain/allocation.ts";
import type { LastPlan } from "../../domain/world.ts";
import type { Entry } from "../bins/entry.ts";
import { attempt } from "./attempt.ts";
import type { Attempt } from "./better.ts";
import { isBetter, isBetterByRank } from "./better.ts";
import { isNearBound } from "./near-bound.ts";
import type { Problem } from "./problem.ts";
import { giveChances } from "./second-chance.ts";
import type { Try } from "./tries.ts";
import { FEW_DEMANDS, byKind, triesBySize } from "./tries.ts";

/** The best plan found, without reasons unless it is the first one, and the try that made it. */
export interface Improved {
  readonly best: Attempt;
  readonly taken: Try;
}

/**
 * Looks for a plan that is better than the one in the order of rank (docs/decisions.md, "A plan is tried in several orders"):
 *
 * 1. If the last plan is known and this one may have displaced jobs: with the jobs where the last plan placed them.
 * 2. With the hardest demands first (first fit decreasing), and two ways to choose new nodes if price counts. If such a try is cheaper but
 *    gives a few demands less, the same again with those first.
 * 3. With some unmet demands before the others ({@link giveChances}).
 *
 * A try of kind 2 replaces the best plan if no demand gets less, and it places more or is cheaper. A try of kind 1 or 3 replaces it if the
 * first demand by rank whose placement differs gets more; if none differs, if it is cheaper.
 */
export function improve(problem: Problem, first: Try, inRankOrder: Attempt): Improved {
  const { entries, policy, ground } = problem;
  let best = inRankOrder;
  let taken = first;
  if (policy.preference === "bucket-order" || !mayImprove(best, problem)) return { best, taken };
  if (isNearBound(best, problem)) return { best, taken };
  const { budget } = ground;
  budget.shareRest();
  const tryOut = (one: Try, isPreferred: typeof isBetter): Attempt | undefined => {
    const other = budget.on("improving", () => beginTry(problem, one));
    if (other === undefined || !isPreferred(other, best, policy)) return other;
    best = other;
    taken = one;
    return other;
  };
  const last = entries.length <= FEW_DEMANDS ? ground.world.last?.() : undefined;
  if (last !== undefined && mayBeDisplaced(best, last)) {
    tryOut(
      { way: { order: "size", opening: "own", asBefore: true }, entries: byKind(entries) },
      isBetterByRank,
    );
    if (!mayImprove(best, problem)) return { best, taken };
  }
  for (const one of triesBySize(problem, inRankOrder)) {
    const other = tryOut(one, isBetter);
    const short = other === undefined ? new Set<number>() : shortIn(other, best, policy);
    // It is cheaper, but a few demands get less. Perhaps not if they are placed first.
    if (short.size > 0) tryOut({ ...one, entries: putFirst(one.entries, short) }, isBetter);
  }
  const { opening } = taken.way;
  giveChances(inRankOrder, best, entries, problem, (order) => {
    const other = tryOut({ way: { order: "size", opening }, entries: order }, isBetterByRank);
    return other === best ? other : undefined;
  });
  return { best, taken };
}

/** Copying this many amounts costs about one step. */
const AMOUNTS_PER_STEP = 8;

/** Makes one try. Its steps begin with the copy of what is free on the nodes. */
function beginTry(problem: Problem, one: Try): Attempt {
  const { budget, world, resources } = problem.ground;
  budget.spend(Math.ceil((world.nodes.length * (1 + resources.length)) / AMOUNTS_PER_STEP));
  return attempt(problem, one, { withReasons: false });
}

/** Whether another try can help: there are at least two kinds of demand, and the plan creates nodes or leaves something unmet. */
function mayImprove({ created, outcomes, leftOut }: Attempt, { kinds }: Problem): boolean {
  // If something is too expensive to plan, no more steps are spent on what is placed.
  if (kinds < 2 || leftOut.length > 0) return false;
  return created > 0 || outcomes.some(({ placed, asked }) => placed < asked);
}

/** Whether the plan may have moved jobs: it creates nodes, or a demand has less than in the last plan. */
function mayBeDisplaced({ created, outcomes }: Attempt, last: LastPlan): boolean {
  if (created > 0) return true;
  const before = new Map(last.demands.map(({ set, id, placed }) => [`${set}/${id}`, placed]));
  return outcomes.some(({ set, id, placed }) => placed < (before.get(`${set}/${id}`) ?? 0));
}

/** Maximum number of demands that are placed first because a cheaper plan gives them less. If there are more, they are probably the saving. */
const MOST_SHORT = 8;

/** The ranks of the few demands that a cheaper plan gives less. Empty if it is not cheaper. */
function shortIn(other: Attempt, best: Attempt, { among }: AllocationPolicy): ReadonlySet<number> {
  const isCheaper = among === "priority" ? other.created < best.created : other.price < best.price;
  const short = new Set<number>();
  if (!isCheaper || best.outcomes.length > FEW_DEMANDS) return short;
  for (const [rank, { placed }] of other.outcomes.entries())
    if (placed < (best.outcomes[rank]?.placed ?? 0)) short.add(rank);
  return short.size > MOST_SHORT ? new Set() : short;
}

function putFirst(entries: readonly Entry[], ranks: ReadonlySet<number>): readonly Entry[] {
  const isFirst = ({ rank }: Entry): boolean => ranks.has(rank);
  return [...entries.filter(isFirst), ...entries.filter((entry) => !isFirst(entry))];
}
