import type { BucketOffer } from "../../domain/world.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { Subject } from "./empty-node-fit.ts";

/** What is known of a new node of an offer. */
export type NewNode = Pick<
  BucketOffer,
  | "bucket"
  | "resources"
  | "properties"
  | "cores"
  | "capacityFailureSeconds"
  | "inGroup"
  | "spot"
  | "counterpartOf"
>;

/** A new node of the offer as constraints see it, in the placement group of the bucket, if that has one. */
export function inGroup(offer: NewNode, bucket: BucketKey): Subject {
  const group = bucket.placementGroup;
  if (group === undefined || group === offer.bucket.placementGroup) return offer;
  const { properties, resources } = offer.inGroup?.(group) ?? offer;
  const { capacityFailureSeconds, spot } = offer;
  return {
    bucket,
    resources,
    ...(spot === undefined ? {} : { spot }),
    ...(capacityFailureSeconds === undefined ? {} : { capacityFailureSeconds }),
    ...(properties === undefined
      ? {}
      : { properties: () => ({ ...properties(), placement_group: group, colocated: true }) }),
  };
}
