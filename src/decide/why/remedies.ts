import type { BucketOffer } from "../../domain/world.ts";
import type { Binding, Raise } from "../../domain/binding.ts";
import type { TargetDemand } from "../../domain/demand.ts";
import type { Reason } from "../../domain/reason.ts";
import { amountOf } from "../../domain/resources.ts";
import { Alike } from "./shared-answers.ts";
import { openOffers } from "../place/offers.ts";
import type { Ask } from "../bins/job-ask.ts";
import { unitsOnEmpty } from "../bins/job-ask.ts";
import type { Place } from "../bins/node-kinds.ts";
import { roomOnNew } from "../bins/slot-by-slot.ts";
import type { Draft } from "../draft/draft.ts";
import { closedTo, groupClosedTo } from "../draft/closed.ts";
import type { Capacity, Taken } from "../draft/capacity.ts";
import type { Step } from "./smallest-raise.ts";
import { smallestRaise } from "./smallest-raise.ts";
import { mayBeIn, namedGroups } from "../draft/named-groups.ts";
import type { Scope } from "../bins/scope.ts";
import { TOLERANCE } from "../../domain/tolerance.ts";
import type { OwnCeiling } from "../draft/caps.ts";
import { isDeallocated } from "../draft/new-nodes.ts";
import { isUngrouped, knowsNoGroups } from "../bins/scope.ts";
import { groupOfNew, misfit, newNode, noGroupFor } from "../draft/refusals.ts";
import type { Opening } from "../place/gang-ways.ts";
import { openingRefusal, waysOfGang } from "../place/gang-ways.ts";
import { offerAt } from "../draft/offered.ts";

/** A way to serve a demand with new nodes, and what forbids it whatever the limits are. */
export interface Way extends Step {
  readonly barrier: Reason | undefined;
  /** What is left of the limits once deallocated nodes that it uses are started; absent: it starts none. */
  readonly capacity?: Capacity | undefined;
}

/** What a demand still needs, and how it could have it. */
interface Shortage {
  readonly ways: readonly Way[];
  /** To be served by new nodes, in the demand's own unit. */
  readonly missing: number;
  /** Nodes that it was given in this plan, where the ways are those that gave them. */
  readonly given: readonly Taken[];
  readonly pools: readonly Raise[];
  readonly ceilings: readonly OwnCeiling[];
}

/**
 * The smallest change that would place all of a job, with everything of higher rank where this plan has put it. `missing` is in units, what
 * pools kept out included. To be called right after the job was settled, and {@link Capacity.mark} before; jobs alike share one object.
 */
export function jobBinding(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  home: Place | undefined,
  missing: number,
  ceilings: readonly OwnCeiling[] = [],
): Binding | undefined {
  const make = (): Binding | undefined => bindingOfJob(draft, ask, scope, home, missing, ceilings);
  return ceilings.length > 0 ? make() : alikeBindings.answer(draft, ask, missing, make);
}

const alikeBindings = new Alike<Binding | undefined>();

function bindingOfJob(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  home: Place | undefined,
  missing: number,
  ceilings: readonly OwnCeiling[],
): Binding | undefined {
  const pools = poolRaises(draft, ask, missing);
  if (ask.together === "spread")
    return bindingOf(draft, { ...spreadShortage(draft, ask, scope), given: [], pools, ceilings });
  if (ask.together !== "anywhere") {
    const { complete, openings } = waysOfGang(draft, ask, scope, home);
    const ways = openings.map((opening) => gangWay(draft, ask, opening));
    return bindingOf(draft, { ways, missing: complete ? 0 : 1, given: [], pools, ceilings });
  }
  const ways = inOrderOfUse(draft, ask, scope).map((offer): Way => {
    const group = groupOfNew(draft, ask, offer);
    const serves = servedByNew(draft, ask, offer, group);
    const barrier =
      closedTo(draft, offer) ?? misfit(draft, ask, offer, group) ?? groupless(draft, ask, offer);
    return { offer, group, lot: 1, serves, most: Number.POSITIVE_INFINITY, barrier };
  });
  const rest = pools.length === 0 ? missing : Math.max(0, missing - unitsFree(draft, ask));
  return bindingOf(draft, { ways, missing: rest, given: draft.capacity.takenSinceMark(), pools, ceilings });
}

