import type { BucketOffer } from "../../domain/allocation.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Ask } from "../bins/job-ask.ts";
import { holderOf } from "../draft/caps.ts";
import type { Draft } from "../draft/draft.ts";
import { closedTo, groupClosedTo } from "../draft/closed.ts";
import type { Capacity } from "../draft/capacity.ts";
import type { Place } from "../bins/node-kinds.ts";
import { unitsOnNew } from "./offers.ts";
import { shareOf } from "./opening.ts";
import type { Progress } from "./pack.ts";
import { isSized, mayBeIn, mayBeInNew, namedGroups } from "../draft/named-groups.ts";
import { fillBin, openFor } from "./pack.ts";
import { gangReasons, openingRefusal, packingReasons, spanRefusal } from "../why/reasons.ts";
import type { Scope } from "../bins/scope.ts";
import { explain } from "../why/reason-budget.ts";
import { isDeallocated } from "../draft/new-nodes.ts";
import { groupKey, nameGroup } from "../draft/group-names.ts";
import type { Offered } from "../draft/offered.ts";
import { NO_PRICE } from "../draft/offered.ts";
import type { Bin } from "../bins/bin.ts";

/** Where a whole gang could go: one bucket, or one placement group of it, with the nodes there that have room. */
export interface Site {
  readonly place: Place;
  readonly bins: Bin[];
  /** Units that fit on `bins`. */
  have: number;
  /** What is left of the limits once its deallocated nodes are started; absent: it has none. */
  afterWaking?: Capacity;
}

/** New nodes that would make a site sufficient; without a site, all of the gang's. */
export interface Opening {
  readonly offer: BucketOffer;
  readonly group: PlacementGroup | "new" | undefined;
  readonly site: Site | undefined;
  readonly nodes: number;
  /** By the job's own lists; higher is better. */
  readonly score: number;
  /** Absent: the offer is not open to the job. */
  readonly from: Offered | undefined;
}

export interface GangSettled {
  readonly progress: Progress;
  readonly reasons: readonly Reason[];
}

/**
 * Places a gang whole or not at all. The site that suffices first as nodes are gone through in their order of use is taken; else new nodes
 * are made: where the fewest are needed to complete a site, or all of them in the best bucket. All is counted before anything is taken.
 * Reasons are made if it is told why.
 */
export function placeGang(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  home: Place | undefined,
  isTold: boolean,
): GangSettled {
  const progress = { left: ask.units, pending: 0 };
  const { complete, sites } = findSites(draft, ask, home);
  if (complete !== undefined) {
    const [first] = complete.bins;
    const look = (): number => (first === undefined ? 0 : draft.bins.unitsOn(first, ask));
    fillWhole(draft, ask, look, () => {
      for (const bin of complete.bins) fillBin(draft, ask, progress, bin);
    });
    return { progress, reasons: [] };
  }
  const openings = findOpenings(draft, ask, scope, sites, home);
  const possible = inOrder(
    draft,
    ask,
    openings.filter(({ nodes }) => Number.isFinite(nodes)),
  );
  const best = possible.find((opening) => whyNot(draft, ask, opening) === undefined);
  // Not all nodes may have been asked: new ones might be made in their place.
  if (draft.bins.budget.isSpent) return { progress, reasons: [] };
  if (best !== undefined) {
    const { from, offer, site, nodes } = best;
    const grouped = ask.together === "one-group";
    const look = (): number => (from === undefined ? 0 : unitsOnNew(draft, ask, from, grouped));
    fillWhole(draft, ask, look, () => {
      for (const bin of site?.bins ?? []) fillBin(draft, ask, progress, bin);
      const group = best.group === "new" ? nameGroup(draft, groupKey(offer)) : best.group;
      openFor(draft, ask, progress, offer, group, nodes);
    });
    return { progress, reasons: [] };
  }
  if (!isTold) return { progress, reasons: [] };
  return {
    progress,
    ...explain(draft, () => {
      const all = inOrder(draft, ask, openings);
      draft.bins.budget.spend(STEPS_OF_REFUSAL * (all.length + scope.offers.length));
      return { reasons: gangReasons(draft, ask, scope, home, all, cappedSites(draft, ask, sites)) };
    }),
  };
}

/** To fill a node costs about as much as so many looks at it. */
const LOOKS_OF_FILLING = 3;

/** Fills all nodes of a gang, or none if its set has not enough steps left: half a gang is of no use. `look`: at one of the nodes. */
function fillWhole(draft: Draft, ask: Ask, look: () => number, fill: () => void): void {
  const { budget } = draft.bins;
  const before = budget.spent;
  // Where nodes are alike, many are filled at once.
  if (ask.jobClass.takes === undefined) look();
  budget.finish(LOOKS_OF_FILLING * ask.units * (budget.spent - before), fill);
}

/** To see in how many nodes an offer has a gang, and to compare it with others, costs about as much as so many looks. */
const STEPS_OF_OPENING = 4;
/** The same of why an offer does not have it. */
const STEPS_OF_REFUSAL = 8;

