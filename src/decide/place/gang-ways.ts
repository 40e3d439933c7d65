// Long: the ways to place a gang are found, put in order and refused by the same counts. So neither the order nor a reason can differ from
// what is placed.
import type { Reason } from "../../domain/reason.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { BucketOffer } from "../../domain/world.ts";
import { shareOf } from "./opening.ts";
import { openOffers, unitsOnNew } from "./offers.ts";
import type { Offered } from "../draft/offered.ts";
import { NO_PRICE } from "../draft/offered.ts";
import { isDeallocated } from "../draft/new-nodes.ts";
import { hasFixedSize, mayBeIn, mayBeInNew, namedGroups } from "../draft/named-groups.ts";
import type { Draft } from "../draft/draft.ts";
import { closedTo, groupClosedTo, newGroupClosedTo } from "../draft/closed.ts";
import { holderOf } from "../draft/caps.ts";
import type { Capacity } from "../draft/capacity.ts";
import type { Scope } from "../bins/scope.ts";
import type { Place } from "../bins/node-kinds.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { Bin } from "../bins/bin-columns.ts";
import { misfit, roomRefusal } from "../draft/refusals.ts";
import { knowsNoGroups } from "../bins/scope.ts";

/** A bucket, or one placement group of it, with its nodes that have room for units of a gang. The whole gang goes to one site. */
export interface GangSite {
  readonly place: Place;
  readonly bins: Bin[];
  /** Units that fit on `bins`. */
  have: number;
  /** What is left of the limits after its deallocated nodes are started. Absent: it has none. */
  afterStarts?: Capacity;
}

/** New nodes that would make a site sufficient, or all nodes of the gang if there is no site. */
export interface Opening {
  readonly offer: BucketOffer;
  readonly group: PlacementGroup | "new" | undefined;
  readonly site: GangSite | undefined;
  readonly nodes: number;
  /** By the job's own lists; higher is better. */
  readonly score: number;
  /** Absent: the offer is not open to the job. */
  readonly from: Offered | undefined;
}

/** Cost in steps of counting the nodes that a gang needs of one offer, and of comparing it with the others. */
const STEPS_PER_OPENING = 4;

/** Cost in steps of finding out why one opening is not possible. */
export const STEPS_PER_REFUSAL = 8;

/** The ways to place a gang now: on existing nodes (`complete`), or else with new ones. */
export function waysOfGang(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  home: Place | undefined,
): { readonly complete: boolean; readonly openings: readonly Opening[] } {
  const { complete, sites } = findSites(draft, ask, home);
  if (complete !== undefined) return { complete: true, openings: [] };
  const openings = inOrder(draft, ask, findOpenings(draft, ask, scope, sites, home));
  draft.bins.budget.spend(STEPS_PER_REFUSAL * openings.length);
  return { complete: false, openings };
}

/** The cap of the set or user that forbids the gang to use these bins together with these new nodes. */
export function capRefusal(
  draft: Draft,
  ask: Ask,
  taken: readonly Bin[],
  news: readonly { readonly nodes: number; readonly cores: number }[],
): Reason | undefined {
  const { bins, caps } = draft;
  const holder = holderOf(ask);
  if (!caps.concern(holder)) return undefined;
  let left = ask.units;
  const used = taken.map((bin) => {
    const units = Math.max(1, Math.min(ask.units, bins.unitsOn(bin, ask)));
    const nodes = Math.min(bins.count[bin] ?? 0, Math.ceil(left / units));
    left -= nodes * units;
    return { bin, nodes };
  });
  return caps.useRefusal(holder, bins, used, news);
}

