import type { BucketOffer } from "../../domain/world.ts";
import type { Remedy } from "../../domain/remedy.ts";
import type { TargetDemand } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { Place } from "../bins/node-kinds.ts";
import type { Scope } from "../bins/scope.ts";
import { holderOf } from "../draft/caps.ts";
import type { Draft } from "../draft/draft.ts";
import type { GivenUpGroup } from "../draft/group-tally.ts";
import type { ShortPool } from "../draft/pool-use.ts";
import { alternativePoolNeeds, poolReason, unitsInPools } from "../draft/pool-use.ts";
import { spanRefusal } from "../draft/refusals.ts";
import type { RefusedGang } from "../place/gang.ts";
import { STEPS_PER_REFUSAL, capRefusal, inOrder } from "../place/gang-ways.ts";
import type { GangSite } from "../place/gang-ways.ts";
import type { Group } from "../place/group-members.ts";
import { existingGroups, fillsUntil, isGivenUp, isWhole } from "../place/group-members.ts";
import { sizeIn } from "../place/group-key.ts";
import type { AskedGroups, MetGroup, ShortGroups } from "../place/groups.ts";
import { givenUpIn } from "../place/groups.ts";
import type { ShortJob } from "../place/jobs.ts";
import type { ShortTarget } from "../place/targets.ts";
import type { ReasonBudget } from "./reason-budget.ts";
import { explain } from "./reason-budget.ts";
import { targetReasons, gangReasons, groupReasons, packingReasons } from "./reasons.ts";
import { presentRemedy } from "./remedy.ts";
import { groupRemedy } from "./remedy-of-groups.ts";
import { jobRemedy } from "./remedy-of-job.ts";
import { targetRemedy } from "./remedy-of-target.ts";

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