function whyNot(draft: Draft, ask: Ask, opening: Opening): Reason | undefined {
  draft.bins.budget.spend(STEPS_OF_REFUSAL);
  return openingRefusal(draft, ask, opening);
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

/** The ways in which a gang could be placed at this moment: on nodes that are there, or else with new ones. */
export function waysOfGang(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  home: Place | undefined,
): { readonly complete: boolean; readonly openings: readonly Opening[] } {
  const { complete, sites } = findSites(draft, ask, home);
  if (complete !== undefined) return { complete: true, openings: [] };
  const openings = inOrder(draft, ask, findOpenings(draft, ask, scope, sites, home));
  draft.bins.budget.spend(STEPS_OF_REFUSAL * openings.length);
  return { complete: false, openings };
}

/** The cap of the set or user that does not allow the gang what it would use of these bins, and these new nodes. */
function capRefusal(
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

/** Sites with room. They are followed until one of them suffices, in which case only that matters. */
function findSites(
  draft: Draft,
  ask: Ask,
  home: Place | undefined,
): { readonly complete: Site | undefined; readonly sites: readonly Site[] } {
  const { bins } = draft;
  const bound = ask.unitsPerNode === 1 ? draft.bound.get(ask.demand) : undefined;
  const sites = new Map<string, Site>();
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
    const site: Site = sites.get(key) ?? { place, bins: [], have: 0 };
    sites.set(key, site);
    if (isDeallocated(bins, bin)) site.afterWaking ??= draft.capacity.fork();
    if (!mayWake(draft, site.afterWaking ?? draft.capacity, bin)) continue;
    site.bins.push(bin);
    site.have += Math.min(units, ask.units) * (bins.count[bin] ?? 0);
    if (site.have >= ask.units && capRefusal(draft, ask, site.bins, []) === undefined)
      return { complete: site, sites: [] };
  }
  return { complete: undefined, sites: [...sites.values()] };
}

/** Whether a bin is up or can be started, with all others that were tried on this copy of the limits. */
function mayWake(draft: Draft, capacity: Capacity, bin: Bin): boolean {
  const { bins, world } = draft;
  const node = bins.node(bin);
  if (node?.deallocated !== true || bins.woken.has(bin)) return true;
  const offer = world.buckets[bins.placeOfBin(bin).offer];
  if (offer === undefined || closedTo(draft, offer) !== undefined) return false;
  const group = node.bucket.placementGroup;
  if (group !== undefined && groupClosedTo(draft, offer, group) !== undefined) return false;
  if (capacity.room(offer, group, node.charges) < 1) return false;
  capacity.take(offer, group, 1, node.charges);
  return true;
}

/** Ways to have the gang with new nodes; where none would do, the number of nodes is without end. */
function findOpenings(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  sites: readonly Site[],
  home: Place | undefined,
): readonly Opening[] {
  const grouped = ask.together === "one-group";
  draft.bins.budget.spend(scope.offers.length * (1 + sites.length));
  const offered = draft.offers.of(draft, ask, scope, grouped).byOffer;
  return [
    ...sites.flatMap((site) => growing(draft, ask, site, offered)),
    ...scope.offers.flatMap((offer) => fresh(draft, ask, offer, sites, home, offered.get(offer))),
  ];
}

/** Openings of a gang, the best first. */
function inOrder(draft: Draft, ask: Ask, openings: readonly Opening[]): readonly Opening[] {
  draft.bins.budget.spend(STEPS_OF_OPENING * openings.length);
  const cost = ({ offer, nodes, from }: Opening): number => {
    const whole = nodes * (offer.price ?? NO_PRICE);
    return from !== undefined && willBeFilled(draft, ask, from, nodes)
      ? whole * nodesInUse(ask, from)
      : whole;
  };
  const isFresh = ({ site }: Opening): number => (site === undefined ? 1 : 0);
  // Two that cannot have it at all differ by NaN, which is as good as 0.
  return draft.policy.among === "cheapest"
    ? openings.toSorted(
        (a, b) => b.score - a.score || cost(a) - cost(b) || isFresh(a) - isFresh(b) || a.nodes - b.nodes || 0,
      )
    : // Sites first, those that lack the fewest; then whole new ones in the order of the offers.
      openings.toSorted(
        (a, b) =>
          isFresh(a) - isFresh(b) || b.score - a.score || (a.site === undefined ? 0 : a.nodes - b.nodes) || 0,
      );
}

/**
 * Whether what is still to be placed fills so many nodes of the offer up: then the gang pays for its part of them only. Nodes of a gang are
 * alike and on none there is more than one of its units, so that large ones make sense if others share them.
 */
function willBeFilled(draft: Draft, ask: Ask, { kind }: Offered, nodes: number): boolean {
  const { takes } = ask.jobClass;
  if (draft.way.opening !== "shared" || ask.unitsPerNode !== 1 || ask.requirements.alone !== undefined)
    return false;
  if (takes === undefined || takes.resource.length === 0) return false;
  return takes.resource.every((r) => nodes * (kind.capacity[r] ?? 0) <= (draft.toPlace[r] ?? 0));
}

/** The part of a node that a unit of the gang takes. */
function nodesInUse(ask: Ask, { kind }: Offered): number {
  return Math.min(1, shareOf(ask, kind.capacity) * ask.slotsPerUnit);
}

/** More nodes for a site. A group that was made for a target has its size, and does not grow. */
function growing(
  draft: Draft,
  ask: Ask,
  site: Site,
  offered: ReadonlyMap<BucketOffer, Offered>,
): readonly Opening[] {
  const offer = draft.world.buckets[site.place.offer];
  if (offer === undefined) return [];
  const isGrouped = ask.together === "one-group";
  const group = site.place.bucket.placementGroup;
  if (isGrouped && (group === undefined || isSized(draft, offer, group))) return [];
  const from = offered.get(offer);
  if (from === undefined || site.have >= ask.units) return [];
  const nodes = nodesFor(draft, ask, from, ask.units - site.have);
  return [{ offer, group: isGrouped ? group : offer.pinnedGroup, site, nodes, score: from.score, from }];
}

/** All new nodes, where no site of the bucket is the same thing: in a new group, in a named one, in that of the job, or in none. */
function fresh(
  draft: Draft,
  ask: Ask,
  offer: BucketOffer,
  sites: readonly Site[],
  home: Place | undefined,
  offered: Offered | undefined,
): readonly Opening[] {
  if (home !== undefined) {
    const group = home.bucket.placementGroup;
    if (draft.world.buckets[home.offer] !== offer) return [];
    if (group !== undefined && isSized(draft, offer, group)) return [];
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
  // It names its groups.
  const wanted = namedGroups(draft, offer).filter((group) => mayBeIn(draft, ask, offer, group));
  return wanted.length > 0 ? wanted : ["new"];
}

function nodesFor(draft: Draft, ask: Ask, offered: Offered, wanted: number): number {
  const units = Math.min(ask.units, unitsOnNew(draft, ask, offered, ask.together === "one-group"));
  return units < 1 ? Number.POSITIVE_INFINITY : Math.ceil(wanted / units);
}

/**
 * Places a gang that may span buckets: its units on distinct nodes, wherever they are, all or none. Counted on a copy of the limits before
 * anything is taken.
 */
export function spreadGang(draft: Draft, ask: Ask, scope: Scope, isTold: boolean): GangSettled {
  const progress = { left: ask.units, pending: 0 };
  const taken: Bin[] = [];
  const bound = draft.bound.get(ask.demand);
  const trial = draft.capacity.fork();
  let left = ask.units;
  for (const bin of draft.bins.each(ask)) {
    if (left <= 0 || draft.bins.budget.isSpent) break;
    draft.bins.budget.spend(1);
    if (bound?.has(bin) === true || !mayWake(draft, trial, bin)) continue;
    taken.push(bin);
    left -= draft.bins.count[bin] ?? 0;
  }
  const openings: { readonly offer: BucketOffer; readonly nodes: number }[] = [];
  const byPrice = sortedForOne(draft, draft.offers.of(draft, ask, scope, ask.requirements.grouped).all);
  for (const offered of byPrice) {
    if (left <= 0) break;
    const { offer } = offered;
    // Nodes of one gang in several generated groups would be neither together nor apart.
    if (ask.requirements.grouped && offer.pinnedGroup === undefined) continue;
    if (unitsOnNew(draft, ask, offered, ask.requirements.grouped) < 1) continue;
    const nodes = Math.min(left, trial.room(offer, offer.pinnedGroup));
    if (nodes < 1) continue;
    trial.take(offer, offer.pinnedGroup, nodes);
    openings.push({ offer, nodes });
    left -= nodes;
  }
  const news = openings.map(({ offer, nodes }) => ({ nodes, cores: offer.cores }));
  const capped = capRefusal(draft, ask, taken, news);
  if (left > 0 || capped !== undefined) {
    if (!isTold) return { progress, reasons: [] };
    const told = explain(draft, () => {
      const whole = packingReasons(draft, ask, scope, ask.units);
      const short = spanRefusal(ask.units, ask.units - Math.max(0, left));
      return { reasons: [short, capped, ...whole].filter((reason) => reason !== undefined) };
    });
    return { progress, ...told };
  }
  if (draft.bins.budget.isSpent) return { progress, reasons: [] };
  const [cheapest] = byPrice;
  const look = (): number =>
    cheapest === undefined ? 0 : unitsOnNew(draft, ask, cheapest, ask.requirements.grouped);
  fillWhole(draft, ask, look, () => {
    for (const bin of taken) fillBin(draft, ask, progress, bin);
    for (const { offer, nodes } of openings)
      openFor(draft, ask, progress, offer, offer.pinnedGroup, Math.min(nodes, progress.left));
  });
  return { progress, reasons: [] };
}

function sortedForOne(draft: Draft, offers: readonly Offered[]): readonly Offered[] {
  if (draft.policy.among === "priority") return offers;
  const price = ({ offer }: Offered): number => offer.price ?? NO_PRICE;
  return offers.toSorted((a, b) => b.score - a.score || price(a) - price(b));
}