/** Sites with room. The search ends at the first site that suffices; then only that one is returned. */
export function findSites(
  draft: Draft,
  ask: Ask,
  home: Place | undefined,
): { readonly complete: GangSite | undefined; readonly sites: readonly GangSite[] } {
  const { bins } = draft;
  const bound = ask.unitsPerNode === 1 ? draft.bound.get(ask.demand) : undefined;
  const sites = new Map<string, GangSite>();
  for (const bin of bins.each(ask)) {
    if (bins.budget.isSpent) break;
    const place = bins.placeOfBin(bin);
    const { placementGroup } = place.bucket;
    if (ask.together === "one-group" && placementGroup === undefined) continue;
    if (home !== undefined && place !== home) continue;
    if (bound?.has(bin) === true) continue;
    const units = bins.unitsOn(bin, ask);
    if (units < 1) continue;
    const key = ask.together === "one-group" ? `${place.id}/${placementGroup}` : place.id;
    const site: GangSite = sites.get(key) ?? { place, bins: [], have: 0 };
    sites.set(key, site);
    if (isDeallocated(bins, bin)) site.afterStarts ??= draft.capacity.fork();
    if (!mayStart(draft, site.afterStarts ?? draft.capacity, bin)) continue;
    site.bins.push(bin);
    site.have += Math.min(units, ask.units) * (bins.count[bin] ?? 0);
    if (site.have >= ask.units && capRefusal(draft, ask, site.bins, []) === undefined)
      return { complete: site, sites: [] };
  }
  return { complete: undefined, sites: [...sites.values()] };
}

/** Whether a bin is up, or can be started together with all others that were tried on this copy of the limits. */
export function mayStart(draft: Draft, capacity: Capacity, bin: Bin): boolean {
  const { bins, world } = draft;
  const node = bins.node(bin);
  if (node?.deallocated !== true || bins.toStart.has(bin)) return true;
  const offer = world.buckets[bins.placeOfBin(bin).offer];
  if (offer === undefined || closedTo(draft, offer) !== undefined) return false;
  const group = node.bucket.placementGroup;
  if (group !== undefined && groupClosedTo(draft, offer, group) !== undefined) return false;
  if (capacity.room(offer, group, node.charges) < 1) return false;
  capacity.take(offer, group, 1, node.charges);
  return true;
}

/** Ways to place the gang with new nodes. The number of nodes is infinite where no number suffices. */
export function findOpenings(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  sites: readonly GangSite[],
  home: Place | undefined,
): readonly Opening[] {
  const grouped = ask.together === "one-group";
  draft.bins.budget.spend(scope.offers.length * (1 + sites.length));
  const offered = openOffers(draft, ask, scope, grouped).byOffer;
  return [
    ...sites.flatMap((site) => openingAt(draft, ask, site, offered)),
    ...scope.offers.flatMap((offer) => openingsWithout(draft, ask, offer, sites, home, offered.get(offer))),
  ];
}

/** Openings of a gang, the best first. */
export function inOrder(draft: Draft, ask: Ask, openings: readonly Opening[]): readonly Opening[] {
  draft.bins.budget.spend(STEPS_PER_OPENING * openings.length);
  const cost = ({ offer, nodes, from }: Opening): number => {
    const whole = nodes * (offer.price ?? NO_PRICE);
    return from !== undefined && willBeFilled(draft, ask, from, nodes)
      ? whole * nodesInUse(ask, from)
      : whole;
  };
  const isFresh = ({ site }: Opening): number => (site === undefined ? 1 : 0);
  // If neither is possible, the difference is NaN, which counts as 0.
  return draft.policy.among === "cheapest"
    ? openings.toSorted(
        (a, b) => b.score - a.score || cost(a) - cost(b) || isFresh(a) - isFresh(b) || a.nodes - b.nodes || 0,
      )
    : // Sites first, those that lack the fewest nodes first. Then openings without a site, in the order of the offers.
      openings.toSorted(
        (a, b) =>
          isFresh(a) - isFresh(b) || b.score - a.score || (a.site === undefined ? 0 : a.nodes - b.nodes) || 0,
      );
}

/**
 * Whether the amounts still to be placed fill this many nodes of the offer. Then the gang is charged only for its part of them. All nodes
 * of a gang are of one size and have one of its units each, so large nodes are worth it only if other jobs share them.
 */
function willBeFilled(draft: Draft, ask: Ask, { kind }: Offered, nodes: number): boolean {
  const { takes } = ask.jobClass;
  if (draft.way.opening !== "shared" || ask.unitsPerNode !== 1 || ask.requirements.alone !== undefined)
    return false;
  if (takes === undefined || takes.resource.length === 0) return false;
  return takes.resource.every((r) => nodes * (kind.capacity[r] ?? 0) <= (draft.toPlace[r] ?? 0));
}

/** The part of a node that one unit of the gang takes. */
function nodesInUse(ask: Ask, { kind }: Offered): number {
  return Math.min(1, shareOf(ask, kind.capacity) * ask.slotsPerUnit);
}

