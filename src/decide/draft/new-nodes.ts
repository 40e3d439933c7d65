import type { Draft } from "./draft.ts";
import type { Bins } from "../bins/bins.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { NodeAttributes } from "../../domain/demand.ts";
import type { Purpose } from "../../domain/bucket.ts";
import { mergeAttributes, withoutPlacementGroup } from "../../domain/attributes.ts";
import type { BucketOffer } from "../../domain/world.ts";
import { noteScaleSet } from "./scale-set.ts";
import { closedTo, groupClosedTo } from "./closed.ts";
import type { Bin } from "../bins/bin-columns.ts";

/** Keeps `nodes` nodes in the bin and moves the others to a new bin with the same properties. Undefined if there are no others. */
export function splitBin(draft: Draft, bin: Bin, nodes: number): Bin | undefined {
  const rest = draft.bins.split(bin, nodes);
  if (rest === undefined) return undefined;
  draft.caps.follow(bin, rest);
  const shapes = draft.shared.get(bin);
  if (shapes !== undefined) draft.shared.set(rest, new Set(shapes));
  return rest;
}

/** Plans new nodes. The caller has checked that there is room for them. */
export function createNodes(
  draft: Draft,
  offer: BucketOffer,
  group: PlacementGroup | undefined,
  count: number,
  purpose: Purpose,
  attributes?: NodeAttributes,
): Bin {
  const whole = attributesOn(offer, attributes);
  if (group !== undefined && draft.capacity.groupSize(offer, group) === 0)
    noteScaleSet(draft.scaleSets, offer, group, whole);
  draft.capacity.take(offer, group, count);
  const bucket = group === undefined ? offer.bucket : { ...offer.bucket, placementGroup: group };
  return draft.bins.plan(draft.bins.placeOf(bucket), count, offer, purpose, whole);
}

/** The attributes of new nodes: those of the dynamic node array, overridden by those of the demand. */
export function attributesOn(
  offer: BucketOffer,
  attributes: NodeAttributes | undefined,
): NodeAttributes | undefined {
  const own = offer.parent === undefined ? attributes : withoutPlacementGroup(attributes);
  if (offer.attributes === undefined || own === undefined) return own ?? offer.attributes;
  return mergeAttributes(offer.attributes, own);
}

/** Whether a bin is a deallocated node. Nothing may be placed on it before it is started ({@link startIfDeallocated}). */
export function isDeallocated(bins: Bins, bin: Bin): boolean {
  return bins.node(bin)?.deallocated === true;
}

/**
 * Makes a bin usable: a deallocated node is started if all limits allow it. False if not; then the bin takes nothing in this plan. `named`: see
 * {@link closedTo}.
 */
export function startIfDeallocated(
  draft: Draft,
  bin: Bin,
  asker: { readonly named?: unknown } = {},
): boolean {
  const { bins } = draft;
  const node = bins.node(bin);
  if (node?.deallocated !== true || bins.toStart.has(bin)) return true;
  const place = bins.placeOfBin(bin);
  const group = place.bucket.placementGroup;
  const offer = draft.world.buckets[place.offer];
  const open = offer !== undefined && closedTo(draft, offer, asker) === undefined;
  if (!open || (group !== undefined && groupClosedTo(draft, offer, group) !== undefined)) {
    bins.shut(bin);
    return false;
  }
  if (draft.capacity.room(offer, group, node.charges) < 1) {
    bins.shut(bin);
    return false;
  }
  draft.capacity.take(offer, group, 1, node.charges);
  bins.toStart.add(bin);
  return true;
}
