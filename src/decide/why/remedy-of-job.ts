import type { Raise, Remedy } from "../../domain/remedy.ts";
import type { Reason } from "../../domain/reason.ts";
import { TOLERANCE } from "../../domain/resources.ts";
import type { BucketOffer } from "../../domain/world.ts";
import type { Ask } from "../bins/job-ask.ts";
import { unitsOnEmpty } from "../bins/job-ask.ts";
import type { Place } from "../bins/node-kinds.ts";
import type { Scope } from "../bins/scope.ts";
import { roomOnNew } from "../bins/slot-by-slot.ts";
import type { OwnCeiling } from "../draft/caps.ts";
import { closedTo, groupClosedTo } from "../draft/closed.ts";
import type { Draft } from "../draft/draft.ts";
import { mayBeIn, namedGroups } from "../draft/named-groups.ts";
import { isDeallocated } from "../draft/new-nodes.ts";
import { groupOfNew, misfit, newNode, noGroupFor } from "../draft/refusals.ts";
import type { Opening } from "../place/gang-ways.ts";
import { openingRefusal, waysOfGang } from "../place/gang-ways.ts";
import { closedToNames, groupOfNames, isNamed } from "../place/named.ts";
import { openOffers } from "../place/offers.ts";
import { poolRaise } from "../draft/pool-use.ts";
import type { Lack } from "./lack.ts";
import { lackOf } from "./lack.ts";
import type { CheckedExpansion, Shortage } from "./remedy.ts";
import { isRaisable, remedyOf } from "./remedy.ts";
import { SharedAnswers } from "./reason-budget.ts";
import { isUngrouped, knowsNoGroups } from "../bins/scope.ts";
import type { Taken } from "../draft/capacity.ts";
import { offerAt } from "../draft/offered.ts";
import type { TargetDemand } from "../../domain/demand.ts";

/**
 * The smallest change that would place all of a job, with everything of higher rank where this plan has put it. `missing` is in units and
 * includes those that pools exclude. Call it right after the job was placed, with {@link Capacity.mark} before that. Identical jobs share
 * one object.
 */
export function jobRemedy(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  home: Place | undefined,
  missing: number,
  ceilings: readonly OwnCeiling[],
): Remedy | undefined {
  const make = (): Remedy | undefined => findRemedy(draft, ask, scope, home, missing, ceilings);
  return ceilings.length > 0 ? make() : sharedRemedies.answer(draft, ask, missing, make);
}

const sharedRemedies = new SharedAnswers<Remedy | undefined>();

function findRemedy(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  home: Place | undefined,
  missing: number,
  ceilings: readonly OwnCeiling[],
): Remedy | undefined {
  const pools = poolRaises(draft, ask, missing);
  const lack = (): Lack | undefined => (home === undefined ? lackOf(draft, ask) : undefined);
  if (ask.together === "spread")
    return remedyOf(draft, { ...spreadShortage(draft, ask, scope), given: [], pools, ceilings, lack });
  if (ask.together !== "anywhere") {
    const { complete, openings } = waysOfGang(draft, ask, scope, home);
    const expansions = openings.map((opening) => gangExpansion(draft, ask, opening));
    return remedyOf(draft, { expansions, missing: complete ? 0 : 1, given: [], pools, ceilings, lack });
  }
  const expansions = inOrderOfUse(draft, ask, scope).map((offer): CheckedExpansion => {
    const group = groupOfNew(draft, ask, offer);
    const serves = servedByNew(draft, ask, offer, group);
    const barrier =
      closedTo(draft, offer) ?? misfit(draft, ask, offer, group) ?? groupless(draft, ask, offer);
    return { offer, group, lot: 1, serves, most: Number.POSITIVE_INFINITY, barrier };
  });
  const rest = pools.length === 0 ? missing : Math.max(0, missing - unitsFree(draft, ask));
  const shortage = { expansions, missing: rest, pools, ceilings, lack };
  const given = draft.capacity.takenSinceMark();
  // If other nodes than those that it got would serve all of it, the raise is for more nodes beside them.
  return remedyOf(draft, { ...shortage, given }) ?? remedyOf(draft, { ...shortage, given: [] });
}

/** Why a job that asks for a placement group can use none of a bucket, whatever its limits: none is made there, and it may use none that has a name. */
function groupless(draft: Draft, ask: Ask, offer: BucketOffer): Reason | undefined {
  const why = noGroupFor(draft, ask, offer);
  if (why === undefined) return undefined;
  return namedGroups(draft, offer).some((group) => mayBeIn(draft, ask, offer, group)) ? undefined : why;
}

