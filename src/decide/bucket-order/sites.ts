import type { BucketOffer, SupplyNode } from "../../domain/world.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { NodeView } from "../../domain/node-view.ts";
import { compareText } from "../../domain/text.ts";
import type { Bins } from "../bins/bins.ts";
import type { Subject } from "../bins/empty-node-fit.ts";
import type { Place } from "../bins/node-kinds.ts";
import { comparePlaces } from "../bins/node-kinds.ts";
import type { Draft } from "../draft/draft.ts";
import { closedTo, groupClosedTo } from "../draft/closed.ts";
import { propertiesOf } from "../bins/empty-node-fit.ts";
import { hasFixedSize } from "../draft/named-groups.ts";
import { pinnedRefusal } from "../draft/scale-set.ts";
import { DEFAULT_GROUP_SUPPLY, generateGroups } from "./generated-groups.ts";
import type { Bin } from "../bins/bin.ts";

/** A bucket as scalelib means it: one array x VM size x placement group or none, with its nodes. */
export interface Site {
  readonly offer: BucketOffer;
  readonly group: PlacementGroup | undefined;
  readonly place: Place;
  /** What one new node there is. */
  readonly made: Pick<BucketOffer, "bucket" | "resources" | "properties" | "cores">;
  /** What constraints on the bucket are judged on. */
  readonly view: NodeView;
  /** Nodes that are up, those on their way, deallocated ones, then those that this plan makes. */
  readonly bins: Bin[];
}

/**
 * All buckets of a plan in the order of scalelib.md 7 and 8: arrays as the status lists them, whatever their priority (defect 6
 * is what makes this order "recorded"), then their VM sizes; of each size the groups of the status, those that the configuration names,
 * the array's own, and no group; groups that are only generated come after everything else. A bucket that is not valid has its nodes and gets no more.
 */
export class BucketSites {
  readonly all: Site[];
  readonly #draft: Draft;
  readonly #byPlace = new Map<Place, Site>();
  /** Bins that were there when we looked last: targets make new ones in between. */
  #seen = 0;

