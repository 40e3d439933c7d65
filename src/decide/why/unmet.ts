import type { BucketOffer } from "../../domain/world.ts";
import type { Remedy } from "../../domain/remedy.ts";
import type { TargetDemand, GroupDemand } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { Place } from "../bins/node-kinds.ts";
import type { Scope } from "../bins/scope.ts";
import { holderOf } from "../draft/caps.ts";
import type { Draft } from "../draft/draft.ts";
import type { GivenUpGroup } from "../draft/group-names.ts";
import type { ShortPool } from "../draft/pool-use.ts";
import { alternativePoolNeeds, poolReason, unitsInPools } from "../draft/pool-use.ts";
import {
  spanRefusal,
  capsRefusal,
  groupOfNew,
  misfit,
  newGroupRefusal,
  newNode,
  noCores,
  noGroupFor,
} from "../draft/refusals.ts";
import type { RefusedGang } from "../place/gang.ts";
import { STEPS_PER_REFUSAL, capRefusal, inOrder, openingRefusal } from "../place/gang-ways.ts";
import type { GangSite, Opening } from "../place/gang-ways.ts";
import type { Group } from "../place/group-members.ts";
import { existingGroups, fillsUntil, isGivenUp, isWhole, sizeIn } from "../place/group-members.ts";
import type { AskedGroups, MetGroup, ShortGroups } from "../place/groups.ts";
import { givenUpIn } from "../place/groups.ts";
import type { ShortJob } from "../place/jobs.ts";
import type { ShortTarget } from "../place/targets.ts";
import type { ReasonBudget } from "./reason-budget.ts";
import { explain, SharedAnswers } from "./reason-budget.ts";
import { presentRemedy } from "./remedy.ts";
import { groupRemedy, jobRemedy, targetRemedy } from "./remedy-of-job.ts";
import { compareText } from "../../domain/text.ts";
import { unitsOnEmpty } from "../bins/job-ask.ts";
import { closedTo } from "../draft/closed.ts";
import { closedToNames, groupOfNames, isNamed } from "../place/named.ts";
import { pinnedRefusal } from "../draft/scale-set.ts";
import type { OwnCeiling } from "../draft/caps.ts";
import { attributesOn } from "../draft/new-nodes.ts";
import type { Bin } from "../bins/bin-columns.ts";
import { isUngrouped } from "../bins/scope.ts";

/*
 * Why a demand is unmet, and its remedy. Each function is called after one demand was placed as far as possible and before the next one
 * is, so that the reasons are about the plan as it was for this demand.
 */

/** Why a demand is unmet, and the remedy if it is known. */
export interface Explained {
  readonly reasons: readonly Reason[];
  readonly binding?: Remedy;
}

/** Cost in steps of the reason and the remedy for one offer of a target. */
const STEPS_PER_REASON = 8;

/** Why a target is not reached. */
export function explainTarget(
  draft: Draft,
  demand: TargetDemand,
  set: SetName,
  scope: Scope,
  { missing, offers }: ShortTarget,
): Explained {
  return explain(draft, () => {
    draft.bins.budget.spend(STEPS_PER_REASON * offers.length);
    const ceilings = draft.caps.ceilings({ set });
    return {
      reasons: targetReasons(draft, demand, scope, missing, ceilings),
      ...presentRemedy(targetRemedy(draft, demand, offers, missing, ceilings)),
    };
  });
}

/** Why groups are missing. */
export function explainGroups(draft: Draft, short: ShortGroups): Explained {
  return explain(draft, () => whyFewer(draft, short));
}

function whyFewer(draft: Draft, { asked, count: { placed, held, met } }: ShortGroups): Explained {
  const { demand, set, scope } = asked;
  const ceilings = draft.caps.ceilings({ set });
  const sizeOf = (offer: BucketOffer): number => sizeIn(demand, offer.cores);
  const missing = demand.groups - placed;
  const others = missing > held.length ? groupReasons(draft, demand, scope, sizeOf, ceilings) : [];
  const reasons = [...met.flatMap((group) => metReasons(draft, group)), ...others];
  const waits = held.length >= missing;
  // A remedy that completes these groups and also makes the others is not searched for.
  if (held.length > 0 && !waits) return { reasons };
  const unfinished = waits ? held : unfinishedGroups(draft, asked, scope);
  const barred = (offer: BucketOffer): Reason | undefined => {
    const group = givenUpIn(draft, asked, offer);
    return group === undefined ? undefined : givenUpReason(group);
  };
  const shortage = {
    sizeOf,
    missing,
    waits,
    barred,
    unfinished: unfinished.map((group) => ({ ...group, resumed: isGivenUp(group) })),
  };
  return { reasons, ...presentRemedy(groupRemedy(draft, scope, shortage, ceilings)) };
}

function metReasons(draft: Draft, met: MetGroup): readonly Reason[] {
  return met.kind === "given-up"
    ? [givenUpReason(met.group)]
    : [fillingReason(draft, met.group), met.refusal];
}

function fillingReason(draft: Draft, group: Group): Reason {
  const { place, nodes, size } = group;
  return { code: "group-filling", bucket: place.bucket, nodes, size, until: fillsUntil(draft, group) };
}