/** Why a job that asks for a placement group can have none of a bucket, whatever its limits: none is made there, and it may use none that has a name. */
function groupless(draft: Draft, ask: Ask, offer: BucketOffer): Reason | undefined {
  const why = noGroupFor(draft, ask, offer);
  if (why === undefined) return undefined;
  return namedGroups(draft, offer).some((group) => mayBeIn(draft, ask, offer, group)) ? undefined : why;
}

/** Units on a new node; of what alternatives take from pools, as much as is left there. */
function servedByNew(draft: Draft, ask: Ask, offer: BucketOffer, group: Step["group"]): number {
  const { bins } = draft;
  const made = newNode(draft, offer, group);
  if (ask.jobClass.takes !== undefined) return unitsOnEmpty(ask, made, bins.resources);
  return roomOnNew(bins, made, bins.ground.kindOfOffer(offer).capacity, ask);
}

/** A gang that may span buckets: each of its nodes by itself, those that are there first. */
function spreadShortage(draft: Draft, ask: Ask, scope: Scope): Pick<Shortage, "ways" | "missing"> {
  const ways = inOrderOfUse(draft, ask, scope).map((offer): Way => {
    // It opens no groups of its own.
    const barrier = closedTo(draft, offer) ?? misfit(draft, ask, offer, offer.pinnedGroup);
    const serves = barrier === undefined ? 1 : 0;
    return { offer, group: offer.pinnedGroup, lot: 1, serves, most: Number.POSITIVE_INFINITY, barrier };
  });
  const bound = draft.bound.get(ask.demand);
  let missing = ask.units;
  for (const bin of draft.bins.each(ask))
    if (bound?.has(bin) !== true && !isDeallocated(draft.bins, bin)) missing -= draft.bins.count[bin] ?? 0;
  return { ways, missing };
}

/** Offers in the order in which the job would be given new nodes; those that it would not be given at all come last. */
function inOrderOfUse(draft: Draft, ask: Ask, scope: Scope): readonly BucketOffer[] {
  const { all, byScore } = openOffers(draft, ask, scope, ask.requirements.grouped);
  const open = draft.policy.among === "priority" ? all : byScore.flatMap(({ byPrice }) => byPrice);
  return [...new Set([...open.map(({ offer }) => offer), ...scope.offers])];
}

/** The same for a floor; `offers` in the order in which it would be given new nodes, `missing` in the unit of its amount. */
export function floorBinding(
  draft: Draft,
  demand: TargetDemand,
  offers: readonly BucketOffer[],
  missing: number,
  ceilings: readonly OwnCeiling[] = [],
): Binding | undefined {
  const ways = offers.flatMap((offer): Way[] => {
    const serves = demand.amount.unit === "nodes" ? 1 : offer.cores;
    const barrier = closedTo(draft, offer);
    const most = Number.POSITIVE_INFINITY;
    return serves > 0 ? [{ offer, group: offer.pinnedGroup, lot: 1, serves, most, barrier }] : [];
  });
  return bindingOf(draft, { ways, missing, given: draft.capacity.takenSinceMark(), pools: [], ceilings });
}

/** What a demand for groups lacks. */
export interface GroupShortage {
  /** Nodes of a group in a bucket. */
  readonly sizeOf: (offer: BucketOffer) => number;
  /** Groups that lack nodes, in the order in which they would be completed; `resumed`: only when their bucket's turn comes. */
  readonly unfinished: readonly (Unfinished & { readonly resumed: boolean })[];
  /** In groups. */
  readonly missing: number;
  /** All that are missing are unfinished, and waited for: nothing is made in their place. */
  readonly waits: boolean;
  /** Why no new group is made in a bucket, whatever its limits. */
  readonly barred: (offer: BucketOffer) => Reason | undefined;
}

