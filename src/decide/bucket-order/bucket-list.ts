import type { BucketOffer, SupplyNode } from "../../domain/world.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { PlacementGroup, ArrayName } from "../../domain/ids.ts";
import type { NodeView } from "../../domain/node-view.ts";
import type { Bins } from "../bins/bins.ts";
import type { Subject } from "../bins/empty-node-fit.ts";
import type { Place } from "../bins/node-kinds.ts";
import { comparePlaces } from "../bins/node-kinds.ts";
import type { Draft } from "../draft/draft.ts";
import { propertiesOf } from "../bins/empty-node-fit.ts";
import type { Bin } from "../bins/bin-columns.ts";
import { compareText } from "../../domain/text.ts";
import { placementGroup } from "../../domain/ids.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** A bucket in the list of a plan, with its nodes. */
export interface ListedBucket {
  readonly offer: BucketOffer;
  readonly group: PlacementGroup | undefined;
  readonly place: Place;
  /** One new node there. */
  readonly made: Pick<BucketOffer, "bucket" | "resources" | "properties" | "cores">;
  /** The bucket as constraints see it. */
  readonly view: NodeView;
  /** Nodes that are up, then nodes that are coming, deallocated nodes, and nodes that this plan makes. */
  readonly bins: Bin[];
}

/**
 * All buckets of a plan in the order of scalelib.md 7 and 8:
 *
 * 1. by node array, as the status lists them (their priority does not count: defect 6), then by VM size;
 * 2. for each size by placement group: groups of the status, groups that the configuration names, the array's own group, no group;
 * 3. groups that are only generated come last of all.
 *
 * A bucket that is not valid keeps its nodes and gets no new ones.
 */
export class BucketList {
  readonly all: ListedBucket[];
  readonly #draft: Draft;
  readonly #byPlace = new Map<Place, ListedBucket>();
  /** Number of bins that were taken in. Targets make new ones between two jobs. */
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
      ...offers.flatMap((offer) => groupsOf(offer).map((group) => listedBucket(bins, offer, group))),
      ...offers.flatMap((offer) =>
        (offer.generatedGroups ?? generated?.get(offer) ?? []).map((group) =>
          listedBucket(bins, offer, group),
        ),
      ),
    ];
    for (const bucket of this.all) this.#byPlace.set(bucket.place, bucket);
    const others = [...bins.ground.nodeKinds, ...bins.ground.inFlightKinds]
      .filter(({ place }) => !this.#byPlace.has(place))
      .toSorted((a, b) => comparePlaces(a.place, b.place));
    for (const { place, subject } of others) {
      if (this.#byPlace.has(place)) continue;
      const bucket = bucketOfNodes(bins, place, subject);
      this.#byPlace.set(place, bucket);
      this.all.push(bucket);
    }
  }

  /** Takes in the bins that are new since the last call, in the order of use. */
  refresh(): void {
    const { bins } = this.#draft;
    const fresh: Bin[] = [];
    for (let bin = this.#seen; bin < bins.count.length; bin += 1) fresh.push(bin);
    for (const bin of sortByUse(bins, fresh)) this.#byPlace.get(bins.placeOfBin(bin))?.bins.push(bin);
    this.#seen = bins.count.length;
  }

  /** Takes in a bin that has just been made: behind `before`, if it was split off from that, else at the end. */
  insert(bucket: ListedBucket, bin: Bin, before?: Bin): void {
    const at = before === undefined ? bucket.bins.length : bucket.bins.indexOf(before) + 1;
    bucket.bins.splice(at, 0, bin);
    this.#seen = this.#draft.bins.count.length;
  }
}

function groupsOf(offer: BucketOffer): readonly (PlacementGroup | undefined)[] {
  const { groupSizes, configuredGroups = [], pinnedGroup } = offer;
  const named = [...groupSizes.keys(), ...configuredGroups];
  return [...new Set([...named, ...(pinnedGroup === undefined ? [] : [pinnedGroup])]), undefined];
}

function listedBucket(bins: Bins, offer: BucketOffer, group: PlacementGroup | undefined): ListedBucket {
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
      ...withoutAbsent({ capacityFailureSeconds }),
    },
    bins: [],
  };
}