  constructor(draft: Draft) {
    this.#draft = draft;
    const { world, bins } = draft;
    const positions = new Map([...world.arrays.keys()].map((array, position) => [array, position]));
    const positionOf = ({ bucket }: BucketOffer): number => positions.get(bucket.array) ?? positions.size;
    const offers = world.buckets.toSorted((a, b) => positionOf(a) - positionOf(b));
    const generated =
      world.namesGroups === true ? undefined : generateGroups(offers, () => DEFAULT_GROUP_SUPPLY);
    this.all = [
      ...offers.flatMap((offer) => groupsOf(offer).map((group) => siteOf(bins, offer, group))),
      ...offers.flatMap((offer) =>
        (offer.generatedGroups ?? generated?.get(offer) ?? []).map((group) => siteOf(bins, offer, group)),
      ),
    ];
    for (const site of this.all) this.#byPlace.set(site.place, site);
    const others = [...bins.ground.nodeKinds, ...bins.ground.inFlightKinds]
      .filter(({ place }) => !this.#byPlace.has(place))
      .toSorted((a, b) => comparePlaces(a.place, b.place));
    for (const { place, subject } of others) {
      if (this.#byPlace.has(place)) continue;
      const site = siteOfNodes(bins, place, subject);
      this.#byPlace.set(place, site);
      this.all.push(site);
    }
  }

  /** Takes in bins that are new since it was last called, in the order in which a bucket's nodes are used. */
  refresh(): void {
    const { bins } = this.#draft;
    const fresh: Bin[] = [];
    for (let bin = this.#seen; bin < bins.count.length; bin += 1) fresh.push(bin);
    for (const bin of inOrderOfUse(bins, fresh)) this.#byPlace.get(bins.placeOfBin(bin))?.bins.push(bin);
    this.#seen = bins.count.length;
  }

  /** Puts a bin that was made just now, by splitting `before` or anew, where it belongs in its site. */
  insert(site: Site, bin: Bin, before?: Bin): void {
    const at = before === undefined ? site.bins.length : site.bins.indexOf(before) + 1;
    site.bins.splice(at, 0, bin);
    this.#seen = this.#draft.bins.count.length;
  }
}

/** How many new nodes a bucket allows now. */
export function roomAt(draft: Draft, site: Site): number {
  const { offer, group } = site;
  if (isClosed(draft, site) || (group !== undefined && !mayOpenIn(draft, offer, group))) return 0;
  return draft.capacity.room(offer, group);
}

/** How many deallocated nodes like this one may be started there now. A start is charged to fewer limits than a new node. */
export function roomToStart(draft: Draft, site: Site, bin: Bin): number {
  if (isClosed(draft, site)) return 0;
  return draft.capacity.room(site.offer, site.group, draft.bins.node(bin)?.charges);
}

function isClosed(draft: Draft, { offer, group }: Site): boolean {
  if (offer.onlyFor !== undefined || closedTo(draft, offer) !== undefined) return true;
  return group !== undefined && groupClosedTo(draft, offer, group) !== undefined;
}

/** Whether new nodes may be in a placement group; nodes of any kind may be the first in it. */
function mayOpenIn(draft: Draft, offer: BucketOffer, group: PlacementGroup): boolean {
  return offer.pinnedGroup === group
    ? pinnedRefusal(draft, offer, offer.attributes) === undefined
    : draft.capacity.groupSize(offer, group) === 0 || !hasFixedSize(draft, offer, group);
}

function groupsOf(offer: BucketOffer): readonly (PlacementGroup | undefined)[] {
  const { groupSizes, configuredGroups = [], pinnedGroup } = offer;
  const named = [...groupSizes.keys(), ...configuredGroups];
  return [...new Set([...named, ...(pinnedGroup === undefined ? [] : [pinnedGroup])]), undefined];
}

function siteOf(bins: Bins, offer: BucketOffer, group: PlacementGroup | undefined): Site {
  const bucket: BucketKey = group === undefined ? offer.bucket : { ...offer.bucket, placementGroup: group };
  const { resources, properties } = group === undefined ? offer : (offer.inGroup?.(group) ?? offer);
  const own = properties?.() ?? propertiesOf(bucket);
  const inGroup = group === undefined ? own : { ...own, colocated: true, placement_group: group };
  const { capacityFailureSeconds } = offer;
  return {
    offer,
    group,
    place: bins.placeOf(bucket),
    made: { bucket, resources, properties: () => inGroup, cores: offer.cores },
    view: {
      properties: inGroup,
      available: resources,
      nodeId: null,
      configuration: {},
      jobs: new Set(),
      ...(capacityFailureSeconds === undefined ? {} : { capacityFailureSeconds }),
    },
    bins: [],
  };
}

/** Nodes in a bucket or group that the status does not name (any more): they have room, and there will be no more of them. */
function siteOfNodes(bins: Bins, place: Place, subject: Subject): Site {
  const offer = bins.world.buckets[place.offer];
  const { placementGroup: group, ...bucket } = place.bucket;
  const gone: BucketOffer = {
    bucket,
    resources: subject.resources,
    ...(subject.properties === undefined ? {} : { properties: subject.properties }),
    cores: 0,
    charges: [],
    groupSizes: new Map(),
    refusal: { code: "no-bucket", array: bucket.array },
    ...(subject.onlyFor === undefined ? {} : { onlyFor: subject.onlyFor }),
  };
  return siteOf(bins, offer ?? gone, group);
}

type NodeName = readonly [text: string, number: number];

/**
 * Nodes that are there, then those on their way, then those that this plan makes; deallocated nodes that come last of all go after those on
 * their way. scalelib goes by the names alone. But new nodes take the lowest free names: the next plan would meet them before older nodes,
 * put jobs elsewhere, and need one node more. It would also start a deallocated node while another one is idle. So the common order of use
 * comes first. Names decide between nodes that are equal in it.
 */
function inOrderOfUse(bins: Bins, fresh: readonly Bin[]): readonly Bin[] {
  const there = fresh.flatMap((bin): readonly Turn[] => {
    const node = bins.node(bin);
    return node === undefined || node.starting === true ? [] : [{ bin, node, name: nameOf(node) }];
  });
  there.sort((a, b) => a.node.order - b.node.order || compareNames(a.name, b.name) || a.bin - b.bin);
  const up = there.findLastIndex(({ node }) => node.deallocated !== true) + 1;
  const isComing = (bin: Bin): boolean =>
    bins.origin[bin] === "in-flight" || bins.node(bin)?.starting === true;
  const coming = fresh.filter(isComing).sort((a, b) => bins.tierOf(a) - bins.tierOf(b) || a - b);
  return [
    ...there.slice(0, up).map(({ bin }) => bin),
    ...coming,
    ...there.slice(up).map(({ bin }) => bin),
    ...fresh.filter((bin) => bins.origin[bin] === "planned"),
  ];
}

interface Turn {
  readonly bin: Bin;
  readonly node: SupplyNode;
  readonly name: NodeName;
}

/** A name up to its last "-", and the number behind that. */
function nameOf(node: SupplyNode): NodeName {
  const name = node.properties?.().name;
  const text = typeof name === "string" ? name : node.nodeId;
  const match = /^(.*)-(\d+)$/.exec(text);
  return match === null ? [text, 0] : [match[1] ?? "", Number(match[2])];
}

function compareNames([a, i]: NodeName, [b, j]: NodeName): number {
  return compareText(a, b) || i - j;
}
