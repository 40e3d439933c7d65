import type { Allocation } from "../../domain/allocation.ts";
import type { BucketOffer } from "../../domain/world.ts";
import type { Bins } from "../bins/bins.ts";
import type { Entry } from "../bins/entry.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { JobClass } from "../bins/job-class.ts";
import type { Kind } from "../bins/node-kinds.ts";
import type { Shape } from "../bins/shape.ts";
import type { Offers } from "../draft/offered.ts";
import { openOffers } from "../place/offers.ts";
import type { Attempt } from "./better.ts";
import type { Problem } from "./problem.ts";

/** Rounding of the last bits must not lift a bound above the truth. */
const SAFETY = 1 - 1e-9;

/**
 * What the new nodes of a plan come to, and the least that those of any plan come to that serves as much: as a price, if all of them have one.
 * Undefined if it has no new nodes, as most plans. `begin` makes the plan without any demand.
 *
 * The bound is one of linear programming. It gives each amount of one resource the lowest price that it has on a new node that the job may
 * use, and each slot that wants a node to itself the price of the cheapest node that holds it. Then no new node serves more than it costs.
 * Existing nodes are free, and serve at most what is free there. The best of the resources counts, or what the targets need beyond the nodes
 * that are there.
 */
export function boundOf(problem: Problem, best: Attempt, begin: () => Attempt): Allocation["bound"] {
  if (best.created === 0) return undefined;
  const { buckets } = problem.ground.world;
  const { bins } = best.draft;
  const empty = begin();
  const made = [...bins.planned, ...bins.toStart];
  const isPriced = made.every((bin) => buckets[bins.placeOfBin(bin).offer]?.price !== undefined);
  const weigh = (offer: BucketOffer | undefined): number =>
    isPriced ? (offer?.price ?? Number.POSITIVE_INFINITY) : 1;
  let least = targetsNeed(problem, best, empty, weigh);
  for (let r = 0; r < Math.max(1, bins.width); r += 1)
    least = Math.max(least, new JobsNeed(problem, empty, weigh, r).of(best));
  return isPriced
    ? { unit: "price", amount: best.price, least: Math.min(best.price, least * SAFETY) }
    : { unit: "nodes", amount: best.created, least: Math.ceil(least - 1e-6) };
}

type Weigh = (offer: BucketOffer | undefined) => number;

/** What nodes hold, and what one weighs. */
interface Source {
  readonly kind: Kind;
  readonly weight: number;
}

/** What jobs need of new nodes, if one resource and the slots with nodes to themselves are counted. */
class JobsNeed {
  readonly #problem: Problem;
  readonly #empty: Attempt;
  readonly #weigh: Weigh;
  readonly #resource: number;
  /** By open offers: the lowest price of the resource there, and a shape that uses them. */
  readonly #rates = new Map<Offers, { readonly rate: number; readonly shapes: Set<Shape> }>();
  /** By class of jobs with nodes to themselves: the price of the cheapest node for a unit. */
  readonly #alone = new Map<JobClass, number>();

  constructor(problem: Problem, empty: Attempt, weigh: Weigh, resource: number) {
    this.#problem = problem;
    this.#empty = empty;
    this.#weigh = weigh;
    this.#resource = resource;
  }

  of({ outcomes }: Attempt): number {
    let need = 0;
    for (const entry of this.#problem.entries) {
      const outcome = outcomes[entry.rank];
      if (outcome === undefined || entry.kind !== "job" || entry.slotsPerUnit === 0) continue;
      const placed = entry.units - (outcome.asked - outcome.placed) / entry.slotsPerUnit;
      if (placed > 0) need += placed * this.#worthOf(entry);
    }
    return need > 0 ? need - this.#worthThere() : 0;
  }