/** A group that exists and is not whole. */
export interface Unfinished {
  readonly place: Place;
  readonly nodes: number;
  readonly size: number;
}

/** The same for groups. */
export function groupBinding(
  draft: Draft,
  scope: Scope,
  shortage: GroupShortage,
  ceilings: readonly OwnCeiling[] = [],
): Binding | undefined {
  const { missing, unfinished, waits } = shortage;
  const taken = draft.capacity.takenSinceMark();
  // Outside of placement groups what is no whole group has completed one that was there, and is not to be had again.
  const given = isUngrouped(scope)
    ? taken.map((one) => ({ ...one, nodes: one.nodes - (one.nodes % shortage.sizeOf(one.offer)) }))
    : taken;
  const grown = given
    .filter((one) => one.group !== undefined && !isFresh(draft, one))
    .map(({ offer, group, nodes }) => completionWay(draft, offer, group, nodes));
  const [first, resumed] = [false, true].map((late) =>
    unfinished
      .filter((one) => one.resumed === late)
      .flatMap(({ place, nodes, size }) => {
        const offer = offerAt(draft.world, scope, place);
        const group = place.bucket.placementGroup;
        return offer === undefined ? [] : [completionWay(draft, offer, group, size - nodes)];
      }),
  );
  const completions = [...grown, ...(first ?? [])].toSorted((x, y) => x.lot - y.lot);
  const others = scope.offers.flatMap((offer) => [
    ...(resumed ?? []).filter((way) => way.offer === offer),
    ...freshWays(draft, scope, shortage, offer, given),
  ]);
  const ways = waits ? completions : [...completions, ...others];
  return (
    bindingOf(draft, { ways, missing, given, pools: [], ceilings }) ?? onlyGroupOf(draft, scope, shortage)
  );
}

/** More groups are asked for than arrays with a group of their own have. */
function onlyGroupOf(draft: Draft, { offers }: Scope, { sizeOf }: GroupShortage): Binding | undefined {
  const isMeant = (offer: BucketOffer): boolean =>
    offer.pinnedGroup !== undefined && Number.isFinite(sizeOf(offer)) && closedTo(draft, offer) === undefined;
  const { bucket, pinnedGroup: placementGroup } = offers.find(isMeant) ?? {};
  if (bucket === undefined || placementGroup === undefined) return undefined;
  return { kind: "no-raise", reason: { code: "only-group", bucket: { ...bucket, placementGroup } } };
}

/**
 * For a demand that no raise helps, and of which nothing else is known than why it is unmet: the first thing that stands and is no limit.
 */
export function standingBinding(reasons: readonly Reason[]): Binding | undefined {
  const [first] = reasons;
  if (first === undefined || first.code === "too-many-unmet" || first.code === "not-explained")
    return undefined;
  const cap = reasons.find(isCap);
  if (cap !== undefined)
    return { kind: "raise", raises: [{ of: "limit", limit: cap.limit, more: cap.asked - cap.left }] };
  return { kind: "no-raise", reason: reasons.find((reason) => !isRaisable(reason)) ?? first };
}

type LimitReason = Extract<Reason, { readonly code: "limit-reached" }>;

/** A gang has its nodes, and a ceiling of our own keeps it from them. */
const isCap = (reason: Reason): reason is LimitReason =>
  reason.code === "limit-reached" &&
  (reason.limit.kind === "request-set-cap" || reason.limit.kind === "user-cap");

function completionWay(draft: Draft, offer: BucketOffer, group: Step["group"], lot: number): Way {
  return { offer, group, lot, serves: 1, most: 1, barrier: groupBarrier(draft, offer, group) };
}