/** Units on a new node. Alternatives that take from pools get what is left there. */
function servedByNew(draft: Draft, ask: Ask, offer: BucketOffer, group: CheckedExpansion["group"]): number {
  const { bins } = draft;
  const made = newNode(draft, offer, group);
  if (ask.jobClass.takes !== undefined) return unitsOnEmpty(ask, made, bins.resources);
  return roomOnNew(bins, made, bins.ground.kindOfOffer(offer).capacity, ask);
}

/** A gang that may span buckets: one expansion for each node, and existing nodes count first. */
function spreadShortage(draft: Draft, ask: Ask, scope: Scope): Pick<Shortage, "expansions" | "missing"> {
  const expansions = inOrderOfUse(draft, ask, scope).map((offer): CheckedExpansion => {
    // It opens no groups of its own.
    const barrier = closedTo(draft, offer) ?? misfit(draft, ask, offer, offer.pinnedGroup);
    const serves = barrier === undefined ? 1 : 0;
    return { offer, group: offer.pinnedGroup, lot: 1, serves, most: Number.POSITIVE_INFINITY, barrier };
  });
  const bound = draft.bound.get(ask.demand);
  let missing = ask.units;
  for (const bin of draft.bins.each(ask))
    if (bound?.has(bin) !== true && !isDeallocated(draft.bins, bin)) missing -= draft.bins.count[bin] ?? 0;
  return { expansions, missing };
}

function gangExpansion(draft: Draft, ask: Ask, opening: Opening): CheckedExpansion {
  const { offer, group, nodes, site } = opening;
  const refusal = openingRefusal(draft, ask, opening);
  const barrier = isRaisable(refusal) ? undefined : refusal;
  return { offer, group, lot: nodes, serves: 1, most: 1, barrier, capacity: site?.afterStarts };
}

/** Offers in the order in which the job would get new nodes. Offers that are not open to it come last. */
function inOrderOfUse(draft: Draft, ask: Ask, scope: Scope): readonly BucketOffer[] {
  const { all, byScore } = openOffers(draft, ask, scope, ask.requirements.grouped);
  const open = draft.policy.among === "priority" ? all : byScore.flatMap(({ byPrice }) => byPrice);
  return [...new Set([...open.map(({ offer }) => offer), ...scope.offers])];
}

/** What each pool lacks for this many more units. The job's placed units have already been taken from what is left. */
function poolRaises(draft: Draft, ask: Ask, missing: number): readonly Raise[] {
  const raises: Raise[] = [];
  for (const [pool, amount] of ask.requirements.pools) {
    const lacking = amount * ask.slotsPerUnit * missing - (draft.pools.get(pool) ?? 0);
    if (lacking > TOLERANCE) raises.push(poolRaise(draft.pools, pool, lacking));
  }
  return raises;
}

/** Units that existing or planned nodes have room for, if a pool did not exclude them. */
function unitsFree(draft: Draft, ask: Ask): number {
  let units = 0;
  for (const bin of draft.bins.each(ask)) {
    if (ask.isGang && draft.bins.holds(bin, ask.by)) continue;
    units += Math.max(0, draft.bins.unitsOn(bin, ask)) * (draft.bins.count[bin] ?? 0);
    if (units >= ask.units) break;
  }
  return units;
}

type ExpansionGroup = CheckedExpansion["group"];

/** What a demand for groups lacks. */
interface GroupShortage {
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
interface Unfinished {
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

/**
 * The smallest change that would reach a target. `offers` are in the order in which it would get new nodes, `missing` is in the unit of its
 * amount.
 */
export function targetRemedy(
  draft: Draft,
  demand: TargetDemand,
  offers: readonly BucketOffer[],
  missing: number,
  ceilings: readonly OwnCeiling[],
): Remedy | undefined {
  const expansions = offers.flatMap((offer): CheckedExpansion[] => {
    // What one job needs together comes at once, in one place.
    const lot = demand.named?.together === true ? missing : 1;
    const serves = demand.amount.unit === "nodes" ? lot : offer.cores;
    const [barrier, group] = isNamed(demand)
      ? [closedToNames(draft, demand, offer), groupOfNames(demand, offer)]
      : [closedTo(draft, offer), offer.pinnedGroup];
    const most = Number.POSITIVE_INFINITY;
    return serves > 0 ? [{ offer, group, lot, serves, most, barrier }] : [];
  });
  const given = draft.capacity.takenSinceMark();
  return remedyOf(draft, { expansions, missing, given, pools: [], ceilings });
}