  /** What a unit is worth. */
  #worthOf(ask: Ask): number {
    const { jobClass, requirements, slotsPerUnit, isGang } = ask;
    const { takes, shape } = jobClass;
    if (takes === undefined) return 0;
    const grouped = requirements.grouped || ask.together === "one-group";
    const { draft } = this.#empty;
    const offers = openOffers(draft, ask, this.#problem.scopes.of(ask), grouped);
    if (requirements.alone === "job" || (requirements.alone !== undefined && isGang)) {
      const known = this.#alone.get(jobClass);
      const fits = ({ kind }: Source): boolean =>
        takes.resource.every((at, i) => (kind.capacity[at] ?? 0) >= (takes.amount[i] ?? 0) * SAFETY);
      const worth =
        known ??
        finite(
          Math.min(
            ...this.#sources(offers)
              .filter(fits)
              .map(({ weight }) => weight),
          ),
        );
      this.#alone.set(jobClass, worth);
      return worth;
    }
    const amount = takes.amount[takes.resource.indexOf(this.#resource)] ?? 0;
    if (amount <= 0) return 0;
    const known = this.#rates.get(offers) ?? { rate: this.#rateOf(offers), shapes: new Set() };
    this.#rates.set(offers, known);
    known.shapes.add(shape);
    return amount * slotsPerUnit * known.rate;
  }

  #rateOf(offers: Offers): number {
    const each = this.#sources(offers).map(
      ({ kind, weight }) => weight / (kind.capacity[this.#resource] ?? 0),
    );
    return finite(Math.min(...each.filter((rate) => rate >= 0)));
  }

  /** The offers, and the nodes that can be started. */
  #sources({ all }: Offers): readonly Source[] {
    const { world, nodeKinds } = this.#problem.ground;
    const sources: Source[] = all.map(({ offer, kind }) => ({ kind, weight: this.#weigh(offer) }));
    world.nodes.forEach(({ deallocated }, index) => {
      const kind = nodeKinds[index];
      if (kind !== undefined && deallocated === true)
        sources.push({ kind, weight: this.#weigh(world.buckets[kind.place.offer]) });
    });
    return sources;
  }

  /** What is free on the nodes that are there is worth at most this. */
  #worthThere(): number {
    const { bins } = this.#empty.draft;
    const rates = new Map<Kind, number>();
    const rateOn = (kind: Kind): number => {
      let most = 0;
      for (const { rate, shapes } of this.#rates.values())
        if (rate > most && [...shapes].some((shape) => shape.judgesEachNode || shape.takesKind(kind)))
          most = rate;
      return most;
    };
    const alone = Math.max(0, ...this.#alone.values());
    let worth = 0;
    for (let bin = 0; bin < bins.count.length; bin += 1) {
      if (bins.isClosed(bin) || bins.node(bin)?.deallocated === true) continue;
      const kind = bins.kindOf(bin);
      const rate = rates.get(kind) ?? rateOn(kind);
      rates.set(kind, rate);
      const free = Math.max(0, bins.free[bin * bins.width + this.#resource] ?? 0) * rate;
      worth += (bins.count[bin] ?? 0) * (bins.isEmpty(bin) ? Math.max(free, alone) : free);
    }
    return worth;
  }
}

/** A price that nothing has counts as 0. */
const finite = (price: number): number => (Number.isFinite(price) ? price : 0);

/** What targets and groups need beyond the nodes of their arrays that are there: of each array the largest need, of all arrays together. */
function targetsNeed({ entries, scopes }: Problem, best: Attempt, empty: Attempt, weigh: Weigh): number {
  const needs = new Map<string, number>();
  for (const entry of entries) {
    if (entry.kind === "job") continue;
    const { unit, count } = placedOf(entry, best);
    const { offers, accepts } = scopes.of(entry);
    const there = nodesThere(empty.draft.bins, accepts, unit);
    const each = offers.map((offer) => weigh(offer) / (unit === "nodes" ? 1 : Math.max(1, offer.cores)));
    const need = Math.max(0, count - there) * finite(Math.min(...each));
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