/** New groups in a bucket. */
function freshWays(
  draft: Draft,
  scope: Scope,
  { sizeOf, barred }: GroupShortage,
  offer: BucketOffer,
  given: readonly Taken[],
): readonly Way[] {
  const lot = sizeOf(offer);
  if (!Number.isFinite(lot)) return [];
  const most = Number.POSITIVE_INFINITY;
  if (isUngrouped(scope)) {
    const barrier = barred(offer) ?? closedTo(draft, offer);
    return [{ offer, group: undefined, lot, serves: 1, most, barrier }];
  }
  const pinned = offer.pinnedGroup;
  const ours = given.some((one) => one.offer === offer && isFresh(draft, one));
  // The array's only group serves once, and is taken.
  if (pinned !== undefined && !ours && draft.capacity.groupSize(offer, pinned) > 0) return [];
  const barrier = barred(offer) ?? groupBarrier(draft, offer, pinned ?? "new");
  return [{ offer, group: pinned ?? "new", lot, serves: 1, most: pinned === undefined ? most : 1, barrier }];
}

/** Whether nodes of this plan made their placement group; else they completed one. */
function isFresh({ capacity }: Draft, { offer, group, nodes }: Taken): boolean {
  return group !== undefined && capacity.groupSize(offer, group) <= nodes;
}

/** For outcomes, where a binding that is not there is left out. */
export function presentBinding(binding: Binding | undefined): { readonly binding?: Binding } {
  return binding === undefined ? {} : { binding };
}

function gangWay(draft: Draft, ask: Ask, opening: Opening): Way {
  const { offer, group, nodes, site } = opening;
  const refusal = openingRefusal(draft, ask, opening);
  const barrier = isRaisable(refusal) ? undefined : refusal;
  return { offer, group, lot: nodes, serves: 1, most: 1, barrier, capacity: site?.afterWaking };
}

function groupBarrier(draft: Draft, offer: BucketOffer, group: Step["group"]): Reason | undefined {
  const closed =
    closedTo(draft, offer) ?? (group === undefined ? undefined : groupClosedTo(draft, offer, group));
  if (closed !== undefined || group === undefined) return closed;
  return knowsNoGroups(offer) ? { code: "no-placement-group", bucket: offer.bucket } : undefined;
}

/** Limits and group sizes can be raised; everything else stands. */
function isRaisable(reason: Reason | undefined): boolean {
  return reason === undefined || reason.code === "limit-reached" || reason.code === "group-too-large";
}

/** The smallest change with which one of the ways, or some together, serve all that is missing; or what stands against it. */
export function bindingOf(draft: Draft, shortage: Shortage): Binding | undefined {
  const { ways, pools } = shortage;
  if (shortage.missing <= 0) return pools.length === 0 ? undefined : { kind: "raise", raises: pools };
  const open = ways.filter(({ barrier }) => barrier === undefined);
  const raises = leastOf([
    raisesFor(
      draft,
      shortage,
      open.filter(({ capacity }) => capacity === undefined),
    ),
    ...open.map((way) => (way.capacity === undefined ? undefined : raisesFor(draft, shortage, [way]))),
  ]);
  // Limits suffice, then: what stands against it is among the reasons.
  if (raises?.length === 0 && pools.length === 0) return undefined;
  if (raises !== undefined) return { kind: "raise", raises: [...pools, ...raises] };
  const barriers = ways.flatMap((way) => (way.barrier === undefined ? [] : [{ way, barrier: way.barrier }]));
  return waitFor(draft, shortage) ?? nearestOf(ways) ?? firstOf(barriers.map(({ barrier }) => barrier));
}

/** The fewest raises; of as many the first. */
function leastOf(found: readonly (readonly Raise[] | undefined)[]): readonly Raise[] | undefined {
  const [least] = found.filter((raises) => raises !== undefined).toSorted((a, b) => a.length - b.length);
  return least;
}

