import type { Allocation } from "../../domain/allocation.ts";
import type { Bins } from "../bins/bins.ts";
import type { Entry } from "../bins/entry.ts";
import type { Ask } from "../bins/job-ask.ts";
import { closedTo } from "../draft/closed.ts";
import type { Attempt } from "./better.ts";
import type { Problem } from "./problem.ts";

/** Rounding of the last bits must not lift a bound above the truth. */
const SAFETY = 1 - 1e-9;

/** Where new nodes come from: what one holds, by position of the resource, and what it weighs: its price, or 1. */
interface Source {
  readonly holds: ArrayLike<number>;
  readonly weight: number;
}

/**
 * What the new nodes of a plan come to, and the least that those of any plan come to that serves as much. Undefined if it has no new nodes, or
 * some without a price. `empty` is the plan without any demand.
 *
 * The bound is one of linear programming. It gives each amount of one resource the lowest price that it has on any new node, and each slot that
 * wants a node to itself the price of the cheapest node that holds it. Then no new node serves more than it costs. Existing nodes are free,
 * and serve at most what is free there. The best of the resources counts, or what the targets need beyond the nodes that are there.
 */
export function boundOf(problem: Problem, best: Attempt, empty: Attempt): Allocation["bound"] {
  const { policy, ground } = problem;
  const isPriced = policy.among === "cheapest";
  const { bins } = best.draft;
  const isUnpriced = (bin: number): boolean =>
    ground.world.buckets[bins.placeOfBin(bin).offer]?.price === undefined;
  if (best.created === 0 || (isPriced && [...bins.planned, ...bins.toStart].some(isUnpriced)))
    return undefined;
  const sources = sourcesOf(problem, isPriced);
  let least = targetsNeed(problem, best, empty, isPriced);
  for (let r = 0; r < Math.max(1, bins.width); r += 1)
    least = Math.max(least, jobsNeed(problem, best, empty, sources, r));
  return isPriced
    ? { unit: "price", amount: best.price, least: Math.min(best.price, least * SAFETY) }
    : { unit: "nodes", amount: best.created, least: Math.ceil(least - 1e-6) };
}

/** New nodes of the open offers, and deallocated nodes. */
function sourcesOf({ ground, now }: Problem, isPriced: boolean): readonly Source[] {
  const { world, offerKinds, nodeKinds } = ground;
  const weigh = (price: number | undefined): number => (isPriced ? (price ?? Number.POSITIVE_INFINITY) : 1);
  const offers = world.buckets.flatMap((offer, index) => {
    const kind = offerKinds[index];
    return kind === undefined || closedTo({ world, now }, offer) !== undefined
      ? []
      : [{ holds: kind.capacity, weight: weigh(offer.price) }];
  });
  const starts = world.nodes.flatMap(({ deallocated }, index) => {
    const kind = nodeKinds[index];
    return kind === undefined || deallocated !== true
      ? []
      : [{ holds: kind.capacity, weight: weigh(world.buckets[kind.place.offer]?.price) }];
  });
  return [...offers, ...starts];
}

/** What the jobs need of new nodes, if resource `r` and slots with nodes to themselves are counted. */
function jobsNeed(
  { entries }: Problem,
  { outcomes }: Attempt,
  { draft: { bins } }: Attempt,
  sources: readonly Source[],
  r: number,
): number {
  const rate = sources.reduce(
    (least, { holds, weight }) => ((holds[r] ?? 0) > 0 ? Math.min(least, weight / (holds[r] ?? 0)) : least),
    Number.POSITIVE_INFINITY,
  );
  let need = 0;
  const alone = new Map<Ask["jobClass"], number>();
  for (const entry of entries) {
    const outcome = outcomes[entry.rank];
    if (outcome === undefined || entry.kind !== "job") continue;
    const { slotsPerUnit, units, jobClass } = entry;
    const placed = slotsPerUnit === 0 ? 0 : units - (outcome.asked - outcome.placed) / slotsPerUnit;
    if (placed <= 0 || jobClass.takes === undefined) continue;
    const { resource, amount } = jobClass.takes;
    const at = resource.indexOf(r);
    if (hasNodes(entry)) {
      const weight = alone.get(jobClass) ?? cheapestFor(entry, sources);
      alone.set(jobClass, weight);
      need += placed * weight;
    } else if (at >= 0 && Number.isFinite(rate)) need += placed * slotsPerUnit * (amount[at] ?? 0) * rate;
  }
  for (let bin = 0; need > 0 && bin < bins.count.length; bin += 1) {
    if (bins.isClosed(bin) || bins.node(bin)?.deallocated === true) continue;
    let worth = Number.isFinite(rate) ? Math.max(0, bins.free[bin * bins.width + r] ?? 0) * rate : 0;
    if (bins.isEmpty(bin)) for (const weight of alone.values()) worth = Math.max(worth, weight);
    need -= worth * (bins.count[bin] ?? 0);
  }
  return need;
}

/** Whether each unit of the job has a node to itself. */
const hasNodes = ({ requirements, isGang }: Ask): boolean =>
  requirements.alone === "job" || (requirements.alone !== undefined && isGang);

/** The lowest weight of a node that holds a unit. */
function cheapestFor({ jobClass: { takes } }: Ask, sources: readonly Source[]): number {
  const fits = ({ holds }: Source): boolean =>
    takes?.resource.every((r, i) => (holds[r] ?? 0) >= (takes.amount[i] ?? 0) * SAFETY) === true;
  const least = sources.reduce(
    (weight, source) => (fits(source) ? Math.min(weight, source.weight) : weight),
    Number.POSITIVE_INFINITY,
  );
  return Number.isFinite(least) ? least : 0;
}

/** What targets and groups need beyond the nodes of their arrays that are there: of each array the largest need, of all arrays together. */
function targetsNeed({ entries, scopes }: Problem, best: Attempt, empty: Attempt, isPriced: boolean): number {
  const needs = new Map<string, number>();
  for (const entry of entries) {
    if (entry.kind === "job") continue;
    const { unit, count } = placedOf(entry, best);
    const { offers, accepts } = scopes.of(entry);
    const there = nodesThere(empty.draft.bins, accepts, unit);
    const rate = offers.reduce((least, { price = Number.POSITIVE_INFINITY, cores }) => {
      const weight = isPriced ? price : 1;
      return Math.min(least, unit === "nodes" ? weight : weight / Math.max(1, cores));
    }, Number.POSITIVE_INFINITY);
    const need = Number.isFinite(rate) ? Math.max(0, count - there) * rate : 0;
    needs.set(entry.demand.array, Math.max(needs.get(entry.demand.array) ?? 0, need));
  }
  return [...needs.values()].reduce((sum, need) => sum + need, 0);
}

function placedOf(entry: Exclude<Entry, Ask>, { outcomes }: Attempt) {
  const placed = outcomes[entry.rank]?.placed ?? 0;
  if (entry.kind === "target") return { unit: entry.demand.amount.unit, count: placed };
  const { unit, count } = entry.demand.size;
  return { unit, count: placed * count };
}

function nodesThere(
  bins: Bins,
  accepts: (place: ReturnType<Bins["placeOfBin"]>) => boolean,
  unit: "nodes" | "cores",
): number {
  let there = 0;
  for (let bin = 0; bin < bins.count.length; bin += 1)
    if (bins.node(bin)?.deallocated !== true && accepts(bins.placeOfBin(bin)))
      there += (bins.count[bin] ?? 0) * (unit === "nodes" ? 1 : (bins.cores[bin] ?? 0));
  return there;
}
