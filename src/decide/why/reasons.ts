import type { BucketOffer } from "../../domain/world.ts";
import type { GroupDemand, TargetDemand } from "../../domain/demand.ts";
import type { Reason } from "../../domain/reason.ts";
import { compareText } from "../../domain/text.ts";
import { Alike } from "./shared-answers.ts";
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

// ---------------------------------------------------------------- whole demands

/** Why the slots that are left could not be packed: for each bucket the first thing that said no. Jobs alike share one list. */
export function packingReasons(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  left: number,
  ceilings: readonly OwnCeiling[] = [],
): readonly Reason[] {
  const make = (): readonly Reason[] => reasonsOfPacking(draft, ask, scope, left, ceilings);
  return ceilings.length > 0 ? make() : alikeReasons.answer(draft, ask, left, make);
}

const alikeReasons = new Alike<readonly Reason[]>();

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

/** Why a floor could not be raised: for each bucket the first thing that said no. */
export function floorReasons(
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

/** Why there could not be another whole group: for each bucket the first thing that said no. `sizeOf`: nodes of a group there. */
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
 * Why a gang could not be placed whole: for each way the first thing that said no, and for each bucket that offers no way why that is.
 * `capped`: buckets whose nodes would suffice, and why a cap keeps the gang from them.
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

/** A job that names no array could have meant any, also those that are not ours. */
function notOurs(draft: Draft, ask: Ask, scope: Scope): readonly Reason[] {
  // Without a bucket the scope itself says so of every array.
  if (ask.requirements.arrays !== undefined || scope.offers.length === 0) return [];
  return [...draft.world.arrays]
    .filter(([, state]) => state === "not-managed")
    .map(([array]): Reason => ({ code: "array-not-managed", array }))
    .toSorted((a, b) => compareText(JSON.stringify(a), JSON.stringify(b)));
}

/** Nodes that would do for a job that wants them to itself, were there nobody on them. */
function inUse({ bins }: Draft, ask: Ask, scope: Scope): readonly Reason[] {
  if (ask.requirements.alone === undefined) return [];
  const isInUse = (bin: Bin): boolean => !bins.isEmpty(bin) && scope.accepts(bins.placeOfBin(bin));
  const nodes = bins.count.reduce((total, count, bin) => (isInUse(bin) ? total + count : total), 0);
  return nodes === 0 ? [] : [{ code: "not-exclusive", nodes }];
}

// ---------------------------------------------------------------- one bucket

/** Why a bucket offers a gang no way at all: it is bound elsewhere, or the group there was made for a target and does not grow. */
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

/** The nodes of a place have no room for the rest of a job, and there cannot be more of them. */
function full({ bins }: Draft, place: Place): Reason {
  const nodes = bins.inGroup(place).length;
  return { code: "group-too-large", bucket: place.bucket, asked: nodes + 1, max: nodes };
}
