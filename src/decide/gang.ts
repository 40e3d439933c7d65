import type { BucketOffer } from "../domain/allocation.ts";
import type { PlacementGroup } from "../domain/ids.ts";
import type { Reason } from "../domain/reason.ts";
import type { Ask } from "./ask.ts";
import { unitsOnEmpty } from "./ask.ts";
import type { Bin, Place } from "./bins.ts";
import type { Draft } from "./draft.ts";
import { nameGroup } from "./draft.ts";
import type { Progress } from "./pack.ts";
import { fillBin, openFor, visitBins } from "./pack.ts";
import { gangReasons, openingRefusal } from "./reasons.ts";
import type { Scope } from "./scope.ts";

/** Where a whole gang could go: one bucket, or one placement group of it, with the nodes there that have room. */
export interface Site {
  readonly place: Place;
  readonly bins: Bin[];
  /** Units that fit on `bins`. */
  have: number;
}

/** New nodes that would make a site sufficient; without a site, all of the gang's. */
export interface Opening {
  readonly offer: BucketOffer;
  readonly group: PlacementGroup | "new" | undefined;
  readonly site: Site | undefined;
  readonly nodes: number;
}

/**
 * Places a gang whole or not at all. A site whose nodes suffice is taken, the first in the order of use; else the one that needs the
 * fewest new nodes among those that may have them. All is counted before anything is taken.
 */
export function placeGang(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  home: Place | undefined,
): { readonly progress: Progress; readonly reasons: readonly Reason[] } {
  const progress = { left: ask.units, pending: 0 };
  const sites = findSites(draft, ask, scope, home);
  const complete = sites.find((site) => site.have >= ask.units);
  if (complete !== undefined) {
    for (const bin of complete.bins) fillBin(draft, ask, progress, bin);
    return { progress, reasons: [] };
  }
  const openings = findOpenings(draft, ask, scope, sites, home);
  const refusals = openings.map((opening) => openingRefusal(draft, ask, opening));
  const best = openings.find((_, i) => refusals[i] === undefined);
  if (best !== undefined) {
    for (const bin of best.site?.bins ?? []) fillBin(draft, ask, progress, bin);
    const group = best.group === "new" ? nameGroup(draft, groupKey(best.offer)) : best.group;
    openFor(draft, ask, progress, best.offer, group, best.nodes);
    return { progress, reasons: [] };
  }
  return { progress, reasons: gangReasons(draft, ask, scope, home, openings) };
}

/** The ways in which a gang could be placed at this moment: on nodes that are there, or else with new ones. */
export function waysOfGang(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  home: Place | undefined,
): { readonly complete: boolean; readonly openings: readonly Opening[] } {
  const sites = findSites(draft, ask, scope, home);
  const complete = sites.some((site) => site.have >= ask.units);
  return { complete, openings: complete ? [] : findOpenings(draft, ask, scope, sites, home) };
}

/** Groups for colocated jobs are named after their bucket. */
function groupKey({ bucket }: BucketOffer): string {
  return `${bucket.array}-${bucket.machineType}`;
}

/** Sites with room, in the order of use of their first nodes; nodes are looked at until those of one order make a site suffice. */
function findSites(draft: Draft, ask: Ask, scope: Scope, home: Place | undefined): readonly Site[] {
  const { bins } = draft;
  const sites = new Map<string, Site>();
  const collect = (bin: Bin): boolean => {
    const place = bins.placeOfBin(bin);
    const { placementGroup } = place.bucket;
    if (ask.together === "one-group" && placementGroup === undefined) return false;
    if (home !== undefined && place !== home) return false;
    const units = bins.unitsOn(bin, ask);
    if (units < 1) return false;
    const key = ask.together === "one-group" ? `${place.id}/${placementGroup}` : place.id;
    const site = sites.get(key) ?? { place, bins: [], have: 0 };
    sites.set(key, site);
    if (site.have >= ask.units) return false;
    site.bins.push(bin);
    site.have += Math.min(units, ask.units) * (bins.count[bin] ?? 0);
    return false;
  };
  const found = (): boolean => [...sites.values()].some((site) => site.have >= ask.units);
  visitBins(draft, scope, collect, found);
  return [...sites.values()];
}

/** Ways to have the gang with new nodes: those with the fewest first, then in the order of use of the sites, then of the buckets. */
function findOpenings(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  sites: readonly Site[],
  home: Place | undefined,
): readonly Opening[] {
  const openings = [
    ...sites.flatMap((site) => growing(draft, ask, scope, site)),
    ...scope.offers.flatMap((offer) => fresh(draft, ask, offer, sites, home)),
  ];
  // Two that cannot have it at all differ by NaN, which is as good as 0.
  return openings.toSorted((a, b) => a.nodes - b.nodes || 0);
}

/** More nodes for a site. A group that was made for a target has its size, and does not grow. */
function growing(draft: Draft, ask: Ask, scope: Scope, site: Site): readonly Opening[] {
  const offer = draft.world.buckets[site.place.offer];
  if (offer === undefined || !scope.offers.includes(offer)) return [];
  const inGroup = ask.together === "one-group";
  if (inGroup && isSized(draft, site.place)) return [];
  const group = inGroup ? site.place.bucket.placementGroup : offer.pinnedGroup;
  return [{ offer, group, site, nodes: nodesFor(draft, ask, offer, ask.units - site.have) }];
}

/** All new nodes, where no site of the bucket is the same thing: in a new group, in the pinned one, in that of the job, or in none. */
function fresh(
  draft: Draft,
  ask: Ask,
  offer: BucketOffer,
  sites: readonly Site[],
  home: Place | undefined,
): readonly Opening[] {
  if (home !== undefined && (draft.world.buckets[home.offer] !== offer || isSized(draft, home))) return [];
  const group =
    home?.bucket.placementGroup ?? offer.pinnedGroup ?? (ask.together === "one-group" ? "new" : undefined);
  const taken = sites.some(
    ({ place }) =>
      draft.world.buckets[place.offer] === offer &&
      (ask.together === "one-bucket" || place.bucket.placementGroup === group),
  );
  return taken ? [] : [{ offer, group, site: undefined, nodes: nodesFor(draft, ask, offer, ask.units) }];
}

function nodesFor(draft: Draft, ask: Ask, offer: BucketOffer, wanted: number): number {
  const units = Math.min(ask.units, unitsOnEmpty(ask, offer, draft.bins.resources));
  return units < 1 ? Number.POSITIVE_INFINITY : Math.ceil(wanted / units);
}

/** Whether the placement group was made for a target of groups. */
function isSized({ bins }: Draft, place: Place): boolean {
  return bins.purpose.some(({ kind }, bin) => kind === "group" && bins.place[bin] === place.index);
}
