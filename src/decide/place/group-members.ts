import type { World } from "../../domain/world.ts";
import { bucketId } from "../../domain/bucket.ts";
import type { GroupFill } from "../../domain/record.ts";
import { compareText } from "../../domain/text.ts";
import type { Instant } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { Bin } from "../bins/bin-columns.ts";
import type { Place } from "../bins/node-kinds.ts";
import { comparePlaces } from "../bins/node-kinds.ts";
import type { Scope } from "../bins/scope.ts";
import type { Draft } from "../draft/draft.ts";
import { groupStem } from "../draft/group-names.ts";
import type { GroupKind } from "../draft/group-names.ts";
import { isDeallocated, splitBin } from "../draft/new-nodes.ts";
import type { GroupDemand } from "../../domain/demand.ts";

// Long: one rule finds the nodes of groups, whether they exist, are in flight or are planned.

/** Number of bins that are skipped at the cost of one step. */
const BINS_PER_STEP = 8;

/** A group of the demand's array and size that exists, is in flight or is planned. It may lack nodes. */
export interface Group {
  readonly place: Place;
  readonly bins: readonly Bin[];
  readonly nodes: number;
  /** Number of nodes of a whole group in this bucket. */
  readonly size: number;
  /** Present if an earlier plan found that it lacks nodes. */
  readonly fill?: GroupFill;
}

export const isWhole = ({ nodes, size }: Pick<Group, "nodes" | "size">): boolean => nodes >= size;

export const isGivenUp = ({ fill }: Pick<Group, "fill">): boolean => fill?.givenUpAt !== undefined;

export const countReady = ({ bins }: Draft, group: Pick<Group, "bins">): number =>
  sumOf(group.bins, (bin) => (bins.isReady(bin) ? (bins.count[bin] ?? 0) : 0));

/** When the time to fill a group ends. */
export function fillsUntil({ policy, now }: Draft, { fill }: Group): Instant {
  return plusSeconds(fill?.since ?? now, policy.groupFillSeconds);
}

/** Cost in steps of counting and sorting one group. */
const STEPS_PER_GROUP = 20;

/**
 * The groups of a key in their order of use: whole groups, then groups that are being filled, then other groups that lack nodes, the fewest
 * first, then groups that were given up. Among whole groups, those that another demand of this key counts on come first, then those with the
 * most needed nodes.
 */
export function existingGroups(
  draft: Draft,
  demand: GroupKind,
  key: string,
  scope: Pick<Scope, "accepts">,
  { ungrouped }: { readonly ungrouped: boolean },
): readonly Group[] {
  const isFree = (bin: Bin): boolean => !isTaken(draft, key, bin);
  const groups = ungrouped
    ? chunksOf(draft, demand, key, scope, isFree)
    : placedGroups(draft, demand, key, scope);
  draft.bins.budget.spend(STEPS_PER_GROUP * groups.length);
  const counted = draft.groups.get(key)?.counted;
  const stage = (group: Group): number => {
    if (isWhole(group)) return counted?.has(group.place.index) === true ? 0 : 1;
    if (isGivenUp(group)) return 4;
    return group.fill === undefined ? 3 : 2;
  };
  const lacking = (group: Group): number => Math.max(0, group.size - group.nodes);
  return groups.toSorted(
    (a, b) =>
      stage(a) - stage(b) ||
      lacking(a) - lacking(b) ||
      countClaimed(draft, b) - countClaimed(draft, a) ||
      countReady(draft, b) - countReady(draft, a) ||
      comparePlaces(a.place, b.place),
  );
}

/** Groups that are in a placement group of their own. */
function placedGroups(
  draft: Draft,
  demand: GroupKind,
  key: string,
  scope: Pick<Scope, "accepts">,
): readonly Group[] {
  const { bins } = draft;
  const stem = groupStem(draft.policy, key);
  const groups: Group[] = [];
  for (const place of bins.groupPlaces()) {
    // Two steps: they are listed once more in the report.
    bins.budget.spend(2);
    if (!scope.accepts(place)) continue;
    const own = bins
      .inGroup(place)
      .filter((bin) => !isDeallocated(bins, bin) && isMember(draft, bin, key, stem));
    if (own.length > 0) groups.push(groupOf(draft, demand, place, own));
  }
  return groups;
}

/** Whether the node is part of a group of another size. */
function isTaken({ groups }: Draft, key: string, bin: Bin): boolean {
  return [...groups].some(([other, { bins }]) => other !== key && bins.has(bin));
}

/**
 * Groups of a provider without placement groups: the nodes of a bucket in lots of the group's size. They were created for such groups or, if
 * `mayBeOrdinary` allows it, for the array. The last lot may lack nodes.
 */
