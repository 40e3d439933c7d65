import type { Allocation, AllocationPolicy } from "../../domain/allocation.ts";
import type { LastPlan, World } from "../../domain/world.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import { compareText } from "../../domain/text.ts";
import type { Instant } from "../../domain/units.ts";
import { bindingsOf } from "../bins/bound-slots.ts";
import { countedOf } from "../bins/counted.ts";
import type { Entry } from "../bins/entry.ts";
import { readEntry } from "../bins/entry.ts";
import type { Ask } from "../bins/job-ask.ts";
import { JobClasses } from "../bins/job-classes.ts";
import { Ground } from "../bins/node-kinds.ts";
import { orderNodes } from "../bins/node-order.ts";
import { Budget, PLAN_STEPS } from "../constraints/budget.ts";
import { sharedStateOf } from "../constraints/shared-pools.ts";
import { Answer } from "./answer.ts";
import type { Problem } from "./attempt.ts";
import { attempt } from "./attempt.ts";
import type { Attempt } from "./better.ts";
import { isBetter, isBetterByRank } from "./better.ts";
import { namedBy } from "./named-by.ts";
import { isNearBound } from "./near-bound.ts";
import { Scopes } from "./scopes.ts";
import { giveChances } from "./second-chance.ts";
import type { Try } from "./tries.ts";
import { FEW_DEMANDS, byKind, triesBySize } from "./tries.ts";

/**
 * Works out what the demands need: which existing nodes, and which new ones in which bucket and placement group, under every limit. Rank
 * (priority, then position, set name and id) decides who gets scarce capacity; the order of everything else in the input changes nothing.
 * Bound tasks occupy their hosts first, of all jobs, even beyond what is free there: the scheduler will not move them (architecture.md,
 * Merging demand). `now` ends pauses of buckets, and the time that a group has to be filled. Every demand gets an outcome, in the order of rank.
 *
 * Demands are settled one after the other in the order of rank. If that makes new nodes or leaves something unmet, the demands that could
 * be had are tried once more, the hardest first (first fit decreasing), with two ways to choose new nodes where price counts. A later try
 * is taken only if it is cheaper, or has more, and leaves no demand with less; where it is cheaper as a few go short, it is tried with
 * those first. Where the last plan is known and somebody may have been displaced, it is tried with the jobs where that had them. In the
 * last tries some of what is still unmet is packed with what could be had: such a try is taken if the first demand by rank that it
 * changes has more.
 */
