import type { BucketOffer } from "../domain/allocation.ts";
import type { GroupDemand } from "../domain/demand.ts";
import type { PlacementGroup, SetName } from "../domain/ids.ts";
import type { Bin } from "./bins.ts";
import type { Place } from "./ground.ts";
import { compareText } from "../domain/text.ts";
import { comparePlaces } from "./ground.ts";
import type { Draft, Settled } from "./draft.ts";
import { closedTo } from "./closed.ts";
import { createNodes, groupStem, isDeallocated, nameGroup } from "./draft.ts";
import { splitBin } from "./pack.ts";
import { groupBinding, presentBinding } from "./binding.ts";
import { groupReasons, newGroupRefusal, roomRefusal } from "./reasons.ts";
import type { Scope } from "./scope.ts";

/** A group of the demand's kind that exists, is in flight or planned, maybe not whole. */
interface Group {
  readonly place: Place;
  readonly bins: readonly Bin[];
  readonly nodes: number;
  /** Nodes that a whole one has here. */
  readonly size: number;
}

/** What all groups of one array and size share: "execute:64" for 64 cores, "execute:16n" for 16 nodes (cyclecloud-wire.md C.2). */
export function groupKeyOf(demand: GroupDemand): string {
  return `${demand.array}:${demand.size.count}${demand.size.unit === "nodes" ? "n" : ""}`;
}

/**
 * Sees that there are so many groups, each whole, in one bucket and in a placement group of its own. Groups that another demand of the same
 * array and size counts on count here too: targets are floors. Whole ones come first, then those that can be completed in place, then new
 * ones; a group that cannot be whole takes nothing.
 */
export function raiseGroups(
  draft: Draft,
  demand: GroupDemand,
  set: SetName,
  by: string,
  scope: Scope,
): Settled {
  const key = groupKeyOf(demand);
  const tally = { placed: 0, pending: 0 };
  const groups = existingGroups(draft, demand, key, scope);
  for (const group of groups) {
    if (tally.placed >= demand.groups) break;
    if (!mayHold(draft, set, group)) continue;
    if (group.nodes < group.size && !complete(draft, demand, key, set, by, group)) continue;
    if (!claimGroup(draft, set, by, group)) tally.pending += 1;
    remember(draft, key, group.place);
    tally.placed += 1;
  }
  for (const offer of scope.offers) {
    while (tally.placed < demand.groups && openGroup(draft, demand, key, set, by, offer)) {
      tally.placed += 1;
      tally.pending += 1;
    }
  }
  if (tally.placed >= demand.groups || !draft.tells) return { ...tally, reasons: [] };
  const ceilings = draft.caps.ceilings({ set });
  const sizeOf = (offer: BucketOffer): number => sizeIn(demand, offer.cores);
  const unfinished = existingGroups(draft, demand, key, scope).filter(({ nodes, size }) => nodes < size);
  return {
    ...tally,
    reasons: groupReasons(draft, demand, scope, sizeOf, ceilings),
    ...presentBinding(groupBinding(draft, scope, sizeOf, unfinished, demand.groups - tally.placed, ceilings)),
  };
}

function sizeIn(demand: GroupDemand, cores: number): number {
  if (demand.size.unit === "nodes") return demand.size.count;
  return cores > 0 ? Math.ceil(demand.size.count / cores) : Number.POSITIVE_INFINITY;
}

/** Those that a demand of this key counts on already, then whole ones with most nodes in use, then those that lack the fewest. */
function existingGroups(draft: Draft, demand: GroupDemand, key: string, scope: Scope): readonly Group[] {
  const { bins } = draft;
  const members = new Map<Place, Bin[]>();
  const stem = groupStem(draft.policy, key);
  for (const place of bins.groupPlaces()) {
    if (!scope.accepts(place)) continue;
    const own = bins
      .inGroup(place)
      .filter((bin) => !isDeallocated(bins, bin) && isMember(draft, bin, key, stem));
    if (own.length > 0) members.set(place, own);
  }
  const groups = [...members].map(([place, unsorted]): Group => {
    const nodes = unsorted.reduce((total, bin) => total + (bins.count[bin] ?? 0), 0);
    return { place, bins: unsorted, nodes, size: sizeIn(demand, bins.cores[unsorted[0] ?? -1] ?? 0) };
  });
  const inPlan = draft.wholeGroups.get(key);
  const rank = (group: Group): number => (inPlan?.has(group.place.index) === true ? 0 : 1);
  const lacking = (group: Group): number => Math.max(0, group.size - group.nodes);
  return groups.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      lacking(a) - lacking(b) ||
      countClaimed(draft, b) - countClaimed(draft, a) ||
      countReady(draft, b) - countReady(draft, a) ||
      comparePlaces(a.place, b.place),
  );
}