/** An opening that adds nodes to a site. A group of a fixed size does not grow. */
function openingAt(
  draft: Draft,
  ask: Ask,
  site: GangSite,
  offered: ReadonlyMap<BucketOffer, Offered>,
): readonly Opening[] {
  const offer = draft.world.buckets[site.place.offer];
  if (offer === undefined) return [];
  const isGrouped = ask.together === "one-group";
  const group = site.place.bucket.placementGroup;
  if (isGrouped && (group === undefined || hasFixedSize(draft, offer, group))) return [];
  const from = offered.get(offer);
  if (from === undefined || site.have >= ask.units) return [];
  const nodes = nodesFor(draft, ask, from, ask.units - site.have);
  return [{ offer, group: isGrouped ? group : offer.pinnedGroup, site, nodes, score: from.score, from }];
}

/**
 * Openings with new nodes only: in a new group, in a named one, in that of the job, or in none. Leaves out groups that are a site, because
 * {@link openingAt} has these.
 */
function openingsWithout(
  draft: Draft,
  ask: Ask,
  offer: BucketOffer,
  sites: readonly GangSite[],
  home: Place | undefined,
  offered: Offered | undefined,
): readonly Opening[] {
  if (home !== undefined) {
    const group = home.bucket.placementGroup;
    if (draft.world.buckets[home.offer] !== offer) return [];
    if (group !== undefined && hasFixedSize(draft, offer, group)) return [];
  }
  const isTaken = (group: PlacementGroup | "new" | undefined): boolean =>
    sites.some(
      ({ place }) =>
        draft.world.buckets[place.offer] === offer &&
        (ask.together === "one-bucket" || place.bucket.placementGroup === group),
    );
  const nodes = offered === undefined ? Number.POSITIVE_INFINITY : nodesFor(draft, ask, offered, ask.units);
  return groupsFor(draft, ask, offer, home)
    .filter((group) => !isTaken(group))
    .map((group) => ({ offer, group, site: undefined, nodes, score: offered?.score ?? 0, from: offered }));
}

function groupsFor(
  draft: Draft,
  ask: Ask,
  offer: BucketOffer,
  home: Place | undefined,
): readonly (PlacementGroup | "new" | undefined)[] {
  if (home !== undefined) return [home.bucket.placementGroup];
  if (offer.pinnedGroup !== undefined) return [offer.pinnedGroup];
  if (ask.together !== "one-group") return [undefined];
  if (offer.notHpc === true)
    return [...namedGroups(draft, offer).filter((group) => mayBeIn(draft, ask, offer, group)), "new"];
  if (mayBeInNew(draft, ask, offer)) {
    const { configuredGroups } = offer;
    if (configuredGroups === undefined) return ["new"];
    return [...namedGroups(draft, offer).filter((group) => configuredGroups.includes(group)), "new"];
  }
  // The job names its groups.
  const wanted = namedGroups(draft, offer).filter((group) => mayBeIn(draft, ask, offer, group));
  return wanted.length > 0 ? wanted : ["new"];
}

function nodesFor(draft: Draft, ask: Ask, offered: Offered, wanted: number): number {
  const units = Math.min(ask.units, unitsOnNew(draft, ask, offered, ask.together === "one-group"));
  return units < 1 ? Number.POSITIVE_INFINITY : Math.ceil(wanted / units);
}

/** Why one opening is not possible. */
export function openingRefusal(draft: Draft, ask: Ask, opening: Opening): Reason | undefined {
  const { offer, group, nodes } = opening;
  const closed = misfit(draft, ask, offer, group) ?? closedTo(draft, offer);
  const capacity = opening.site?.afterStarts;
  const then = capacity === undefined ? draft : { ...draft, capacity };
  const notMade = group === "new" && !knowsNoGroups(offer) ? newGroupClosedTo(draft, offer) : undefined;
  return closed ?? notMade ?? roomRefusal(then, offer, group, nodes) ?? capsOf(draft, ask, opening);
}

/** The cap that forbids the gang to use the nodes of an opening, existing ones included. */
function capsOf(draft: Draft, ask: Ask, { offer, site, nodes }: Opening): Reason | undefined {
  const { caps, bins } = draft;
  const holder = holderOf(ask);
  if (!caps.concern(holder)) return undefined;
  const used = (site?.bins ?? []).map((bin) => ({ bin, nodes: bins.count[bin] ?? 0 }));
  return caps.useRefusal(holder, bins, used, [{ nodes, cores: offer.cores }]);
}