function givenUpReason({ bucket, nodes, size, since }: GivenUpGroup): Reason {
  return { code: "group-given-up", bucket, nodes, size, since };
}

/** Groups that would be completed if there were more nodes. Groups that this plan has given up are not. */
function unfinishedGroups(
  draft: Draft,
  { demand, key, ungrouped, tally }: AskedGroups,
  scope: Scope,
): readonly Group[] {
  return existingGroups(draft, demand, key, scope, { ungrouped }).filter(
    (group) => !isWhole(group) && !tally.givenUp.has(group.place.index),
  );
}

/** Why a job is not placed completely. Beyond the {@link ReasonBudget}, only which explained job asks for the same nodes. */
export function explainJob(
  draft: Draft,
  reasonBudget: ReasonBudget,
  scope: Scope,
  home: Place | undefined,
  short: ShortJob,
): Explained {
  const { ask, missing, shortPools } = short;
  if (!reasonBudget.covers(ask)) {
    const brief = reasonBudget.brief(ask);
    return { reasons: shortPools.length === 0 ? brief : [...poolReasons(draft, shortPools, true), ...brief] };
  }
  const { reasons } = explain(draft, () => ({ reasons: whyNoPlace(draft, scope, home, short) }));
  reasonBudget.note(ask);
  return explain(draft, () => {
    const ceilings = draft.caps.ceilings(holderOf(ask));
    return {
      reasons: shortPools.length === 0 ? reasons : [...poolReasons(draft, shortPools), ...reasons],
      ...presentRemedy(jobRemedy(draft, ask, scope, home, missing, ceilings)),
    };
  });
}

function poolReasons(draft: Draft, short: readonly ShortPool[], isBrief = false): readonly Reason[] {
  const { pools: reported = [] } = draft.world;
  return short.map((one) => poolReason(draft, one, { reported, isBrief }));
}

/** Why units for which the pools have enough are not placed. */
function whyNoPlace(
  draft: Draft,
  scope: Scope,
  home: Place | undefined,
  { allowed, left, poolsLeft, refused }: ShortJob,
): readonly Reason[] {
  if (left <= 0) return [];
  if (allowed.together === "anywhere") {
    const ceilings = draft.caps.ceilings(holderOf(allowed));
    const reasons = packingReasons(draft, allowed, scope, left, ceilings);
    // What is taken outside of alternatives has already been subtracted from the pools.
    const needs = alternativePoolNeeds(allowed);
    const { short } = unitsInPools(poolsLeft, allowed.with(left), needs);
    // The same object for all jobs that share the list, so that it is folded once.
    return short.length === 0 ? reasons : [...poolReasons(draft, short), ...reasons];
  }
  switch (refused?.kind) {
    case "together":
      return whyNoGang(draft, allowed, scope, home, refused);
    case "spread": {
      const whole = packingReasons(draft, allowed, scope, allowed.units);
      const span = spanRefusal(allowed.units, allowed.units - refused.lacking);
      return [span, refused.capped, ...whole].filter((reason) => reason !== undefined);
    }
    case undefined:
      return [];
  }
}

function whyNoGang(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  home: Place | undefined,
  { openings, sites }: RefusedGang,
): readonly Reason[] {
  const all = inOrder(draft, ask, openings);
  draft.bins.budget.spend(STEPS_PER_REFUSAL * (all.length + scope.offers.length));
  return gangReasons(draft, ask, scope, home, all, cappedSites(draft, ask, sites));
}

/** By bucket: the cap that forbids a gang to use nodes there that would suffice. */
function cappedSites(
  draft: Draft,
  ask: Ask,
  sites: readonly GangSite[],
): ReadonlyMap<BucketOffer | undefined, Reason> {
  const capped = new Map<BucketOffer | undefined, Reason>();
  for (const { place, bins, have } of sites) {
    const refusal = have < ask.units ? undefined : capRefusal(draft, ask, bins, []);
    if (refusal !== undefined) capped.set(draft.world.buckets[place.offer], refusal);
  }
  return capped;
}

/** Why the remaining slots could not be packed: the first obstacle of each bucket. Identical jobs share one list. */
function packingReasons(
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
function targetReasons(
  draft: Draft,
  demand: TargetDemand,
  scope: Scope,
  missing: number,
  ceilings: readonly OwnCeiling[] = [],
): readonly Reason[] {
  const reasons = scope.offers.map((offer): Reason | undefined => {
    const closed = isNamed(demand)
      ? closedToNames(draft, demand, offer)
      : (closedTo(draft, offer) ?? pinnedRefusal(draft, offer, attributesOn(offer, demand.attributes)));
    if (closed !== undefined) return closed;
    const each = demand.amount.unit === "nodes" ? 1 : offer.cores;
    if (each <= 0) return noCores(offer, missing);
    const nodes = Math.ceil(missing / each);
    const group = isNamed(demand) ? groupOfNames(demand, offer) : offer.pinnedGroup;
    return capsRefusal(ceilings, offer, nodes) ?? draft.capacity.refusal(offer, group, nodes);
  });
  return [...scope.reasons, ...present(reasons)];
}

/** Why there could not be another whole group: the first obstacle of each bucket. `sizeOf`: number of nodes of a group there. */
function groupReasons(
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
function gangReasons(
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