export function chunksOf(
  draft: Draft,
  demand: GroupKind,
  key: string,
  scope: Pick<Scope, "accepts">,
  mayBeOrdinary: (bin: Bin) => boolean,
): readonly Group[] {
  const { bins } = draft;
  // Each bin may be checked for each kind of group, and once more in the report.
  bins.budget.spend(Math.ceil((bins.count.length * (1 + draft.groups.size)) / BINS_PER_STEP));
  const members = new Map<Place, Bin[]>();
  for (const bin of [...bins.existing, ...bins.inFlight, ...bins.planned]) {
    const place = bins.placeOfBin(bin);
    const purpose = bins.purpose[bin];
    const isOurs =
      purpose?.kind === "group" ? purpose.key === key : purpose !== undefined && mayBeOrdinary(bin);
    if (!isOurs || place.bucket.placementGroup !== undefined || !scope.accepts(place)) continue;
    if (isDeallocated(bins, bin)) continue;
    const own = members.get(place);
    if (own === undefined) members.set(place, [bin]);
    else own.push(bin);
  }
  return [...members].flatMap(([place, all]) => {
    const madeFor = (bin: Bin): number => (bins.purpose[bin]?.kind === "group" ? 0 : 1);
    const inOrder = all.toSorted((a, b) => madeFor(a) - madeFor(b));
    const size = sizeIn(demand, bins.cores[inOrder[0] ?? -1] ?? 0);
    return chunks(draft, inOrder, size).map((own): Group => {
      const { fill, ...group } = groupOf(draft, demand, place, own);
      // The groups share a bucket, and only the last can lack nodes.
      return isWhole(group) || fill === undefined ? group : { ...group, fill };
    });
  });
}

/** The bins in lots of `size` nodes. */
function chunks(draft: Draft, all: readonly Bin[], size: number): readonly (readonly Bin[])[] {
  const lots: Bin[][] = [];
  const left = [...all];
  let room = 0;
  for (let bin = left.shift(); bin !== undefined; bin = left.shift()) {
    if (room <= 0) {
      lots.push([]);
      room = size;
    }
    if (Number.isFinite(room)) {
      const rest = splitBin(draft, bin, Math.min(room, draft.bins.count[bin] ?? 0));
      if (rest !== undefined) left.unshift(rest);
    }
    lots.at(-1)?.push(bin);
    room -= draft.bins.count[bin] ?? 0;
  }
  return lots;
}

function groupOf(draft: Draft, demand: GroupKind, place: Place, own: readonly Bin[]): Group {
  const { bins } = draft;
  const nodes = sumOf(own, (bin) => bins.count[bin] ?? 0);
  const size = sizeIn(demand, bins.cores[own[0] ?? -1] ?? 0);
  const fill = fillOf(draft.world, place);
  return { place, bins: own, nodes, size, ...(fill === undefined ? {} : { fill }) };
}

/** What earlier plans recorded about a group that lacks nodes. */
function fillOf({ groupFills = [] }: World, { bucket }: Pick<Place, "bucket">): GroupFill | undefined {
  if (groupFills.length === 0) return undefined;
  const id = bucketId(bucket);
  return groupFills.find((fill) => bucketId(fill.bucket) === id);
}

/** Whether a node is part of a group of this key: by its purpose or, if the ledger lost that, by the name of its placement group. */
function isMember({ bins }: Draft, bin: Bin, key: string, stem: string): boolean {
  const purpose = bins.purpose[bin];
  if (purpose?.kind === "group") return purpose.key === key;
  const { array, placementGroup } = bins.placeOfBin(bin).bucket;
  if (placementGroup === undefined || !key.startsWith(`${array}:`)) return false;
  return placementGroup.startsWith(stem) && /^\d+$/.test(placementGroup.slice(stem.length));
}

const countClaimed = ({ bins }: Draft, group: Group): number =>
  group.bins.filter((bin) => bins.isClaimed(bin)).length;

function sumOf(bins: readonly Bin[], amount: (bin: Bin) => number): number {
  return bins.reduce((total, bin) => total + amount(bin), 0);
}

/** The bins of a group in the order in which they are claimed: needed bins first, then existing ones, then by their order of use. */
export function inOrderOfUse({ bins }: Draft, group: Group): readonly Bin[] {
  return group.bins.toSorted(
    (a, b) =>
      Number(bins.isClaimed(b)) - Number(bins.isClaimed(a)) ||
      Number(bins.origin[a] !== "existing") - Number(bins.origin[b] !== "existing") ||
      bins.tierOf(a) - bins.tierOf(b) ||
      compareText(bins.node(a)?.nodeId ?? "", bins.node(b)?.nodeId ?? "") ||
      a - b,
  );
}

/** What all groups of one array and size share: "execute:64" for 64 cores, "execute:16n" for 16 nodes (cyclecloud-wire.md C.2). */
export function groupKeyOf({ array, size }: Pick<GroupDemand, "array" | "size">): string {
  return `${array}:${size.count}${size.unit === "nodes" ? "n" : ""}`;
}

/** The group size in a key. 0 if it has none. */
export function sizeOfKey(key: string): GroupDemand["size"] {
  const [, count = "0", nodes] = /:(\d+)(n?)$/.exec(key) ?? [];
  return { unit: nodes === "n" ? "nodes" : "cores", count: Number(count) };
}

/** Number of nodes of a whole group, if each has this many cores. Infinite if no number of nodes is enough. */
export function sizeIn({ size }: Pick<GroupDemand, "size">, cores: number): number {
  if (size.unit === "nodes") return size.count;
  return cores > 0 ? Math.ceil(size.count / cores) : Number.POSITIVE_INFINITY;
}
