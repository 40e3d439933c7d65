import type { BucketOffer } from "../../domain/world.ts";
import type { NamedNodes, TargetDemand } from "../../domain/demand.ts";
import type { PlacementGroup, SetName } from "../../domain/ids.ts";
import type { NamedRoom } from "../../domain/plan.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Instant } from "../../domain/units.ts";
import { instant } from "../../domain/units.ts";
import type { Bin } from "../bins/bin-columns.ts";
import type { Entry } from "../bins/entry.ts";
import type { Scope } from "../bins/scope.ts";
import { knowsNoGroups } from "../bins/scope.ts";
import type { Draft } from "../draft/draft.ts";
import { closedTo, groupClosedTo } from "../draft/closed.ts";
import { growthRefusal } from "../draft/scale-set.ts";
import type { Bins } from "../bins/bins.ts";
import { attributesOn, createNodes, isDeallocated, startIfDeallocated } from "../draft/new-nodes.ts";
import type { PlacedTarget } from "./targets.ts";
import { offersFor } from "./targets.ts";

/** A target that names its nodes. */
export type NamedTarget = TargetDemand & { readonly named: NamedNodes };

export const isNamed = (demand: TargetDemand): demand is NamedTarget => demand.named !== undefined;

/** The result, with the names for which there is no room. */
interface PlacedNames extends PlacedTarget {
  readonly lacking: readonly string[];
}

/**
 * Claims the nodes of the names that exist or were requested. Before all else, because no other node serves them: targets and jobs that come
 * first by rank would count on others beside them.
 */
export function claimNamed({ bins, named, world }: Draft, entries: readonly Entry[]): void {
  for (const { set, by, demand } of entries) {
    if (demand.kind !== "target" || !isNamed(demand)) continue;
    bins.budget.turnTo(set);
    for (const name of demand.named.names) {
      bins.budget.spend(1);
      if (bins.budget.isSpent) break;
      const bin = named.of(bins, name);
      if (bin === undefined || isToCome(bins, bin)) continue;
      if (world.blockedNames?.get(name)?.code !== "name-earlier") bins.claim(bin, { by });
    }
  }
}

/** Whether the node is planned, or has to be started. */
const isToCome = (bins: Bins, bin: Bin): boolean =>
  bins.origin[bin] === "planned" || isDeallocated(bins, bin);

/**
 * Places a target that names its nodes (docs/protocol.md, Named nodes). A name that exists or was requested counts, wherever its node is
 * ({@link claimNamed} has claimed it). The other names get new nodes, in their order, in the first bucket that has room. A name with a reason
 * of its own gets none.
 */
export function placeNamed(
  draft: Draft,
  demand: NamedTarget,
  set: SetName,
  by: string,
  scope: Scope,
): PlacedNames {
  const { bins, caps, named } = draft;
  const toMake: string[] = [];
  const kept: BucketOffer[] = [];
  let placed = 0;
  let pending = 0;
  const count = (name: string, bin: Bin): void => {
    // A demand before this one may have found no room for it.
    named.why.delete(name);
    if (isToCome(bins, bin)) bins.claim(bin, { by });
    caps.hold({ set }, bins, bin);
    placed += 1;
    if (!bins.isReady(bin)) pending += 1;
  };
  for (const name of demand.named.names) {
    bins.budget.spend(1);
    if (bins.budget.isSpent) break;
    const bin = named.of(bins, name);
    const blocked = draft.world.blockedNames?.get(name);
    if (bin !== undefined && blocked?.code !== "name-earlier" && startIfDeallocated(draft, bin, demand)) {
      count(name, bin);
      const { bucket } = bins.placeOfBin(bin);
      if (!scope.accepts(bins.placeOfBin(bin)))
        named.why.set(name, { reason: { code: "name-elsewhere", name, bucket }, set });
    } else if (blocked !== undefined) named.why.set(name, { reason: blocked, set });
    else if (bin === undefined) toMake.push(name);
    else kept.push(...noteUnstarted(draft, demand, set, name, bin));
  }
  const offers = ownOffers(draft, demand, scope);
  const lacking = makeNames(draft, demand, set, offers, toMake, (name, bin) => {
    named.add(bins, name, bin);
    count(name, bin);
  });
  const found = { placed, pending, lacking };
  if (lacking.length > 0) return { ...found, short: { missing: lacking.length, offers } };
  return kept.length === 0 ? found : { ...found, short: { missing: kept.length, offers: kept } };
}

