import type { BucketOffer } from "../../domain/allocation.ts";
import type { AmountUnit } from "../../domain/amount-text.ts";
import type { GroupDemand, JobDemand, TargetDemand } from "../../domain/demand.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import { boundRefusal } from "../../domain/bound-refusal.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { amountOf } from "../../domain/resources.ts";
import { isSize } from "../../domain/size.ts";
import { compareText } from "../../domain/text.ts";
import { Alike } from "./shared-answers.ts";
import type { Ask } from "../bins/job-ask.ts";
import { unitsOnEmpty } from "../bins/job-ask.ts";
import type { Draft } from "../draft/draft.ts";
import { closedTo, groupClosedTo, newGroupClosedTo } from "../draft/closed.ts";
import type { Opening } from "../place/gang.ts";
import type { Place } from "../bins/node-kinds.ts";
import { inGroup } from "../bins/node-kinds.ts";
import { isUngrouped, knowsNoGroups } from "../place/group-members.ts";
import { holderOf } from "../draft/caps.ts";
import type { Subject } from "../bins/empty-node-fit.ts";
import type { Capacity } from "../draft/capacity.ts";
import { mayBeIn, mayBeInNew, namedGroups } from "../draft/named-groups.ts";
import { pinnedRefusal } from "../draft/scale-set.ts";
import type { Scope } from "../bins/scope.ts";
import type { OwnCeiling } from "../draft/caps.ts";
import { attributesOn } from "../draft/new-nodes.ts";
import { groupKey, nextGroupName } from "../draft/group-names.ts";
import type { Bin } from "../bins/bin.ts";

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

