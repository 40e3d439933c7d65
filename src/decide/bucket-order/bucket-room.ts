import type { PlacementGroup } from "../../domain/ids.ts";
import type { BucketOffer } from "../../domain/world.ts";
import type { Bin } from "../bins/bin.ts";
import { closedTo, groupClosedTo } from "../draft/closed.ts";
import type { Draft } from "../draft/draft.ts";
import { hasFixedSize } from "../draft/named-groups.ts";
import { pinnedRefusal } from "../draft/scale-set.ts";
import type { ListedBucket } from "./bucket-list.ts";

/** How many new nodes the bucket allows now. */
export function roomIn(draft: Draft, bucket: ListedBucket): number {
  const { offer, group } = bucket;
  if (isClosed(draft, bucket) || (group !== undefined && !mayOpenIn(draft, offer, group))) return 0;
  return draft.capacity.room(offer, group);
}

/** How many deallocated nodes like this one may be started now. A start counts against fewer limits than a new node. */
export function roomToStart(draft: Draft, bucket: ListedBucket, bin: Bin): number {
  if (isClosed(draft, bucket)) return 0;
  return draft.capacity.room(bucket.offer, bucket.group, draft.bins.node(bin)?.charges);
}

function isClosed(draft: Draft, { offer, group }: ListedBucket): boolean {
  if (offer.onlyFor !== undefined || closedTo(draft, offer) !== undefined) return true;
  return group !== undefined && groupClosedTo(draft, offer, group) !== undefined;
}

/** Whether new nodes may be in the placement group. An empty group takes nodes of any kind. */
function mayOpenIn(draft: Draft, offer: BucketOffer, group: PlacementGroup): boolean {
  return offer.pinnedGroup === group
    ? pinnedRefusal(draft, offer, offer.attributes) === undefined
    : draft.capacity.groupSize(offer, group) === 0 || !hasFixedSize(draft, offer, group);
}
