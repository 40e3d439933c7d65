import type { BucketOffer, Charge, World } from "../../domain/world.ts";
import { spotIn } from "../../domain/attributes.ts";
import type { StatusBucket, NodeArray } from "../../domain/cluster.ts";
import type { NodeAttributes, RankedDemand } from "../../domain/demand.ts";
import type { ArrayName, PlacementGroup } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import { findPrice } from "../../domain/price.ts";
import type { BucketUsage, Ceilings } from "./ceilings.ts";
import type { ClusterBuckets } from "./cluster-buckets.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/**
 * The attribute `Interruptible` of a target or a dynamic node array may make spot nodes in an array that is not spot, or the reverse. Such
 * nodes use other quotas than the array's own and have another price. A dynamic array is spot or not as a whole. A target of an array of the
 * cluster uses a counterpart in place of the bucket.
 */

/** A bucket of the cluster as the allocator sees it, and its sources. */
export interface OpenBucket {
  readonly offer: BucketOffer;
  readonly array: NodeArray;
  readonly bucket: StatusBucket;
  readonly usage: BucketUsage;
}

/** By bucket, what a node takes from limits that is spot in an array that is not, or the reverse. */
export type Opposites = ReadonlyMap<BucketOffer, readonly Charge[]>;

/** Computes these charges. Call it once, after the charges of all buckets are known. */
export function oppositesOf(opened: readonly OpenBucket[], ceilings: Ceilings): Opposites {
  return new Map(
    opened.map(({ offer, array, bucket, usage }) => [
      offer,
      ceilings.oppositeCharges(array, bucket, usage, offer.charges),
    ]),
  );
}

/** What a node of a bucket takes from limits if it is spot, or if it is not. */
export function chargesFor(
  offer: BucketOffer,
  { spot }: { readonly spot: boolean },
  opposites: Opposites,
): readonly Charge[] {
  const home = offer.parent ?? offer;
  return isSpot(home) === spot ? home.charges : (opposites.get(home) ?? home.charges);
}

/** Counterparts of the buckets for which a target demands the opposite of what they are, spot or not. */
export function counterpartsOf(
  offers: readonly BucketOffer[],
  demands: readonly RankedDemand[] | undefined,
  opposites: Opposites,
  clusterBuckets: ClusterBuckets,
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
      const { available, properties } = clusterBuckets.viewAs(clusterBuckets.at(array, machineType, group), {
        spot,
      });
      return { resources: available, properties: () => properties };
    };
    const region = clusterBuckets.at(array, machineType, undefined).array?.region;
    const price = prices === undefined ? undefined : findPrice(prices, region, machineType, { spot });
    const { spot: _spot, price: _price, ...rest } = offer;
    counterparts.set(offer, {
      ...rest,
      ...viewIn(undefined),
      inGroup: viewIn,
      ...withoutAbsent({ price }),
      ...(spot ? { spot } : {}),
      charges: chargesFor(offer, { spot }, opposites),
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

/** The bucket itself for a counterpart, else the same bucket. */
export function ownOffer(offer: BucketOffer): BucketOffer {
  return offer.counterpartOf ?? offer;
}

const isSpot = ({ spot }: BucketOffer): boolean => spot === true;
