import type { Reason } from "../../domain/reason.ts";
import type { Remedy } from "../../domain/remedy.ts";
import type { BucketOffer } from "../../domain/world.ts";
import type { Place } from "../bins/node-kinds.ts";
import type { Scope } from "../bins/scope.ts";
import { isUngrouped, knowsNoGroups } from "../bins/scope.ts";
import type { Taken } from "../draft/capacity.ts";
import type { OwnCeiling } from "../draft/caps.ts";
import { closedTo, groupClosedTo } from "../draft/closed.ts";
import type { Draft } from "../draft/draft.ts";
import { offerAt } from "../draft/offered.ts";
import type { CheckedExpansion } from "./remedy.ts";
import { remedyOf } from "./remedy.ts";

type ExpansionGroup = CheckedExpansion["group"];

/** What a demand for groups lacks. */
export interface GroupShortage {
  /** Number of nodes of one group in a bucket. */
  readonly sizeOf: (offer: BucketOffer) => number;
  /** Groups that lack nodes, in the order in which they would be completed. `resumed`: only when it is their bucket's turn. */
  readonly unfinished: readonly (Unfinished & { readonly resumed: boolean })[];
  /** In groups. */
  readonly missing: number;
  /** The plan waits for unfinished groups. There are enough of them, so no new group is made in their place. */
  readonly waits: boolean;
  /** Why no new group is made in a bucket, whatever its limits. */
  readonly barred: (offer: BucketOffer) => Reason | undefined;
}

/** A group that exists and lacks nodes. */
export interface Unfinished {
  readonly place: Place;
  readonly nodes: number;
  readonly size: number;
}

/** The smallest change that would provide all groups. */
export function groupRemedy(
  draft: Draft,
  scope: Scope,
  shortage: GroupShortage,
  ceilings: readonly OwnCeiling[],
): Remedy | undefined {
  const { missing, waits } = shortage;
  const taken = draft.capacity.takenSinceMark();
  // Without placement groups, the remainder of whole groups has completed a group that existed. It is not given back.
  const given = isUngrouped(scope)
    ? taken.map((one) => ({ ...one, nodes: one.nodes - (one.nodes % shortage.sizeOf(one.offer)) }))
    : taken;
  const grown = given
    .filter((one) => one.group !== undefined && !isFresh(draft, one))
    .map(({ offer, group, nodes }) => completion(draft, offer, group, nodes));
  const { first, resumed } = completions(draft, scope, shortage);
  const smallestFirst = [...grown, ...first].toSorted((x, y) => x.lot - y.lot);
  const others = scope.offers.flatMap((offer) => [
    ...resumed.filter((one) => one.offer === offer),
    ...newGroups(draft, scope, shortage, offer, given),
  ]);
  const expansions = waits ? smallestFirst : [...smallestFirst, ...others];
  return (
    remedyOf(draft, { expansions, missing, given, pools: [], ceilings }) ??
    onlyGroupOf(draft, scope, shortage)
  );
}

/** Expansions that complete unfinished groups: those that are completed first, and those that are resumed when it is their bucket's turn. */
function completions(draft: Draft, scope: Scope, { unfinished }: GroupShortage) {
  const complete = ({ place, nodes, size }: Unfinished): readonly CheckedExpansion[] => {
    const offer = offerAt(draft.world, scope, place);
    const group = place.bucket.placementGroup;
    return offer === undefined ? [] : [completion(draft, offer, group, size - nodes)];
  };
  return {
    first: unfinished.filter((one) => !one.resumed).flatMap(complete),
    resumed: unfinished.filter((one) => one.resumed).flatMap(complete),
  };
}

/** The demand asks for more groups than the node arrays have that are pinned to one group. */
function onlyGroupOf(draft: Draft, { offers }: Scope, { sizeOf }: GroupShortage): Remedy | undefined {
  const isMeant = (offer: BucketOffer): boolean =>
    offer.pinnedGroup !== undefined && Number.isFinite(sizeOf(offer)) && closedTo(draft, offer) === undefined;
  const { bucket, pinnedGroup: placementGroup } = offers.find(isMeant) ?? {};
  if (bucket === undefined || placementGroup === undefined) return undefined;
  return { kind: "no-raise", reason: { code: "only-group", bucket: { ...bucket, placementGroup } } };
}

function completion(draft: Draft, offer: BucketOffer, group: ExpansionGroup, lot: number): CheckedExpansion {
  return { offer, group, lot, serves: 1, most: 1, barrier: groupBarrier(draft, offer, group) };
}

/** New groups in a bucket. */
function newGroups(
  draft: Draft,
  scope: Scope,
  { sizeOf, barred }: GroupShortage,
  offer: BucketOffer,
  given: readonly Taken[],
): readonly CheckedExpansion[] {
  const lot = sizeOf(offer);
  if (!Number.isFinite(lot)) return [];
  const most = Number.POSITIVE_INFINITY;
  if (isUngrouped(scope)) {
    const barrier = barred(offer) ?? closedTo(draft, offer);
    return [{ offer, group: undefined, lot, serves: 1, most, barrier }];
  }
  const pinned = offer.pinnedGroup;
  const ours = given.some((one) => one.offer === offer && isFresh(draft, one));
  // The array's only group serves once, and it is in use.
  if (pinned !== undefined && !ours && draft.capacity.groupSize(offer, pinned) > 0) return [];
  const barrier = barred(offer) ?? groupBarrier(draft, offer, pinned ?? "new");
  return [{ offer, group: pinned ?? "new", lot, serves: 1, most: pinned === undefined ? most : 1, barrier }];
}

/** Whether this plan made the placement group of these nodes. Otherwise they completed a group that existed. */
function isFresh({ capacity }: Draft, { offer, group, nodes }: Taken): boolean {
  return group !== undefined && capacity.groupSize(offer, group) <= nodes;
}

function groupBarrier(draft: Draft, offer: BucketOffer, group: ExpansionGroup): Reason | undefined {
  const closed =
    closedTo(draft, offer) ?? (group === undefined ? undefined : groupClosedTo(draft, offer, group));
  if (closed !== undefined || group === undefined) return closed;
  return knowsNoGroups(offer) ? { code: "no-placement-group", bucket: offer.bucket } : undefined;
}
