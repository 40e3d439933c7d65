import type { BucketOffer } from "../../domain/world.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { Draft } from "./draft.ts";
import { inGroup } from "../bins/new-node.ts";
import { compareNames } from "../bins/node-kinds.ts";
import { roomOnNew } from "../bins/slot-by-slot.ts";
import { mayJoin } from "./scale-set.ts";
import { groupKey, nextGroupName } from "./group-names.ts";

/** The placement groups of a bucket that exist or are configured. */
export function groupsWithNames(offer: BucketOffer): readonly PlacementGroup[] {
  const existing = [...offer.groupSizes.keys()].sort(compareNames);
  return [...new Set([...existing, ...(offer.configuredGroups ?? [])])];
}

/** Whether the job accepts new nodes in this group. Its constraints may exclude the name. */
export function mayBeIn({ bins }: Draft, ask: Ask, offer: BucketOffer, group: PlacementGroup): boolean {
  const kind = bins.ground.kindOfOffer(offer);
  if (ask.jobClass.takes !== undefined) return ask.jobClass.shape.takesNew(offer, kind, group);
  const subject = inGroup(offer, { ...offer.bucket, placementGroup: group });
  return roomOnNew(bins, subject, kind.capacity, ask) >= 1;
}

/** Whether the job accepts new nodes in a new group. */
export function mayBeInNew(draft: Draft, ask: Ask, offer: BucketOffer): boolean {
  return !ask.jobClass.shape.namesGroups || mayBeIn(draft, ask, offer, nextGroupName(draft, groupKey(offer)));
}

/** The pinned group of the bucket, or its groups that exist or are configured, without those of a fixed size. */
export function namedGroups(draft: Draft, offer: BucketOffer): readonly PlacementGroup[] {
  if (offer.pinnedGroup !== undefined) return [offer.pinnedGroup];
  return groupsWithNames(offer).filter((group) => !hasFixedSize(draft, offer, group));
}

/**
 * Whether jobs may not add nodes to the placement group, because its size is fixed: it was made for a demand for groups, or its nodes belong
 * to another dynamic node array or have other attributes.
 */
export function hasFixedSize({ bins, scaleSets }: Draft, offer: BucketOffer, group: PlacementGroup): boolean {
  if (!mayJoin(scaleSets, offer, group)) return true;
  const place = bins.placeOf({ ...offer.bucket, placementGroup: group });
  return bins.inGroup(place).some((bin) => bins.purpose[bin]?.kind === "group");
}