/** Notes why the deallocated node of a name is not started. It keeps the name, so that no other one can have it. Returns its offer, if there is one. */
function noteUnstarted(
  draft: Draft,
  demand: NamedTarget,
  set: SetName,
  name: string,
  bin: Bin,
): readonly BucketOffer[] {
  const { bins, world, capacity, named } = draft;
  const place = bins.placeOfBin(bin);
  const group = place.bucket.placementGroup;
  const offer = world.buckets[place.offer];
  const reason =
    offer === undefined
      ? undefined
      : (closedTo(draft, offer, demand) ??
        (group === undefined ? undefined : groupClosedTo(draft, offer, group)) ??
        capacity.refusal(offer, group, 1, bins.node(bin)?.charges));
  named.why.set(name, { reason: reason ?? { code: "name-waits", name, status: "Deallocated" }, set });
  return offer === undefined ? [] : [offer];
}

/** Makes nodes with these names. Returns the names for which there is no room: all of them if one job needs all. */
function makeNames(
  draft: Draft,
  demand: NamedTarget,
  set: SetName,
  offers: readonly BucketOffer[],
  names: readonly string[],
  made: (name: string, bin: Bin) => void,
): readonly string[] {
  const { bins, caps } = draft;
  const { named, attributes } = demand;
  let left = names;
  for (const offer of offers) {
    if (left.length === 0 || bins.budget.isSpent) break;
    bins.budget.spend(1);
    const group = groupOfNames(demand, offer);
    if (closedToNames(draft, demand, offer) !== undefined) continue;
    const room = Math.min(left.length, caps.room({ set }, offer.cores), draft.capacity.room(offer, group));
    if (named.together === true && room < left.length) continue;
    for (const name of left.slice(0, room))
      made(name, createNodes(draft, offer, group, 1, { kind: "named", name }, attributes));
    left = left.slice(room);
  }
  return left;
}

/** The placement group of new nodes with these names: the one that the target names, else that of the array. */
export const groupOfNames = ({ named }: NamedTarget, offer: BucketOffer): PlacementGroup | undefined =>
  named.group ?? offer.pinnedGroup;

/** Why a bucket takes no new nodes with these names, whatever the limits. */
export function closedToNames(draft: Draft, demand: NamedTarget, offer: BucketOffer): Reason | undefined {
  const { attributes } = demand;
  const group = groupOfNames(demand, offer);
  const closed = closedTo(draft, offer, demand);
  if (closed !== undefined || group === undefined) return closed;
  const { pinnedGroup } = offer;
  if (knowsNoGroups(offer)) return { code: "no-placement-group", bucket: offer.bucket };
  if (pinnedGroup !== undefined && pinnedGroup !== group)
    return { code: "only-group", bucket: { ...offer.bucket, placementGroup: pinnedGroup } };
  return (
    groupClosedTo(draft, offer, group) ?? growthRefusal(draft, offer, group, attributesOn(offer, attributes))
  );
}

/** How many more nodes a target like this could have, after all that the plan has placed. */
export function roomForMore(draft: Draft, demand: NamedTarget, set: SetName, scope: Scope): NamedRoom {
  const capacity = draft.capacity.fork();
  const ends: Instant[] = [];
  let nodes = 0;
  for (const offer of ownOffers(draft, demand, scope)) {
    const closed = closedToNames(draft, demand, offer);
    if (closed?.code === "backing-off") ends.push(closed.until);
    if (closed !== undefined) continue;
    const group = groupOfNames(demand, offer);
    const more = Math.min(
      MOST_ROOM,
      capacity.room(offer, group),
      Math.max(0, draft.caps.room({ set }, offer.cores) - nodes),
    );
    capacity.take(offer, group, more);
    nodes += more;
  }
  return nodes > 0 || ends.length === 0 ? { nodes } : { nodes, until: instant(Math.min(...ends)) };
}

/** More room than anybody names nodes. */
const MOST_ROOM = 1_000_000;

/** Nodes by name are made in node arrays of the cluster only. */
const ownOffers = (draft: Draft, demand: NamedTarget, scope: Scope): readonly BucketOffer[] =>
  offersFor(draft, demand, scope).filter(({ parent }) => parent === undefined);