export function allocate(
  world: World,
  demands: readonly RankedDemand[],
  policy: AllocationPolicy,
  now: Instant,
): Allocation {
  const ranked = byRank(demands);
  const budget = new Budget(policy.steps ?? PLAN_STEPS, new Set(demands.map(({ set }) => set)).size);
  const { unread, resources, mayBePools } = namedBy(ranked, budget);
  const ground = new Ground(world, countedOf(world, resources), budget);
  const shared = sharedStateOf(world.pools ?? [], mayBePools);
  const classes = new JobClasses(ground, shared, policy.among === "cheapest" ? "never" : "allow");
  const running: Ask[] = [];
  const entries: Entry[] = [];
  ranked.forEach((one, rank) => {
    budget.turnTo(one.set);
    if (budget.isSpent) unread.set(rank, one);
    if (unread.has(rank)) return;
    const entry = readEntry(one, rank, classes);
    if (entry.kind === "job" && entry.demand.placed.length > 0) running.push(entry);
    entries.push(entry);
  });
  const bindings = bindingsOf(world, ground, running);
  const order = orderNodes(ground);
  const least = classes.least();
  const problem: Problem = {
    scopes: new Scopes(ground),
    ground,
    order,
    entries,
    unread: [...unread].map(([rank, one]) => ({ ...one, rank })),
    kinds: classes.count + entries.length - classes.jobs,
    bindings,
    shared,
    least,
    policy,
    now,
  };
  const first: Try = { way: { order: "rank", opening: "own" }, entries };
  const tells = policy.isTrial !== true;
  const inRankOrder = attempt(problem, first.way, first.entries, tells);
  let best = inRankOrder;
  if (policy.preference === "bucket-order" || !mayImprove(best, problem)) return new Answer(best);
  if (isNearBound(best, problem)) return new Answer(best);
  let taken = first;
  budget.shareRest();
  const tryOut = (one: Try, isPreferred: typeof isBetter): Attempt | undefined => {
    const other = budget.on("improving", () => tryWay(problem, one));
    if (other === undefined) return undefined;
    if (!isPreferred(other, best, policy)) return other;
    best = other;
    taken = one;
    return other;
  };
  const last = entries.length <= FEW_DEMANDS ? world.last?.() : undefined;
  if (last !== undefined && mayBeDisplaced(best, last)) {
    tryOut(
      { way: { order: "size", opening: "own", asBefore: true }, entries: byKind(entries) },
      isBetterByRank,
    );
    if (!mayImprove(best, problem)) return new Answer(best);
  }
  for (const one of triesBySize(problem, inRankOrder)) {
    const other = tryOut(one, isBetter);
    const short = other === undefined ? new Set<number>() : shortIn(other, best, policy);
    // It is cheaper, and only some must go short for that: maybe not if they come first.
    if (short.size > 0) tryOut({ ...one, entries: putFirst(one.entries, short) }, isBetter);
  }
  const { opening } = taken.way;
  giveChances(inRankOrder, best, entries, problem, (order) => {
    const other = tryOut({ way: { order: "size", opening }, entries: order }, isBetterByRank);
    return other === best ? other : undefined;
  });
  // Reasons are made for what is unmet in the plan that is taken, and only there.
  const isTold = !tells || taken === first || best.outcomes.every(({ placed, asked }) => placed >= asked);
  if (isTold) return new Answer(best);
  // It costs what it did when it was tried.
  return new Answer(budget.on("repeating", () => attempt(problem, taken.way, taken.entries, true)) ?? best);
}

/** Copying this many amounts costs about as much as one step. */
const STEPS_OF_AMOUNTS = 8;

/** One more try, for which there is enough left to begin it. */
function tryWay(problem: Problem, { way, entries }: Try): Attempt {
  const { budget, world, resources } = problem.ground;
  budget.spend((world.nodes.length * (1 + resources.length)) / STEPS_OF_AMOUNTS);
  return attempt(problem, way, entries, false);
}

/** So many demands that go short in a cheaper plan are tried first; more are likely what makes it cheaper. */
const MOST_SHORT = 8;

/** The ranks of the few demands that have less in a cheaper plan; nobody, if it is not cheaper. */
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

/** Somebody has less than in the last plan, or the same and with new nodes: maybe others are where it was. */
function mayBeDisplaced({ created, outcomes }: Attempt, last: LastPlan): boolean {
  if (created > 0) return true;
  const before = new Map(last.demands.map(({ set, id, placed }) => [`${set}/${id}`, placed]));
  return outcomes.some(({ set, id, placed }) => placed < (before.get(`${set}/${id}`) ?? 0));
}

export function byRank(demands: readonly RankedDemand[]): readonly RankedDemand[] {
  const isSorted = demands.every((one, i) => i === 0 || compareRanks(demands[i - 1] ?? one, one) <= 0);
  return isSorted ? demands : demands.toSorted(compareRanks);
}

function compareRanks(a: RankedDemand, b: RankedDemand): number {
  return (
    b.demand.priority - a.demand.priority ||
    a.demand.position - b.demand.position ||
    compareText(a.set, b.set) ||
    compareText(a.demand.id, b.demand.id)
  );
}

/** A single class of jobs is packed as it is packed; and where everything has its place without new nodes, nothing is to be gained. */
function mayImprove({ created, outcomes, leftOut }: Attempt, { kinds }: Problem): boolean {
  // Where something costs too much, nothing more is spent on what is placed already.
  if (kinds < 2 || leftOut.length > 0) return false;
  return created > 0 || outcomes.some(({ placed, asked }) => placed < asked);
}
