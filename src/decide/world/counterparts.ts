import type { BucketOffer, Charge, World } from "../../domain/world.ts";
import { spotIn } from "../../domain/attributes.ts";
import type { Bucket, NodeArray } from "../../domain/cluster.ts";
import type { NodeAttributes, RankedDemand } from "../../domain/demand.ts";
import type { ArrayName, PlacementGroup } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import { findPrice } from "../../domain/price.ts";
import type { BucketUsage, Ceilings } from "./ceilings.ts";
import type { Places } from "./cluster-buckets.ts";

/**
 * Attributes of a target or of a dynamic node array may make spot nodes in an array whose nodes are none, or the reverse (`Interruptible`).
 * Such nodes are charged to other quotas than the array's own, and have another price. A dynamic array says so once for all its nodes; a
 * target of an array of the cluster uses a counterpart of the bucket in its place.
 */

/** A bucket of the cluster as the allocator sees it, and what it was made of. */
export interface OpenBucket {
  readonly offer: BucketOffer;
  readonly array: NodeArray;
  readonly bucket: Bucket;
  readonly usage: BucketUsage;
}

/** What nodes that are not of their array's own kind take from which limits, by bucket. */
export type Opposites = ReadonlyMap<BucketOffer, readonly Charge[]>;

/** To be asked once, after the charges of all buckets are known. */
export function oppositesOf(opened: readonly OpenBucket[], ceilings: Ceilings): Opposites {
  return new Map(
    opened.map(({ offer, array, bucket, usage }) => [
      offer,
      ceilings.oppositeCharges(array, bucket, usage, offer.charges),
    ]),
  );
}

/** What a node of a bucket takes if it is spot, or if it is not; of a dynamic array by the bucket that it extends. */
export function chargesFor(offer: BucketOffer, spot: boolean, opposites: Opposites): readonly Charge[] {
  const home = offer.parent ?? offer;
  return isSpot(home) === spot ? home.charges : (opposites.get(home) ?? home.charges);
}

/** Counterparts of the buckets of which a target says whether their nodes are spot, and says it otherwise than they do. */
export function counterpartsOf(
  offers: readonly BucketOffer[],
  demands: readonly RankedDemand[] | undefined,
  opposites: Opposites,
  places: Places,
  { prices }: Policy,
): ReadonlyMap<BucketOffer, BucketOffer> {
  const counterparts = new Map<BucketOffer, BucketOffer>();
  const said = arraysWithSaidSpot(demands);
  if (said.size === 0) return counterparts;
  for (const offer of offers) {
    const { array, machineType } = offer.bucket;
    if (!said.has(array)) continue;
    const spot = !isSpot(offer);
    const viewIn = (group: PlacementGroup | undefined) => {
      const { available, properties } = places.viewAs(places.at(array, machineType, group), spot);
      return { resources: available, properties: () => properties };
    };
    const region = places.at(array, machineType, undefined).array?.region;
    const price = prices === undefined ? undefined : findPrice(prices, region, machineType, spot);
    const { spot: _spot, price: _price, ...rest } = offer;
    counterparts.set(offer, {
      ...rest,
      ...viewIn(undefined),
      inGroup: viewIn,
      ...(price === undefined ? {} : { price }),
      ...(spot ? { spot } : {}),
      charges: chargesFor(offer, spot, opposites),
      counterpartOf: offer,
    });
  }
  return counterparts;
}

function arraysWithSaidSpot(demands: readonly RankedDemand[] = []): ReadonlySet<ArrayName> {
  const arrays = new Set<ArrayName>();
  for (const { demand } of demands)
    if (demand.kind !== "job" && spotIn(demand.attributes) !== undefined) arrays.add(demand.array);
  return arrays;
}

/** The bucket for nodes with these attributes. */
export function inMarketOf(
  { counterparts }: World,
  offer: BucketOffer,
  attributes: NodeAttributes | undefined,
): BucketOffer {
  const spot = counterparts === undefined ? undefined : spotIn(attributes);
  return spot === undefined || spot === isSpot(offer) ? offer : (counterparts?.get(offer) ?? offer);
}

/** The bucket as its array has it. */
export function ownOffer(offer: BucketOffer): BucketOffer {
  return offer.counterpartOf ?? offer;
}

const isSpot = ({ spot }: BucketOffer): boolean => spot === true;
