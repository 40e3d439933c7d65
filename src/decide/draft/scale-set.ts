import type { BucketOffer, ScaleSet } from "../../domain/world.ts";
import type { NodeAttributes } from "../../domain/demand.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Capacity } from "./capacity.ts";
import { digestOfAttributes } from "../../domain/attributes-digest.ts";
import type { ScaleSets } from "../world/scale-sets.ts";
import { scaleSetKey } from "../world/scale-sets.ts";

/**
 * All nodes of one placement group are of one scale set, and must have the same attributes: one that differs never gets its VM
 * (cyclecloud-wire.md A.6). What a group's nodes were created with is remembered as a digest.
 */

/** What is known of a group's nodes; undefined: they are as their array's template has them, or there are none. */
function scaleSetOf(
  sets: ScaleSets,
  { bucket, parent }: BucketOffer,
  group: PlacementGroup,
): ScaleSet | undefined {
  if (sets.size === 0) return undefined;
  return sets.get(scaleSetKey(parent?.bucket.array ?? bucket.array, bucket.machineType, group));
}

/** Whether a job's nodes of this offer may join those of a group that exists. */
export function mayJoin(sets: ScaleSets, offer: BucketOffer, group: PlacementGroup): boolean {
  const known = scaleSetOf(sets, offer, group);
  const dynamic = offer.parent === undefined ? undefined : offer.bucket.array;
  return known?.dynamic === dynamic && known?.attributesDigest === digestOfAttributes(offer.attributes);
}

/** Notes what the first nodes of a group are created with: all that follow must be the same. */
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

/** What a plan knows of placement groups. */
interface Groups {
  readonly scaleSets: ScaleSets;
  readonly capacity: Pick<Capacity, "groupSize">;
}

/** Why nodes with these attributes cannot join the nodes of a placement group; undefined: they can, or there are none. */
export function joinRefusal(
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
 * The same for a group that was made to be filled: only what its nodes are known to have been created with speaks against it. Of those
 * that an older release created that is not known, and the group is theirs all the same.
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

/** The same for the only group that an array has; undefined, too, where it has as many as it needs. */
export function pinnedRefusal(
  groups: Groups,
  offer: BucketOffer,
  attributes: NodeAttributes | undefined,
): Reason | undefined {
  const { pinnedGroup } = offer;
  return pinnedGroup === undefined ? undefined : joinRefusal(groups, offer, pinnedGroup, attributes);
}

/** Why a job's nodes of this offer may not be in this placement group; undefined: they may, or the group has none. */
export function jobRefusal(groups: Groups, offer: BucketOffer, group: PlacementGroup): Reason | undefined {
  if (offer.pinnedGroup === group) return pinnedRefusal(groups, offer, offer.attributes);
  if (groups.capacity.groupSize(offer, group) === 0 || mayJoin(groups.scaleSets, offer, group))
    return undefined;
  return { code: "attributes-differ", bucket: { ...offer.bucket, placementGroup: group } };
}
