import type { BucketOffer } from "../../domain/world.ts";
import type { GroupDemand, TargetDemand } from "../../domain/demand.ts";
import type { Reason } from "../../domain/reason.ts";
import { compareText } from "../../domain/text.ts";
import { SharedAnswers } from "./shared-answers.ts";
import type { Ask } from "../bins/job-ask.ts";
import { unitsOnEmpty } from "../bins/job-ask.ts";
import type { Draft } from "../draft/draft.ts";
import { closedTo } from "../draft/closed.ts";
import type { Place } from "../bins/node-kinds.ts";
import { pinnedRefusal } from "../draft/scale-set.ts";
import type { Scope } from "../bins/scope.ts";
import type { OwnCeiling } from "../draft/caps.ts";
import { attributesOn } from "../draft/new-nodes.ts";
import type { Bin } from "../bins/bin.ts";
import { isUngrouped } from "../bins/scope.ts";
import {
  capsRefusal,
  groupOfNew,
  misfit,
  newGroupRefusal,
  newNode,
  noCores,
  noGroupFor,
} from "../draft/refusals.ts";
import type { Opening } from "../place/gang-ways.ts";
import { openingRefusal } from "../place/gang-ways.ts";

/** Why the remaining slots could not be packed: the first obstacle of each bucket. Identical jobs share one list. */
export function packingReasons(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  left: number,
  ceilings: readonly OwnCeiling[] = [],
): readonly Reason[] {
  const make = (): readonly Reason[] => reasonsOfPacking(draft, ask, scope, left, ceilings);
  return ceilings.length > 0 ? make() : sharedReasons.answer(draft, ask, left, make);
}

const sharedReasons = new SharedAnswers<readonly Reason[]>();

function reasonsOfPacking(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  left: number,
  ceilings: readonly OwnCeiling[],
): readonly Reason[] {
  draft.bins.budget.spend(scope.offers.length);
  const reasons = scope.offers.map((offer): Reason | undefined => {
    const group = groupOfNew(draft, ask, offer);
    const closed = misfit(draft, ask, offer, group) ?? closedTo(draft, offer);
    if (closed !== undefined) return closed;
    const units = Math.min(left, unitsOnEmpty(ask, newNode(draft, offer, group), draft.bins.resources));
    const nodes = Math.ceil(left / units);
    return (
      capsRefusal(ceilings, offer, nodes) ??
      draft.capacity.refusal(offer, group === "new" ? undefined : group, nodes) ??
      noGroupFor(draft, ask, offer)
    );
  });
  return [...scope.reasons, ...present(reasons), ...notOurs(draft, ask, scope), ...inUse(draft, ask, scope)];
}

/** Why a target is not reached: the first obstacle of each bucket. */
export function targetReasons(
  draft: Draft,
  demand: TargetDemand,
  scope: Scope,
  missing: number,
  ceilings: readonly OwnCeiling[] = [],
): readonly Reason[] {
  const reasons = scope.offers.map((offer): Reason | undefined => {
    const closed =
      closedTo(draft, offer) ?? pinnedRefusal(draft, offer, attributesOn(offer, demand.attributes));
    if (closed !== undefined) return closed;
    const each = demand.amount.unit === "nodes" ? 1 : offer.cores;
    if (each <= 0) return noCores(offer, missing);
    const nodes = Math.ceil(missing / each);
    return capsRefusal(ceilings, offer, nodes) ?? draft.capacity.refusal(offer, offer.pinnedGroup, nodes);
  });
  return [...scope.reasons, ...present(reasons)];
}

/** Why there could not be another whole group: the first obstacle of each bucket. `sizeOf`: number of nodes of a group there. */
export function groupReasons(
  draft: Draft,
  demand: GroupDemand,
  scope: Scope,
  sizeOf: (offer: BucketOffer) => number,
  ceilings: readonly OwnCeiling[] = [],
): readonly Reason[] {
  const ungrouped = isUngrouped(scope);
  const reasons = scope.offers.map(
    (offer) =>
      newGroupRefusal(draft, demand, offer, sizeOf(offer), ungrouped) ??
      capsRefusal(ceilings, offer, sizeOf(offer)),
  );
  return [...scope.reasons, ...present(reasons)];
}

/**
 * Why a gang could not be placed as a whole: the first obstacle of each way to place it, and why other buckets offer no way. `capped`:
 * buckets whose nodes would suffice, and the cap that forbids the gang to use them.
 */
export function gangReasons(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  home: Place | undefined,
  openings: readonly Opening[],
  capped: ReadonlyMap<BucketOffer | undefined, Reason>,
): readonly Reason[] {
  const reasons = [...capped.values(), ...openings.map((opening) => openingRefusal(draft, ask, opening))];
  const tried = new Set([...capped.keys(), ...openings.map(({ offer }) => offer)]);
  const others = scope.offers
    .filter((offer) => !tried.has(offer))
    .map((offer) => noWay(draft, ask, offer, home));
  const inScope = home !== undefined && scope.offers.some((offer) => offer === offerOf(draft, home));
  const outside = home === undefined || inScope ? [] : [full(draft, home)];
  const elsewhere = [...notOurs(draft, ask, scope), ...inUse(draft, ask, scope)];
  return [...scope.reasons, ...present(reasons), ...others, ...outside, ...elsewhere];
}

const present = (reasons: readonly (Reason | undefined)[]): readonly Reason[] =>
  reasons.filter((reason) => reason !== undefined);

/** The arrays that are not managed, for a job that names no array: it could have meant any. */
function notOurs(draft: Draft, ask: Ask, scope: Scope): readonly Reason[] {
  // Without a bucket, the scope has these reasons already.
  if (ask.requirements.arrays !== undefined || scope.offers.length === 0) return [];
  return [...draft.world.arrays]
    .filter(([, state]) => state === "not-managed")
    .map(([array]): Reason => ({ code: "array-not-managed", array }))
    .toSorted((a, b) => compareText(JSON.stringify(a), JSON.stringify(b)));
}

/** The number of nodes that would suit a job which needs nodes of its own, if they ran no other job. */
function inUse({ bins }: Draft, ask: Ask, scope: Scope): readonly Reason[] {
  if (ask.requirements.alone === undefined) return [];
  const isInUse = (bin: Bin): boolean => !bins.isEmpty(bin) && scope.accepts(bins.placeOfBin(bin));
  const nodes = bins.count.reduce((total, count, bin) => (isInUse(bin) ? total + count : total), 0);
  return nodes === 0 ? [] : [{ code: "not-exclusive", nodes }];
}

/** Why a bucket offers a gang no way at all: the gang runs elsewhere, or the group there has a fixed size. */
function noWay(draft: Draft, ask: Ask, offer: BucketOffer, home: Place | undefined): Reason {
  if (home !== undefined && offerOf(draft, home) !== offer)
    return { code: "bound-elsewhere", bucket: offer.bucket, home: home.bucket };
  const closed = misfit(draft, ask, offer) ?? closedTo(draft, offer);
  if (closed !== undefined) return closed;
  const group = offer.pinnedGroup;
  return full(
    draft,
    home ??
      draft.bins.placeOf(group === undefined ? offer.bucket : { ...offer.bucket, placementGroup: group }),
  );
}

const offerOf = (draft: Draft, place: Place): BucketOffer | undefined => draft.world.buckets[place.offer];

/** The nodes of a bucket have no room for the rest of a job, and it can have no more nodes. */
function full({ bins }: Draft, place: Place): Reason {
  const nodes = bins.inGroup(place).length;
  return { code: "group-too-large", bucket: place.bucket, asked: nodes + 1, max: nodes };
}
