import type { BucketOffer } from "../domain/allocation.ts";
import type { PlacementGroup } from "../domain/ids.ts";
import type { Reason } from "../domain/reason.ts";
import type { Ask } from "./ask.ts";
import { unitsOnEmpty } from "./ask.ts";
import type { Bin, Place } from "./bins.ts";
import type { Draft } from "./draft.ts";
import { closedTo, groupClosedTo, nameGroup } from "./draft.ts";
import type { Progress } from "./pack.ts";
import { fillBin, misfit, openFor, visitBins } from "./pack.ts";
import type { Scope } from "./scope.ts";

/** Where a whole gang could go: one bucket, or one placement group of it, with the nodes there that have room. */
interface Site {
  readonly place: Place;
  readonly bins: Bin[];
  /** Units that fit on `bins`. */
  have: number;
}

/** New nodes that would make a site sufficient; without a site, all of the gang's. */
interface Opening {
  readonly offer: BucketOffer;
  readonly group: PlacementGroup | "new" | undefined;
  readonly site: Site | undefined;
  readonly nodes: number;
}

/**
 * Places a gang whole or not at all. A site whose nodes suffice is taken, the first in the order of use; else the one that needs the fewest
 * new nodes among those that may have them. All is counted before anything is taken.
 */
export function placeGang(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  home: Place | undefined,
): { readonly progress: Progress; readonly reasons: readonly Reason[] } {
  const progress = { left: ask.units, pending: 0 };
  const sites = findSites(draft, ask, scope, home);
  const complete = [...sites.values()].find((site) => site.have >= ask.units);
  if (complete !== undefined) {
    for (const bin of complete.bins) fillBin(draft, ask, progress, bin);
    return { progress, reasons: [] };
  }
  const openings = findOpenings(draft, ask, scope, [...sites.values()], home);
  const refusals = openings.map((opening) => refusalOf(draft, ask, opening));
  const best = openings.find((_, i) => refusals[i] === undefined);
  if (best !== undefined) {
    for (const bin of best.site?.bins ?? []) fillBin(draft, ask, progress, bin);
    const group = best.group === "new" ? nameGroup(draft, groupKey(best.offer)) : best.group;
    openFor(draft, ask, progress, best.offer, group, best.nodes);
    return { progress, reasons: [] };
  }
  const reasons = refusals.filter((reason) => reason !== undefined);
  return { progress, reasons: [...scope.reasons, ...reasons, ...homeless(home, openings)] };
}

/** Groups for colocated jobs are named after their bucket. */
function groupKey({ bucket }: BucketOffer): string {
  return `${bucket.array}-${bucket.machineType}`;
}

/** Sites with room, in the order of use, up to the first that suffices. */
function findSites(draft: Draft, ask: Ask, scope: Scope, home: Place | undefined): ReadonlyMap<string, Site> {
  const { bins } = draft;
  const sites = new Map<string, Site>();
  visitBins(draft, scope, (bin) => {
    const place = bins.placeOfBin(bin);
    const { placementGroup } = place.bucket;
    if (ask.together === "one-group" && placementGroup === undefined) return false;
    if (home !== undefined && place !== home) return false;
    const units = bins.unitsOn(bin, ask);
    if (units < 1) return false;
    const key = ask.together === "one-group" ? `${place.id}/${placementGroup}` : place.id;
    const site = sites.get(key) ?? { place, bins: [], have: 0 };
    sites.set(key, site);
    site.bins.push(bin);
    site.have += Math.min(units, ask.units) * (bins.count[bin] ?? 0);
    return site.have >= ask.units;
  });
  return sites;
}

/** Ways to have the gang with new nodes, those with the fewest first, then in the order of the buckets. */
function findOpenings(
  draft: Draft,
  ask: Ask,
  scope: Scope,
  sites: readonly Site[],
  home: Place | undefined,
): readonly Opening[] {
  const openings = scope.offers.flatMap((offer): readonly Opening[] => {
    const units = Math.min(ask.units, unitsOnEmpty(ask, offer.resources, draft.bins.resources));
    const nodesFor = (wanted: number): number =>
      units < 1 ? Number.POSITIVE_INFINITY : Math.ceil(wanted / units);
    const here = sites.filter(
      (site) => draft.world.buckets[site.place.offer] === offer && mayGrow(draft, site),
    );
    const grown = here.map((site): Opening => ({
      offer,
      group: ask.together === "one-group" ? site.place.bucket.placementGroup : offer.pinnedGroup,
      site,
      nodes: nodesFor(ask.units - site.have),
    }));
    if (home !== undefined)
      return grown.length > 0 ? grown : emptyHome(draft, home, offer, nodesFor(ask.units));
    if (ask.together === "one-bucket" && grown.length > 0) return grown;
    const group = ask.together === "one-group" ? (offer.pinnedGroup ?? "new") : offer.pinnedGroup;
    if (here.some((site) => site.place.bucket.placementGroup === group && group !== undefined)) return grown;
    return [...grown, { offer, group, site: undefined, nodes: nodesFor(ask.units) }];
  });
  // Two that cannot have it at all differ by NaN, which is as good as 0.
  return openings.toSorted((a, b) => a.nodes - b.nodes || 0);
}

/** The group that the gang is bound to has no room among its nodes: it may have more. */
function emptyHome(draft: Draft, home: Place, offer: BucketOffer, nodes: number): readonly Opening[] {
  if (draft.world.buckets[home.offer] !== offer) return [];
  return [{ offer, group: home.bucket.placementGroup, site: undefined, nodes }];
}

/** Groups made for a target have their size; the others may grow. */
function mayGrow({ bins }: Draft, site: Site): boolean {
  return site.bins.every((bin) => bins.purpose[bin]?.kind === "array");
}

function homeless(home: Place | undefined, openings: readonly Opening[]): readonly Reason[] {
  return home === undefined || openings.length > 0 ? [] : [{ code: "no-bucket", array: home.bucket.array }];
}

function refusalOf(draft: Draft, ask: Ask, opening: Opening): Reason | undefined {
  const closed = closedTo(draft, opening.offer) ?? misfit(draft, ask, opening.offer);
  return closed ?? roomRefusal(draft, opening.offer, opening.group, opening.nodes);
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
  if (max === undefined && offer.pinnedGroup === undefined) {
    return { code: "no-placement-group", bucket: offer.bucket };
  }
  const paused = groupClosedTo(draft, offer, group);
  if (paused !== undefined) return paused;
  if (max !== undefined && nodes > max)
    return { code: "group-too-large", bucket: offer.bucket, asked: nodes, max };
  return draft.capacity.refusal(offer, group === "new" ? undefined : group, nodes);
}