function raisesFor(draft: Draft, shortage: Shortage, ways: readonly Way[]): readonly Raise[] | undefined {
  if (ways.length === 0) return undefined;
  const { missing, given, ceilings } = shortage;
  const takers = given.map((taken) => ({ taken, way: ways.find((way) => mayHaveTaken(way, taken)) }));
  const counted = takers.flatMap(({ taken, way }) => (way === undefined ? [] : [{ taken, way }]));
  const served = counted.reduce((sum, { taken, way }) => sum + (taken.nodes / way.lot) * way.serves, 0);
  const { world } = draft;
  return smallestRaise({
    budget: draft.bins.budget,
    capacity: ways[0]?.capacity ?? draft.capacity,
    limits: world.limits,
    ceilings,
    steps: ways,
    wanted: missing + served,
    given: counted.map(({ taken }) => taken),
  });
}

function mayHaveTaken(way: Way, { offer, group }: Taken): boolean {
  return way.offer === offer && (way.group === group || way.group === "new");
}

/** Of the buckets that would do and are pausing, the one whose pause ends first. */
function waitFor(draft: Draft, shortage: Shortage): Binding | undefined {
  const pausing = shortage.ways
    .flatMap((way) => (way.barrier?.code === "backing-off" ? [{ way, pause: way.barrier }] : []))
    .filter(({ way }) => way.serves >= 1 && Number.isFinite(way.lot))
    .toSorted((a, b) => a.pause.until - b.pause.until);
  const [first] = pausing;
  if (first === undefined) return undefined;
  const raises = raisesFor(draft, shortage, [first.way]) ?? [];
  const { bucket, until } = first.pause;
  return { kind: "wait", bucket, until, raises: [...shortage.pools, ...raises] };
}

/** The bucket that comes nearest to what one node must offer: least asked in proportion to what is there, then the first. */
function nearestOf(ways: readonly Way[]): Binding | undefined {
  const misfits = ways.flatMap(({ barrier, offer }) =>
    barrier?.code === "does-not-fit" ? [{ barrier, offer }] : [],
  );
  const ratio = ({ barrier }: (typeof misfits)[number]): number =>
    barrier.asked / Math.max(barrier.offered, TOLERANCE);
  const [nearest] = misfits.toSorted((a, b) => ratio(a) - ratio(b));
  if (nearest === undefined) return undefined;
  const { resource, asked, offered, unit, bucket } = nearest.barrier;
  const largest = ways.every(({ offer }) => amountOf(offer.resources[resource]) <= offered);
  return {
    kind: "too-large",
    resource,
    asked,
    offered,
    bucket,
    largest,
    ...(unit === undefined ? {} : { unit }),
  };
}

function firstOf(barriers: readonly Reason[]): Binding | undefined {
  const [reason] = barriers;
  return reason === undefined ? undefined : { kind: "no-raise", reason };
}

/** What each pool lacks for this many more units; of what is left, as the job has taken its share already. */
function poolRaises(draft: Draft, ask: Ask, missing: number): readonly Raise[] {
  const raises: Raise[] = [];
  for (const [pool, amount] of ask.requirements.pools) {
    const lacking = amount * ask.slotsPerUnit * missing - (draft.pools.get(pool) ?? 0);
    if (lacking > TOLERANCE) raises.push({ of: "pool", pool, more: lacking });
  }
  return raises;
}

/** Units that would find a place on nodes that are there or planned, were it not for a pool. */
function unitsFree(draft: Draft, ask: Ask): number {
  let units = 0;
  for (const bin of draft.bins.each(ask)) {
    if (ask.isGang && draft.bins.holds(bin, ask.by)) continue;
    units += Math.max(0, draft.bins.unitsOn(bin, ask)) * (draft.bins.count[bin] ?? 0);
    if (units >= ask.units) break;
  }
  return units;
}
