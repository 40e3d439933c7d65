import type { LastPlan, World } from "../../domain/world.ts";
import type { Entry } from "../bins/entry.ts";
import { attempt } from "./attempt.ts";
import type { Attempt } from "./better.ts";
import { isBetter, isBetterByRank } from "./better.ts";
import type { Problem } from "./problem.ts";
import type { Try } from "./hardest-first.ts";
import { FEW_DEMANDS, byKind, triesBySize, hardestFirst } from "./hardest-first.ts";
import type { Bins } from "../bins/bins.ts";
import { closedTo } from "../draft/closed.ts";
import type { Kind } from "../bins/node-kinds.ts";
import { TOLERANCE } from "../../domain/resources.ts";
import type { Way } from "../draft/draft.ts";
import type { Item } from "./mix.ts";
import { findMix, isMixed, mixItems } from "./mix.ts";

/** The best plan found, without reasons unless it is the first one, and the try that made it. */
interface Improved {
  readonly best: Attempt;
  readonly taken: Try;
  /** It is proved that no plan that serves as much costs less. */
  readonly isLeast?: true;
}

/**
 * Looks for a plan that is better than the one in the order of rank (docs/decisions.md, "A plan is tried in several orders"):
 *
 * 1. If the last plan is known and this one may have displaced jobs: with the jobs where the last plan placed them.
 * 2. With the hardest demands first (first fit decreasing), and two ways to choose new nodes if price counts.
 * 3. With some unmet demands before the others ({@link giveChances}).
 * 4. With a mix of sizes, if the search finds a better one ({@link findMix}).
 *
 * A try of kind 2 replaces the best plan if no demand gets less, and it places more or is cheaper. A try of another kind replaces it if the
 * first demand by rank whose placement differs gets more; if none differs, if it is cheaper.
 */
export function improve(problem: Problem, first: Try, inRankOrder: Attempt): Improved {
  if (problem.policy.preference === "bucket-order" || !mayImprove(inRankOrder))
    return { best: inRankOrder, taken: first };
  if (isNearBound(inRankOrder, problem)) return { best: inRankOrder, taken: first };
  problem.ground.budget.shareRest();
  const found =
    problem.kinds < 2 ? { best: inRankOrder, taken: first } : improveByOrder(problem, first, inRankOrder);
  return improveByMix(problem, found);
}

/** Tries a mix of sizes that is better than the best plan, if the search finds one. */
function improveByMix(problem: Problem, found: Improved): Improved {
  const { best } = found;
  const { entries, policy, kinds } = problem;
  if (policy.mixes === "off" || !mayImprove(best)) return found;
  // Jobs of one kind fill the first bucket, and then the next one: no other packing takes fewer nodes.
  if (kinds < 2 && policy.among === "priority" && best.isMet) return found;
  if (best.isMet && isAtBound(best, problem)) return found;
  const items = mixItems(entries, best, problem);
  if (items.length === 0) return found;
  const mixed = new Set<Entry>(items.flatMap(({ asks }) => asks));
  const others = entries.filter((entry) => !mixed.has(entry));
  if (policy.among === "priority" && isFull(problem, items, others, best)) return found;
  // Targets come last, because they also count nodes of the jobs.
  const before = new Set<Entry>(
    others.filter((entry) => entry.kind !== "target" && !isMixed(entry, best.draft, problem)),
  );
  const way: Way = { order: "size", opening: "own" };
  const searched = problem.ground.budget.on("improving", () => {
    const { plan, isLeast } = findMix(problem, beginTry(problem, { way, entries: [...before] }), best, items);
    // What is placed before or after the mix was not part of the search.
    const isAll = others.every(asksNothing);
    const proof = isLeast && isAll ? { isLeast: true as const } : {};
    if (plan === undefined) return { ...found, ...proof };
    const after = byKind(others.filter((entry) => !before.has(entry)));
    const mix = { ...plan, at: before.size };
    const taken: Try = { way, entries: [...before, ...mixed, ...after], mix };
    return { best: beginTry(problem, taken), taken, ...proof };
  });
  if (searched === undefined) return found;
  return searched.best === best || isBetterByRank(searched.best, best, policy) ? searched : found;
}

/**
 * Whether equal slots, and nothing else, are placed on nodes of one bucket, and some are left: then every node is full, and no other packing
 * has more room.
 */
function isFull(
  { ground }: Problem,
  items: readonly Item[],
  others: readonly Entry[],
  best: Attempt,
): boolean {
  const { buckets, nodes } = ground.world;
  const [item] = items;
  if (item === undefined || items.length > 1 || buckets.length > 1 || best.isMet) return false;
  const isPacked = item.asks.every(({ isGang }) => !isGang) && others.every(asksNothing);
  return isPacked && nodes.every(({ deallocated }) => deallocated !== true);
}