/** A bucket or group that the status does not name, or no longer names. Its nodes are used, and it gets no new ones. */
function bucketOfNodes(bins: Bins, place: Place, subject: Subject): ListedBucket {
  const offer = bins.world.buckets[place.offer];
  const { placementGroup: group, ...bucket } = place.bucket;
  const gone: BucketOffer = {
    bucket,
    resources: subject.resources,
    ...withoutAbsent({ properties: subject.properties }),
    cores: 0,
    charges: [],
    groupSizes: new Map(),
    refusal: { code: "no-bucket", array: bucket.array },
    ...withoutAbsent({ onlyFor: subject.onlyFor }),
  };
  return listedBucket(bins, offer ?? gone, group);
}

type NodeName = readonly [text: string, number: number];

/**
 * Sorts new bins into the order of use. Nodes that exist come first, by their own order and then by name. Nodes that are coming follow. Deallocated
 * nodes that would be the last of the existing ones come behind these. Nodes that this plan makes come last.
 *
 * scalelib sorts by name alone. But new nodes take the lowest free names. The next plan would use them before older nodes, place jobs elsewhere and
 * need one node more. It would also start a deallocated node while another node is idle.
 */
function sortByUse(bins: Bins, fresh: readonly Bin[]): readonly Bin[] {
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

/** Cuts a name into the part before its last "-" and the number behind that. */
function nameOf(node: SupplyNode): NodeName {
  const name = node.properties?.().name;
  const text = typeof name === "string" ? name : node.nodeId;
  const match = /^(.*)-(\d+)$/.exec(text);
  return match === null ? [text, 0] : [match[1] ?? "", Number(match[2])];
}

function compareNames([a, i]: NodeName, [b, j]: NodeName): number {
  return compareText(a, b) || i - j;
}

/** How many fresh groups each VM size of an array gets (`buffer`), and the maximum number of groups of the array (`most`). */
interface GroupSupply {
  readonly buffer: number;
  readonly most: number;
}

/** scalelib's defaults of `generated_placement_group_buffer` and `max_placement_groups`. */
const DEFAULT_GROUP_SUPPLY: GroupSupply = { buffer: 2, most: 10_000 };

/**
 * Names groups that do not exist yet (scalelib.md 8): "SIZE_pg0", "SIZE_pg1" and so on, without names that the array has. An array that is not for
 * HPC gets none. Do not call this if the configuration names groups (`World.namesGroups`).
 */
export function generateGroups(
  offers: readonly BucketOffer[],
  supplyOf: (array: ArrayName) => GroupSupply,
): ReadonlyMap<BucketOffer, readonly PlacementGroup[]> {
  const generated = new Map<BucketOffer, readonly PlacementGroup[]>();
  const known = new Map<ArrayName, Set<string>>();
  for (const { bucket, groupSizes, pinnedGroup } of offers) {
    const names = known.get(bucket.array) ?? new Set<string>();
    known.set(bucket.array, names);
    for (const group of groupSizes.keys()) names.add(group.toLowerCase());
    if (pinnedGroup !== undefined) names.add(pinnedGroup.toLowerCase());
  }
  for (const offer of offers) {
    const { maxPlacementGroupSize, onlyFor, notHpc } = offer;
    if (maxPlacementGroupSize === undefined || onlyFor !== undefined || notHpc === true) continue;
    const names = known.get(offer.bucket.array) ?? new Set<string>();
    const { buffer, most } = supplyOf(offer.bucket.array);
    const groups: PlacementGroup[] = [];
    for (let i = 0; groups.length < Math.min(buffer, most - names.size + groups.length); i += 1) {
      const name = `${offer.bucket.machineType}_pg${i}`;
      if (names.has(name.toLowerCase())) continue;
      names.add(name.toLowerCase());
      groups.push(placementGroup(name));
    }
    generated.set(offer, groups);
  }
  return generated;
}
