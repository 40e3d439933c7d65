import type { BucketOffer, ScaleSet } from "../../domain/allocation.ts";
import type { BucketKey, Purpose } from "../../domain/bucket.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { NodeAttributes } from "../../domain/demand.ts";
import type { ArrayName, Digest, MachineType, PlacementGroup } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Capacity } from "./capacity.ts";
import { lookOf } from "../../domain/attributes-digest.ts";
import { bucketOf } from "../intents/node-starts.ts";
import type { WorldInput } from "../world/build-world.ts";

/**
 * All nodes of one placement group are of one scale set, and must have the same attributes: one that differs never gets its VM
 * (cyclecloud-wire.md A.6). What a group's nodes were created with is remembered as a digest.
 */

/** Which placement group of CycleCloud's, whichever of its arrays or dynamic ones its nodes count for. */
export function scaleSetKey(array: ArrayName, machineType: MachineType, group: PlacementGroup): string {
  return `${array}/${machineType.toLowerCase()}/${group}`;
}

type ScaleSets = ReadonlyMap<string, ScaleSet>;

/**
 * What the nodes of placement groups were created with, from the ledger and from what is on its way; nodes that we know nothing of are
 * taken for what the template makes. Where a group has nodes of several kinds, whichever of them comes first as text.
 */
export function scaleSetsOf({ snapshot, ledger, inFlight, pendingCreates }: WorldInput): ScaleSets {
  const sets = new Map<string, { readonly text: string; readonly set: ScaleSet }>();
  const note = (bucket: BucketKey, purpose: Purpose | undefined, look: Digest | undefined): void => {
    if (bucket.placementGroup === undefined) return;
    const dynamic = dynamicArrayOf(purpose);
    if (dynamic === undefined && look === undefined) return;
    const key = scaleSetKey(bucket.array, bucket.machineType, bucket.placementGroup);
    const text = `${dynamic ?? ""}/${look ?? ""}`;
    const known = sets.get(key);
    if (known !== undefined && known.text <= text) return;
    const set = { ...(dynamic === undefined ? {} : { dynamic }), ...(look === undefined ? {} : { look }) };
    sets.set(key, { text, set });
  };
  for (const node of snapshot.nodes) {
    if (node.placementGroup === undefined || node.phase === "off") continue;
    const known = ledger.get(node.nodeId);
    note(bucketOf(node), known?.purpose, known?.look);
  }
  for (const { bucket, purpose, look } of inFlight) note(bucket, purpose, look);
  for (const { bucket, purpose, attributes } of pendingCreates) note(bucket, purpose, lookOf(attributes));
  return new Map([...sets].map(([key, { set }]) => [key, set]));
}

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
  return known?.dynamic === dynamic && known?.look === lookOf(offer.attributes);
}

/** Notes what the first nodes of a group are created with: all that follow must be the same. */
export function noteScaleSet(
  sets: Map<string, ScaleSet>,
  { bucket, parent }: BucketOffer,
  group: PlacementGroup,
  attributes: NodeAttributes | undefined,
): void {
  const key = scaleSetKey(parent?.bucket.array ?? bucket.array, bucket.machineType, group);
  const look = lookOf(attributes);
  if (parent === undefined && look === undefined) sets.delete(key);
  else
    sets.set(key, {
      ...(parent === undefined ? {} : { dynamic: bucket.array }),
      ...(look === undefined ? {} : { look }),
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
  if (scaleSetOf(scaleSets, offer, group)?.look === lookOf(attributes)) return undefined;
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
  const known = scaleSetOf(groups.scaleSets, offer, group)?.look;
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