/** A job whose slots all run already. */
const asksNothing = (entry: Entry): boolean => entry.kind === "job" && entry.units <= 0;

function improveByOrder(problem: Problem, first: Try, inRankOrder: Attempt): Improved {
  const { entries, policy, ground } = problem;
  const { budget } = ground;
  let best = inRankOrder;
  let taken = first;
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
    if (!mayImprove(best)) return { best, taken };
  }
  for (const one of triesBySize(problem, inRankOrder)) tryOut(one, isBetter);
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

/** Whether another try can help: the plan creates nodes or leaves something unmet. */
function mayImprove({ created, isMet, leftOut }: Attempt): boolean {
  // If something is too expensive to plan, no more steps are spent on what is placed.
  if (leftOut.length > 0) return false;
  return created > 0 || !isMet;
}

/** Whether the plan may have moved jobs: it creates nodes, or a demand has less than in the last plan. */
function mayBeDisplaced({ created, outcomes }: Attempt, last: LastPlan): boolean {
  if (created > 0) return true;
  const before = new Map(last.demands.map(({ set, id, placed }) => [`${set}/${id}`, placed]));
  return outcomes.some(({ set, id, placed }) => placed < (before.get(`${set}/${id}`) ?? 0));
}

/** Maximum number of unmet demands that get another chance, of tries for them, and of demands placed in all these tries together. */
const MOST_CHANCES = 8;
const MOST_TRIES = 36;
const MOST_PLACED = 8000;

/**
 * Tries each demand that the plan leaves unmet once more: before all others, and among those that are as hard to place. Otherwise, at the
 * next observation, smaller demands could take the nodes that were created for a group, and the group would stay unmet beside its own nodes
 * (P6 of architecture.md, Properties). `bySize` is the best plan so far. `tryOut` returns a better plan if the order leads to one. Ends when
 * no order does.
 */
function giveChances(
  byRank: Attempt,
  bySize: Attempt,
  entries: readonly Entry[],
  problem: Pick<Problem, "ground" | "scopes">,
  tryOut: (order: readonly Entry[]) => Attempt | undefined,
): void {
  let tries = Math.min(MOST_TRIES, Math.floor(MOST_PLACED / Math.max(1, entries.length)));
  // No order is worked out that nothing is tried with: of 100,000 jobs each takes 20 ms.
  if (tries === 0) return;
  let best = bySize;
  let met = countMet(byRank);
  const helped = new Set<number>();
  const isBetterIn = (order: readonly Entry[]): boolean => {
    if (tries === 0) return false;
    tries -= 1;
    const better = tryOut(order);
    best = better ?? best;
    return better !== undefined;
  };
  for (let goesOn = true; goesOn;) {
    goesOn = false;
    // Demands that the best plan places now take their position among the met ones.
    if (countMet(best) > met) {
      met = countMet(best);
      goesOn = isBetterIn(hardestFirst(entries, best, problem, { also: helped }));
    }
    for (const rank of unmetFirst(best, entries)) {
      if (tries === 0) return;
      for (const order of ordersWith(rank, helped, entries, best, problem)) {
        if (!isBetterIn(order)) continue;
        helped.add(rank);
        goesOn = true;
        break;
      }
    }
  }
}

const countMet = ({ outcomes }: Attempt): number =>
  outcomes.reduce((met, { placed, asked }) => (placed >= asked ? met + 1 : met), 0);

/** Ranks of unmet demands: first those that are placed as a whole or not at all, then the others, by rank. */
function unmetFirst({ outcomes }: Attempt, entries: readonly Entry[]): readonly number[] {
  const whole: number[] = [];
  const others: number[] = [];
  for (const entry of entries) {
    const outcome = outcomes[entry.rank];
    if (whole.length >= MOST_CHANCES) break;
    if (outcome === undefined || outcome.placed >= outcome.asked) continue;
    const list = isWhole(entry) ? whole : others;
    if (list.length < MOST_CHANCES) list.push(entry.rank);
  }
  return [...whole, ...others].slice(0, MOST_CHANCES);
}

/** Whether a demand is placed as a whole or not at all. */
function isWhole(entry: Entry): boolean {
  return entry.kind === "groups" || (entry.kind === "job" && entry.together !== "anywhere");
}

/** The orders in which an unmet demand is tried. Demands that were helped before stay among the met ones. */
function* ordersWith(
  rank: number,
  helped: ReadonlySet<number>,
  entries: readonly Entry[],
  best: Attempt,
  problem: Pick<Problem, "ground" | "scopes">,
): Generator<readonly Entry[]> {
  const [one] = entries.filter((entry) => entry.rank === rank);
  if (one === undefined) return;
  const others = entries.filter((entry) => entry.rank !== rank);
  yield [one, ...hardestFirst(others, best, problem, { also: helped })];
  yield hardestFirst(entries, best, problem, { also: helped, before: rank });
  // In its own position: a job after equal ones of a higher rank, a target before those that more buckets can serve.
  yield hardestFirst(entries, best, problem, { also: new Set([...helped, rank]) });
  // In rank order: the best plan may have come from an order in which demands that it places came last.
  yield [one, ...others];
}

