import type { BucketOffer } from "../../domain/world.ts";
import type { Binding } from "../../domain/binding.ts";
import type { TargetDemand } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { Place } from "../bins/node-kinds.ts";
import type { Scope } from "../bins/scope.ts";
import { holderOf } from "../draft/caps.ts";
import type { Draft } from "../draft/draft.ts";
import type { GivenUpGroup } from "../draft/group-tally.ts";
import { alternativePoolNeeds, unitsInPools } from "../draft/pool-use.ts";
import { spanRefusal } from "../draft/refusals.ts";
import type { RefusedGang } from "../place/gang.ts";
import { STEPS_OF_REFUSAL, capRefusal, inOrder } from "../place/gang-ways.ts";
import type { Site } from "../place/gang-ways.ts";
import type { Group } from "../place/group-members.ts";
import { existingGroups, fillsUntil, isGivenUp, isWhole } from "../place/group-members.ts";
import { sizeIn } from "../place/group-key.ts";
import type { AskedGroups, MetGroup, ShortGroups } from "../place/groups.ts";
import { givenUpIn } from "../place/groups.ts";
import type { ShortJob } from "../place/jobs.ts";
import type { ShortTarget } from "../place/targets.ts";
import type { Telling } from "./reason-budget.ts";
import { explain } from "./reason-budget.ts";
import { floorReasons, gangReasons, groupReasons, packingReasons } from "./reasons.ts";
import { floorBinding, groupBinding, jobBinding, presentBinding } from "./remedies.ts";

/*
 * Why a demand is unmet, and what would help. Each function is called after a demand was placed as far as it can be, and before the next
 * one is: reasons are about the plan as this demand has met it.
 */

/** Why a demand is unmet, and what would help, if that is known. */
export interface Explained {
  readonly reasons: readonly Reason[];
  readonly binding?: Binding;
}

/** Why an offer brings too little, and what would help, costs about as much as this many steps. */
const STEPS_OF_REASON = 8;

/** Why a target is not reached. */
export function explainTarget(
  draft: Draft,
  demand: TargetDemand,
  set: SetName,
  scope: Scope,
  { missing, offers }: ShortTarget,
): Explained {
  return explain(draft, () => {
    draft.bins.budget.spend(STEPS_OF_REASON * offers.length);
    const ceilings = draft.caps.ceilings({ set });
    return {
      reasons: floorReasons(draft, demand, scope, missing, ceilings),
      ...presentBinding(floorBinding(draft, demand, offers, missing, ceilings)),
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
  // What would complete those that are waited for and make the others too is not searched for.
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
  return { reasons, ...presentBinding(groupBinding(draft, scope, shortage, ceilings)) };
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

/** Groups that would be completed if more could be had: not those that this plan has given up. */
function unfinishedGroups(
  draft: Draft,
  { demand, key, ungrouped, tally }: AskedGroups,
  scope: Scope,
): readonly Group[] {
  return existingGroups(draft, demand, key, scope, ungrouped).filter(
    (group) => !isWhole(group) && !tally.givenUp.has(group.place.index),
  );
}

/** Why not all of a job has a place; of one beyond the first {@link Telling}, only which of these asks for the same. */
export function explainJob(
  draft: Draft,
  telling: Telling,
  scope: Scope,
  home: Place | undefined,
  short: ShortJob,
): Explained {
  const { ask, missing, shortPools } = short;
  if (!telling.covers(ask)) {
    const brief = telling.brief(ask);
    return { reasons: shortPools.length === 0 ? brief : [...shortPools, ...brief] };
  }
  const { reasons } = explain(draft, () => ({ reasons: whyNoPlace(draft, scope, home, short) }));
  telling.note(ask);
  return explain(draft, () => {
    const ceilings = draft.caps.ceilings(holderOf(ask));
    return {
      reasons: shortPools.length === 0 ? reasons : [...shortPools, ...reasons],
      ...presentBinding(jobBinding(draft, ask, scope, home, missing, ceilings)),
    };
  });
}

/** Why what the pools have enough for has no place. */
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
    // What stands at the top had been taken from its pools by then.
    const needs = alternativePoolNeeds(allowed);
    const short = unitsInPools(poolsLeft, allowed.with(left), needs, draft.world.pools);
    // The list itself: jobs that share it are told the same, and it is gathered once.
    return short.reasons.length === 0 ? reasons : [...short.reasons, ...reasons];
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
  draft.bins.budget.spend(STEPS_OF_REFUSAL * (all.length + scope.offers.length));
  return gangReasons(draft, ask, scope, home, all, cappedSites(draft, ask, sites));
}

/** By bucket: the cap that keeps a gang from nodes there that would suffice. */
function cappedSites(
  draft: Draft,
  ask: Ask,
  sites: readonly Site[],
): ReadonlyMap<BucketOffer | undefined, Reason> {
  const capped = new Map<BucketOffer | undefined, Reason>();
  for (const { place, bins, have } of sites) {
    const refusal = have < ask.units ? undefined : capRefusal(draft, ask, bins, []);
    if (refusal !== undefined) capped.set(draft.world.buckets[place.offer], refusal);
  }
  return capped;
}
