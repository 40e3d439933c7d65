import type { BucketOffer, ScaleSet } from "../../domain/world.ts";
import type { NodeAttributes } from "../../domain/demand.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Capacity } from "./capacity.ts";
import { digestOfAttributes } from "../../domain/digest.ts";
import type { ScaleSets } from "../world/build-world.ts";
import { scaleSetKey } from "../world/build-world.ts";

/*
 * All nodes of one placement group are in one scale set and must have the same attributes. A node that differs never gets its VM
 * (cyclecloud-wire.md A.6). The attributes of a group's nodes are remembered as a digest.
 */

/** What is known about the nodes of a group. Undefined: they are as the template of their array, or there are none. */
function scaleSetOf(
  sets: ScaleSets,
  { bucket, parent }: BucketOffer,
  group: PlacementGroup,
): ScaleSet | undefined {
  if (sets.size === 0) return undefined;
  return sets.get(scaleSetKey(parent?.bucket.array ?? bucket.array, bucket.machineType, group));
}

/** Whether new nodes of this offer for a job may join an existing group. */
export function mayJoin(sets: ScaleSets, offer: BucketOffer, group: PlacementGroup): boolean {
  const known = scaleSetOf(sets, offer, group);
  const dynamic = offer.parent === undefined ? undefined : offer.bucket.array;
  return known?.dynamic === dynamic && known?.attributesDigest === digestOfAttributes(offer.attributes);
}

/** Records the attributes of the first nodes of a group. All later ones must have the same. */
export function noteScaleSet(
  sets: Map<string, ScaleSet>,
  { bucket, parent }: BucketOffer,
  group: PlacementGroup,
  attributes: NodeAttributes | undefined,
): void {
  const key = scaleSetKey(parent?.bucket.array ?? bucket.array, bucket.machineType, group);
  const attributesDigest = digestOfAttributes(attributes);
  if (parent === undefined && attributesDigest === undefined) sets.delete(key);
  else
    sets.set(key, {
      ...(parent === undefined ? {} : { dynamic: bucket.array }),
      ...(attributesDigest === undefined ? {} : { attributesDigest }),
    });
}

/** What a plan knows about placement groups. */
interface Groups {
  readonly scaleSets: ScaleSets;
  readonly capacity: Pick<Capacity, "groupSize">;
}

/** Why nodes with these attributes cannot join a placement group. Undefined if they can, or the group is empty. */
function joinRefusal(
  { scaleSets, capacity }: Groups,
  offer: BucketOffer,
  group: PlacementGroup,
  attributes: NodeAttributes | undefined,
): Reason | undefined {
  if (capacity.groupSize(offer, group) === 0) return undefined;
  if (scaleSetOf(scaleSets, offer, group)?.attributesDigest === digestOfAttributes(attributes))
    return undefined;
  return { code: "attributes-differ", bucket: { ...offer.bucket, placementGroup: group } };
}

/**
 * Why nodes with these attributes cannot complete a group. Only known attributes count: where they are
 * unknown, the group is completed.
 */
export function growthRefusal(
  groups: Groups,
  offer: BucketOffer,
  group: PlacementGroup,
  attributes: NodeAttributes | undefined,
): Reason | undefined {
  const known = scaleSetOf(groups.scaleSets, offer, group)?.attributesDigest;
  return known === undefined ? undefined : joinRefusal(groups, offer, group, attributes);
}

/** Why nodes with these attributes cannot join the pinned group of a bucket. Undefined if the bucket is not pinned to one group. */
export function pinnedRefusal(
  groups: Groups,
  offer: BucketOffer,
  attributes: NodeAttributes | undefined,
): Reason | undefined {
  const { pinnedGroup } = offer;
  return pinnedGroup === undefined ? undefined : joinRefusal(groups, offer, pinnedGroup, attributes);
}

/** Why new nodes of this offer for a job cannot be in this placement group. Undefined if they can, or the group is empty. */
export function jobRefusal(groups: Groups, offer: BucketOffer, group: PlacementGroup): Reason | undefined {
  if (offer.pinnedGroup === group) return pinnedRefusal(groups, offer, offer.attributes);
  if (groups.capacity.groupSize(offer, group) === 0 || mayJoin(groups.scaleSets, offer, group))
    return undefined;
  return { code: "attributes-differ", bucket: { ...offer.bucket, placementGroup: group } };
}
