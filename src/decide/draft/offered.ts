import type { BucketOffer, World } from "../../domain/world.ts";
import type { JobClass } from "../bins/job-class.ts";
import type { Shape } from "../bins/shape.ts";
import type { Kind, Place } from "../bins/node-kinds.ts";
import { ownOffer } from "../world/counterparts.ts";
import type { Scope } from "../bins/scope.ts";

/** An offer whose new nodes suit jobs of a shape. */
export interface Offered {
  readonly offer: BucketOffer;
  readonly kind: Kind;
  /** By the job's own lists and alternatives. Higher is better. */
  readonly score: number;
}

/** Offers with the same score, in the order of the cluster. Also sorted by price, on first use. */
class EqualOffers {
  readonly all: readonly Offered[];
  #byPrice: readonly Offered[] | undefined;
  #byRatio: Map<number, readonly Offered[]> | undefined;

  constructor(all: readonly Offered[]) {
    this.all = all;
  }

  get byPrice(): readonly Offered[] {
    this.#byPrice ??= this.all.toSorted((a, b) => priceOf(a) - priceOf(b));
    return this.#byPrice;
  }

  byRatio(resource: number): readonly Offered[] {
    this.#byRatio ??= new Map();
    let sorted = this.#byRatio.get(resource);
    if (sorted === undefined) {
      sorted = this.all.toSorted((a, b) => ratioOf(a, resource) - ratioOf(b, resource) || 0);
      this.#byRatio.set(resource, sorted);
    }
    return sorted;
  }

  without(exhausted: ReadonlySet<Offered>): EqualOffers {
    return new EqualOffers(this.all.filter((offered) => !exhausted.has(offered)));
  }
}

/** The offers that are open to jobs of a shape. */
export class Offers {
  /** By score, then in the order of the cluster. */
  readonly all: readonly Offered[];
  /** The same offers in lists of equal score, the highest first. */
  readonly byScore: readonly EqualOffers[];
  #byOffer: ReadonlyMap<BucketOffer, Offered> | undefined;

  /** `found` is in the order of the cluster. */
  constructor(found: readonly Offered[]) {
    const [best] = found;
    if (found.every(({ score }) => score === best?.score)) {
      this.all = found;
      this.byScore = [new EqualOffers(found)];
      return;
    }
    const scores = [...new Set(found.map(({ score }) => score))].sort((a, b) => b - a);
    this.byScore = scores.map((score) => new EqualOffers(found.filter((one) => one.score === score)));
    this.all = this.byScore.flatMap(({ all }) => all);
  }

  get byOffer(): ReadonlyMap<BucketOffer, Offered> {
    this.#byOffer ??= new Map(this.all.map((one) => [one.offer, one]));
    return this.#byOffer;
  }
}

/** A number of new nodes of one offer. */
export interface Opening {
  readonly offered: Offered;
  readonly nodes: number;
}

/** The price of an offer without a price: higher than every real price, and finite, so that it can be multiplied. */
export const NO_PRICE = 1e100;

export const priceOf = ({ offer }: Offered): number => offer.price ?? NO_PRICE;

/** Price of one unit of a resource on nodes of the offer. */
export function ratioOf(offered: Offered, resource: number): number {
  const capacity = offered.kind.capacity[resource] ?? 0;
  return capacity > 0 ? priceOf(offered) / capacity : Number.POSITIVE_INFINITY;
}

/**
 * The open offers of each shape, remembered: without placement groups (`alone`), and with them. By class of jobs if the amounts of the job
 * decide which alternative is possible.
 */
export interface KnownOffers {
  readonly alone: Map<Shape | JobClass, Offers>;
  readonly grouped: Map<Shape | JobClass, Offers>;
}

export const noOffersKnown = (): KnownOffers => ({ alone: new Map(), grouped: new Map() });

/** The offer of a place, as the scope contains it. */
export function offerAt({ buckets }: World, { offers }: Scope, place: Place): BucketOffer | undefined {
  const own = buckets[place.offer];
  return own === undefined ? undefined : (offers.find((offer) => ownOffer(offer) === own) ?? own);
}
