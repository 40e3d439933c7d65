import type { BucketOffer, World } from "../../domain/world.ts";
import type { JobClass } from "../bins/job-class.ts";
import type { Shape } from "../bins/shape.ts";
import type { Kind, Place } from "../bins/node-kinds.ts";
import { ownOffer } from "../world/counterparts.ts";
import type { Scope } from "../bins/scope.ts";

/** An offer whose new nodes are right for jobs of a shape. */
export interface Offered {
  readonly offer: BucketOffer;
  readonly kind: Kind;
  /** By the job's own lists and alternatives; higher is better. */
  readonly score: number;
}

/** Offers that the job's own lists and alternatives like equally well, in the order of the cluster; sorted otherwise on request. */
export class EqualOffers {
  readonly all: readonly Offered[];
  #byPrice: readonly Offered[] | undefined;
  readonly #byRatio = new Map<number, readonly Offered[]>();

  constructor(all: readonly Offered[]) {
    this.all = all;
  }

  get byPrice(): readonly Offered[] {
    this.#byPrice ??= this.all.toSorted((a, b) => priceOf(a) - priceOf(b));
    return this.#byPrice;
  }

  byRatio(resource: number): readonly Offered[] {
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

/** What is open to jobs of a shape. */
export interface Offers {
  /** In the job's and then the cluster's order of preference. */
  readonly all: readonly Offered[];
  /** The same, those that the job likes best first. */
  readonly byScore: readonly EqualOffers[];
  readonly byOffer: ReadonlyMap<BucketOffer, Offered>;
}

/** So many new nodes of one offer. */
export interface Opening {
  readonly offered: Offered;
  readonly nodes: number;
}

/** Above every price, and still to be reckoned with. */
export const NO_PRICE = 1e100;

export const priceOf = ({ offer }: Offered): number => offer.price ?? NO_PRICE;

/** What one of a resource costs in nodes of the offer. */
export function ratioOf(offered: Offered, resource: number): number {
  const capacity = offered.kind.capacity[resource] ?? 0;
  return capacity > 0 ? priceOf(offered) / capacity : Number.POSITIVE_INFINITY;
}

/**
 * The offers that are known to be open to jobs of a shape, by shape; or by class, where the alternative that can be had depends on the
 * amounts beside it. Without placement groups, and with them.
 */
export interface KnownOffers {
  readonly alone: Map<Shape | JobClass, Offers>;
  readonly grouped: Map<Shape | JobClass, Offers>;
}

export const noOffersKnown = (): KnownOffers => ({ alone: new Map(), grouped: new Map() });

/** The bucket of a place as a scope has it. */
export function offerAt({ buckets }: World, { offers }: Scope, place: Place): BucketOffer | undefined {
  const own = buckets[place.offer];
  return own === undefined ? undefined : (offers.find((offer) => ownOffer(offer) === own) ?? own);
}