/** By what the node was created for; where our memory was lost, by the name of its placement group. */
function isMember({ bins }: Draft, bin: Bin, key: string, stem: string): boolean {
  const purpose = bins.purpose[bin];
  if (purpose?.kind === "group") return purpose.key === key;
  const { array, placementGroup } = bins.placeOfBin(bin).bucket;
  if (placementGroup === undefined || !key.startsWith(`${array}:`)) return false;
  return placementGroup.startsWith(stem) && /^\d+$/.test(placementGroup.slice(stem.length));
}

const countClaimed = ({ bins }: Draft, group: Group): number =>
  group.bins.filter((bin) => bins.isClaimed(bin)).length;
const countReady = ({ bins }: Draft, group: Group): number =>
  group.bins.filter((bin) => bins.ready[bin] === true).length;

/** Whether the caps of the set allow the whole group. */
function mayHold({ caps, bins }: Draft, set: SetName, { bins: members, nodes, size }: Group): boolean {
  const cores = bins.cores[members[0] ?? -1] ?? 0;
  const lacking = Math.max(0, size - nodes);
  return caps.none || caps.refusalOf({ set }, bins, members, lacking, cores, size) === undefined;
}

/** Adds what a group lacks, in its own placement group; false: that cannot be had. */
function complete(
  draft: Draft,
  demand: GroupDemand,
  key: string,
  set: SetName,
  by: string,
  group: Group,
): boolean {
  const offer = draft.world.buckets[group.place.offer];
  const name = group.place.bucket.placementGroup;
  if (offer === undefined || name === undefined || closedTo(draft, offer) !== undefined) return false;
  const lacking = group.size - group.nodes;
  if (roomRefusal(draft, offer, name, lacking) !== undefined) return false;
  addMembers(draft, demand, key, set, by, offer, name, lacking);
  return true;
}

/** A new group in the bucket; false: not (another) one. */
function openGroup(
  draft: Draft,
  demand: GroupDemand,
  key: string,
  set: SetName,
  by: string,
  offer: BucketOffer,
): boolean {
  const size = sizeIn(demand, offer.cores);
  if (newGroupRefusal(draft, demand, offer, size) !== undefined) return false;
  if (draft.caps.refusal({ set }, size, offer.cores) !== undefined) return false;
  const name = offer.pinnedGroup ?? nameGroup(draft, key);
  addMembers(draft, demand, key, set, by, offer, name, size);
  remember(draft, key, draft.bins.placeOf({ ...offer.bucket, placementGroup: name }));
  return true;
}

function addMembers(
  draft: Draft,
  demand: GroupDemand,
  key: string,
  set: SetName,
  by: string,
  offer: BucketOffer,
  name: PlacementGroup,
  count: number,
): void {
  const purpose = { kind: "group", key, group: name } as const;
  const bin = createNodes(draft, offer, name, count, purpose, demand.attributes);
  draft.bins.claim(bin, by);
  draft.caps.hold({ set }, draft.bins, bin);
}

/** Claims as many nodes as a whole group has, those first that are needed anyway, then in the order of use; true: all of them are up. */
function claimGroup(draft: Draft, set: SetName, by: string, group: Group): boolean {
  const { bins } = draft;
  const inUse = group.bins.toSorted(
    (a, b) =>
      Number(bins.isClaimed(b)) - Number(bins.isClaimed(a)) ||
      Number(bins.origin[a] !== "existing") - Number(bins.origin[b] !== "existing") ||
      bins.tierOf(a) - bins.tierOf(b) ||
      compareText(bins.node(a)?.nodeId ?? "", bins.node(b)?.nodeId ?? "") ||
      a - b,
  );
  let left = group.size;
  let allUp = group.nodes >= group.size;
  for (const bin of inUse) {
    if (left <= 0) break;
    splitBin(draft, bin, Math.min(left, bins.count[bin] ?? 0));
    bins.claim(bin, by);
    draft.caps.hold({ set }, bins, bin);
    left -= bins.count[bin] ?? 0;
    allUp &&= bins.ready[bin] === true;
  }
  return allUp;
}

function remember(draft: Draft, key: string, place: Place): void {
  const places = draft.wholeGroups.get(key) ?? new Set<number>();
  draft.wholeGroups.set(key, places.add(place.index));
}