/**
 * With fewer demands or fewer kinds than this, all tries are made. They cost little, and with few sizes of jobs the order of packing may
 * matter on every node.
 */
const LEAST_DEMANDS = 1000;
const LEAST_KINDS = 32;

/** The part of all nodes in use that another try must be able to save. */
const WORTH_TRYING = 0.03;

/**
 * Whether a complete plan for many demands is so close to a lower bound of its cost that no other try is worth making (docs/decisions.md,
 * "A plan near its bound is not packed again"). The bound for one resource: the amount that is used on new nodes and exceeds what is left
 * on the other nodes, at the lowest price (or number of nodes) for that amount. The largest of these bounds counts. (It is the
 * linear-programming bound of vector bin packing, one resource at a time.) Nodes that one job has to itself cannot be saved.
 */
function isNearBound(best: Attempt, problem: Problem): boolean {
  const { entries, kinds } = problem;
  if (entries.length < LEAST_DEMANDS || kinds < LEAST_KINDS) return false;
  if (!best.isMet) return false;
  const { load, bound } = boundOfLoad(best, problem);
  return load.shared - bound <= WORTH_TRYING * load.all;
}

/**
 * Whether no mix can have fewer new nodes, or cheaper ones, than a complete plan: it comes to that bound, nothing is started, no job has a node to itself,
 * and no job prefers some nodes to others.
 */
function isAtBound(best: Attempt, problem: Problem): boolean {
  const { bins } = best.draft;
  if (bins.choices.size > 0 || bins.toStart.size > 0) return false;
  const { load, bound } = boundOfLoad(best, problem);
  if (load.isClosed) return false;
  const least = problem.policy.among === "cheapest" ? bound : Math.ceil(bound - TOLERANCE);
  return load.shared <= least + TOLERANCE * load.shared;
}

function boundOfLoad(best: Attempt, { ground, policy, now }: Problem): { load: Load; bound: number } {
  const { bins } = best.draft;
  const isPriced = policy.among === "cheapest";
  const open = ground.world.buckets.flatMap((offer, index) => {
    const kind = ground.offerKinds[index];
    return kind === undefined || closedTo({ world: ground.world, now }, offer) !== undefined ? [] : [kind];
  });
  const load = loadOf(bins, (kind) => weightOf(ground.world, kind, isPriced));
  let bound = 0;
  for (let r = 0; r < bins.width; r += 1) {
    const over = (load.used[r] ?? 0) - (load.left[r] ?? 0);
    const least = open.reduce(
      (ratio, kind) => Math.min(ratio, weightOf(ground.world, kind, isPriced) / (kind.capacity[r] ?? 0)),
      Number.POSITIVE_INFINITY,
    );
    if (over > 0 && Number.isFinite(least)) bound = Math.max(bound, over * least);
  }
  return { load, bound };
}

/** The weight of one node: its price per hour, or 1. */
function weightOf({ buckets }: World, { place }: Kind, isPriced: boolean): number {
  return isPriced ? (buckets[place.offer]?.price ?? 0) : 1;
}

interface Load {
  /** Used on new nodes that jobs may share, by resource. */
  readonly used: number[];
  /** Left on nodes that exist or are in flight, by resource. */
  readonly left: number[];
  /** Weight of all needed nodes, and of the new nodes that jobs may share. */
  all: number;
  shared: number;
  /** Some node has a job that wants it to itself: what is free there is not counted. */
  isClosed: boolean;
}

function loadOf(bins: Bins, weigh: (kind: Kind) => number): Load {
  const { width, free } = bins;
  const load: Load = { used: [], left: [], all: 0, shared: 0, isClosed: false };
  for (let r = 0; r < width; r += 1) {
    load.used.push(0);
    load.left.push(0);
  }
  for (let bin = 0; bin < bins.count.length; bin += 1) {
    const kind = bins.kindOf(bin);
    const nodes = bins.count[bin] ?? 0;
    const isPlanned = bins.origin[bin] === "planned";
    if (bins.isClaimed(bin)) load.all += nodes * weigh(kind);
    if (bins.isClosed(bin)) {
      load.isClosed = true;
      continue;
    }
    if (isPlanned) load.shared += nodes * weigh(kind);
    for (let r = 0; r < width; r += 1) {
      const left = Math.max(0, free[bin * width + r] ?? 0);
      if (isPlanned) load.used[r] = (load.used[r] ?? 0) + nodes * ((kind.capacity[r] ?? 0) - left);
      else load.left[r] = (load.left[r] ?? 0) + nodes * left;
    }
  }
  return load;
}