/** Why a bucket with room has no placement group for a job that asks for one: it knows none, or none may be made at the moment. */
export function noGroupFor(draft: Draft, { requirements }: Ask, offer: BucketOffer): Reason | undefined {
  if (!requirements.grouped || offer.pinnedGroup !== undefined) return undefined;
  if (offer.maxPlacementGroupSize === undefined) return { code: "no-placement-group", bucket: offer.bucket };
  return newGroupClosedTo(draft, offer);
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

/** What keeps a unit of the job from an empty node of the bucket. */
export function misfit(
  draft: Draft,
  ask: Ask,
  offer: BucketOffer,
  group: PlacementGroup | "new" | undefined = groupOfNew(draft, ask, offer),
): Reason | undefined {
  const unfit = spotRefusal(ask.jobClass.spot, offer) ?? pinnedRefusal(draft, offer, offer.attributes);
  if (unfit !== undefined) return unfit;
  const subject = newNode(draft, offer, group);
  if (unitsOnEmpty(ask, subject, draft.bins.resources) >= 1) return undefined;
  const { refusal } = ask.jobClass.fit.on(subject);
  return refusal === undefined
    ? tooSmall(draft, ask, subject)
    : refusalReason(offer, refusal, ask.slotsPerUnit);
}

/** Of what an empty node has too little for one unit of a job, though it meets the constraints of a slot. */
export function tooSmall(draft: Draft, ask: Ask, node: Subject): Reason {
  const needs = ask.jobClass.fit.on(node);
  const asked = needs.amount.map((amount) => amount * ask.slotsPerUnit);
  const names = needs.resource.map((position) => draft.bins.resources[position] ?? "");
  const short = names.findIndex((name, i) => amountOf(node.resources[name]) < (asked[i] ?? 0));
  const resource = names[short] ?? "";
  return {
    code: "does-not-fit",
    bucket: node.bucket,
    resource,
    asked: asked[short] ?? 0,
    offered: amountOf(node.resources[resource]),
    ...unitOf(node, resource),
  };
}

/** In which group new nodes for the job would be: the bucket's only one, one that is made for them or else one that the job names, or none. */
export function groupOfNew(draft: Draft, ask: Ask, offer: BucketOffer): PlacementGroup | "new" | undefined {
  if (offer.pinnedGroup !== undefined) return offer.pinnedGroup;
  if (!ask.requirements.grouped && ask.together !== "one-group") return undefined;
  if (mayBeInNew(draft, ask, offer)) return "new";
  return namedGroups(draft, offer).find((group) => mayBeIn(draft, ask, offer, group)) ?? "new";
}

/** A new node as constraints see it. */
export function newNode(
  draft: Draft,
  offer: BucketOffer,
  group: PlacementGroup | "new" | undefined,
): Subject {
  if (group === undefined) return offer;
  const name = group === "new" ? nextGroupName(draft, groupKey(offer)) : group;
  return inGroup(offer, { ...offer.bucket, placementGroup: name });
}

/** Whether the bucket's nodes are of the kind that the job allows; where it said nothing, any will do. */
export function spotRefusal(wanted: JobDemand["spot"], offer: BucketOffer): Reason | undefined {
  if (wanted === "never" && offer.spot === true) return { code: "spot-not-allowed", bucket: offer.bucket };
  if (wanted === "only" && offer.spot !== true) return { code: "not-spot", bucket: offer.bucket };
  return undefined;
}

function unitOf(offer: Pick<BucketOffer, "resources">, resource: string): { readonly unit?: AmountUnit } {
  return isSize(offer.resources[resource]) ? { unit: "bytes" } : {};
}

/** Why a bucket's nodes do not meet a job's constraints. A refusal is of one slot; a node must take `slots` of them at once. */
export function refusalReason({ bucket }: Pick<BucketOffer, "bucket">, refusal: Refusal, slots = 1): Reason {
  if (refusal.code !== "insufficient-resource")
    return { code: "requirement", bucket, refusal: boundRefusal(refusal) };
  const { resource, asked, offered } = refusal;
  const unit = isSize(asked) || isSize(offered) ? ({ unit: "bytes" } as const) : {};
  const amounts = { asked: amountOf(asked) * slots, offered: amountOf(offered) };
  return { code: "does-not-fit", bucket, resource, ...amounts, ...unit };
}

/** Why so many new nodes cannot be had in a placement group (or, undefined, in none) of an open bucket. */
export function roomRefusal(
  draft: Draft,
  offer: BucketOffer,
  group: PlacementGroup | "new" | undefined,
  nodes: number,
): Reason | undefined {
  if (group === undefined) return draft.capacity.refusal(offer, undefined, nodes);
  const max = offer.maxPlacementGroupSize;
  if (knowsNoGroups(offer)) {
    return { code: "no-placement-group", bucket: offer.bucket };
  }
  const paused = groupClosedTo(draft, offer, group);
  if (paused !== undefined) return paused;
  if (max !== undefined && nodes > max)
    return { code: "group-too-large", bucket: offer.bucket, asked: nodes, max };
  return draft.capacity.refusal(offer, group === "new" ? undefined : group, nodes);
}

/** Why so many deallocated nodes of a bucket cannot be started: they take from the limits what new ones would. */
export function startRefusal(capacity: Capacity, offer: BucketOffer, nodes: number): Reason | undefined {
  const refusal = capacity.refusal(offer, undefined, nodes);
  return refusal?.code === "limit-reached" ? { ...refusal, starting: true } : refusal;
}

/** Why a ceiling of our own does not allow so many more nodes of a bucket. */
export function capRefusal(ceiling: OwnCeiling, offer: BucketOffer, nodes: number): Reason | undefined {
  const asked = ceiling.amount(offer) * nodes;
  if (asked <= ceiling.left) return undefined;
  const { id, used, max, left } = ceiling;
  return { code: "limit-reached", limit: id, used, max, left, asked, bucket: offer.bucket };
}

/** The first of our ceilings that does not allow so many more nodes of a bucket. */
export function capsRefusal(
  ceilings: readonly OwnCeiling[],
  offer: BucketOffer,
  nodes: number,
): Reason | undefined {
  for (const ceiling of ceilings) {
    const refusal = capRefusal(ceiling, offer, nodes);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** A gang that may span buckets asks for more nodes at once than all of them have together; undefined: they have enough. */
export function spanRefusal(asked: number, possible: number): Reason | undefined {
  return asked <= possible ? undefined : { code: "span-too-large", asked, possible };
}

/** Why the new nodes of one way to place a gang cannot be had. */
export function openingRefusal(draft: Draft, ask: Ask, opening: Opening): Reason | undefined {
  const { offer, group, nodes } = opening;
  const closed = misfit(draft, ask, offer, group) ?? closedTo(draft, offer);
  const capacity = opening.site?.afterWaking;
  const then = capacity === undefined ? draft : { ...draft, capacity };
  const notMade = group === "new" && !knowsNoGroups(offer) ? newGroupClosedTo(draft, offer) : undefined;
  return closed ?? notMade ?? roomRefusal(then, offer, group, nodes) ?? capsOf(draft, ask, opening);
}

/** Why our own ceilings do not allow the nodes that a gang would use, those that are there included. */
function capsOf(draft: Draft, ask: Ask, { offer, site, nodes }: Opening): Reason | undefined {
  const { caps, bins } = draft;
  const holder = holderOf(ask);
  if (!caps.concern(holder)) return undefined;
  const used = (site?.bins ?? []).map((bin) => ({ bin, nodes: bins.count[bin] ?? 0 }));
  return caps.useRefusal(holder, bins, used, [{ nodes, cores: offer.cores }]);
}

/** Why a new whole group of so many nodes cannot be had in a bucket; `ungrouped`: nowhere are there placement groups. */
export function newGroupRefusal(
  draft: Draft,
  demand: GroupDemand,
  offer: BucketOffer,
  size: number,
  ungrouped = false,
): Reason | undefined {
  const closed = closedTo(draft, offer);
  if (closed !== undefined) return closed;
  if (!Number.isFinite(size)) return noCores(offer, demand.size.count);
  if (ungrouped) return roomRefusal(draft, offer, undefined, size);
  const pinned = offer.pinnedGroup;
  // An array with a group of its own has only that one (cyclecloud-wire.md A.3, semantics 11): it must be free for us.
  if (pinned !== undefined && draft.capacity.groupSize(offer, pinned) > 0) {
    return { code: "no-placement-group", bucket: offer.bucket };
  }
  return roomRefusal(draft, offer, pinned ?? "new", size);
}

function noCores({ bucket }: BucketOffer, asked: number): Reason {
  return { code: "does-not-fit", bucket, resource: "cores", asked, offered: 0 };
}

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
