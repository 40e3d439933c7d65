import type { BucketOffer } from "../../domain/world.ts";
import type { GroupDemand, NodeAttributes } from "../../domain/demand.ts";
import type { PlacementGroup, SetName } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import { closedTo } from "../draft/closed.ts";
import { ownOffer } from "../world/counterparts.ts";
import type { Draft } from "../draft/draft.ts";
import type { Group } from "./group-members.ts";
import {
  existingGroups,
  fillsUntil,
  inOrderOfUse,
  isGivenUp,
  isWhole,
  groupKeyOf,
  sizeIn,
} from "./group-members.ts";
import type { GivenUpGroup, GroupKind, GroupTally } from "../draft/group-names.ts";
import type { Place } from "../bins/node-kinds.ts";
import { growthRefusal } from "../draft/scale-set.ts";
import type { Scope } from "../bins/scope.ts";
import { emptyTally, nameGroup } from "../draft/group-names.ts";
import { attributesOn, createNodes, splitBin } from "../draft/new-nodes.ts";
import type { Bin } from "../bins/bin-columns.ts";
import { isUngrouped } from "../bins/scope.ts";
import { newGroupRefusal, roomRefusal } from "../draft/refusals.ts";
import { offerAt } from "../draft/offered.ts";

// Long: all steps that place one demand for groups, from counting existing groups to creating nodes.

/** A demand for groups that is being placed. */
export interface AskedGroups {
  readonly demand: GroupDemand;
  readonly set: SetName;
  readonly by: string;
  readonly key: string;
  readonly tally: GroupTally;
  readonly scope: Scope;
  /** The provider has no placement groups. */
  readonly ungrouped: boolean;
}

/** Cost in steps of making one group. */
const STEPS_PER_GROUP = 10;

/** Cost in steps of claiming one of its nodes. The claim is recorded for each demand that needs the node. */
const STEPS_PER_CLAIM = 5;

/** The number of groups placed so far, and the groups that do not count. */
interface GroupCount {
  placed: number;
  pending: number;
  /** Groups that lack nodes and are waited for. No new group is made in their place. */
  readonly held: Group[];
  /** Existing groups that do not count, in the order in which they were checked. */
  readonly met: MetGroup[];
}

/** An existing group that does not count: the plan waits for it, or has given it up. */
export type MetGroup =
  | { readonly kind: "filling"; readonly group: Group; readonly refusal: Reason }
  | { readonly kind: "given-up"; readonly group: GivenUpGroup };

/** The result for a demand for groups, in groups. */
interface PlacedGroups {
  readonly placed: number;
  readonly pending: number;
  readonly short?: ShortGroups;
}

/** A demand for groups that is not placed completely, and how far it got. */
export interface ShortGroups {
  readonly asked: AskedGroups;
  readonly count: GroupCount;
}

/**
 * Places a demand for groups. Each group is whole, in one bucket and in a placement group of its own. A group that another demand of the
 * same array and size counts on also counts here: demands for groups are minimums, not sums. Whole groups are used first, then groups that
 * can be completed in place, then new ones, bucket by bucket.
 *
 * A group whose missing nodes are not possible now keeps its nodes and counts as waited for until its time to be filled ends. Then it is
 * given up: its nodes are released and the next bucket is tried, because no job that needs the whole group could run on the rest. When its
 * own bucket has paused, its turn comes again. A new group that cannot be whole takes nothing.
 */
export function placeGroups(
  draft: Draft,
  demand: GroupDemand,
  set: SetName,
  by: string,
  scope: Scope,
): PlacedGroups {
  const key = groupKeyOf(demand);
  const ungrouped = isUngrouped(scope);
  const asked: AskedGroups = {
    demand,
    set,
    by,
    key,
    scope,
    ungrouped,
    tally: tallyOf(draft, demand, key, set),
  };
  asked.tally.ungrouped ||= ungrouped;
  const count: GroupCount = { placed: 0, pending: 0, held: [], met: [] };
  const groups = existingGroups(draft, demand, key, scope, { ungrouped });
  for (const group of groups) {
    if (!isLacking(count, demand) || draft.bins.budget.isSpent) break;
    countGroup(draft, asked, count, group);
  }
  const givenUp = groups.filter((group) => isGivenUp(group) && !isWhole(group));
  for (const offer of scope.offers) {
    for (const group of givenUp) {
      if (draft.world.buckets[group.place.offer] === ownOffer(offer) && isLacking(count, demand))
        resume(draft, asked, count, group);
    }
    while (isLacking(count, demand) && !draft.bins.budget.isSpent && openGroup(draft, asked, offer)) {
      draft.bins.budget.spend(STEPS_PER_GROUP);
      count.placed += 1;
      count.pending += 1;
    }
  }
  const { placed, pending } = count;
  return placed >= demand.groups ? { placed, pending } : { placed, pending, short: { asked, count } };
}

const isLacking = ({ placed, held }: GroupCount, { groups }: GroupDemand): boolean =>
  placed + held.length < groups;

/** The group that this plan has given up in a bucket. No new group is made there. */
export function givenUpIn(
  { bins, world }: Draft,
  { tally }: AskedGroups,
  offer: BucketOffer,
): GivenUpGroup | undefined {
  for (const [index, group] of tally.givenUp) {
    const place = bins.ground.places[index];
    if (place !== undefined && world.buckets[place.offer] === ownOffer(offer)) return group;
  }
  return undefined;
}

/** Counts an existing group, completes it, waits for it or gives it up. */
function countGroup(draft: Draft, asked: AskedGroups, count: GroupCount, group: Group): void {
  const { tally } = asked;
  if (!isWhole(group) && isGivenUp(group)) return;
  if (!mayHold(draft, asked.set, group)) return;
  if (!isWhole(group)) {
    if (group.fill !== undefined && draft.now >= fillsUntil(draft, group)) {
      const { place, nodes, size } = group;
      const given = { bucket: place.bucket, nodes, size, since: group.fill.since };
      tally.givenUp.set(place.index, given);
      count.met.push({ kind: "given-up", group: given });
      return;
    }
    const refusal = complete(draft, asked, group);
    if (refusal !== undefined) {
      if (!mayPass(refusal)) return;
      claimGroup(draft, asked, group);
      tally.counted.add(group.place.index);
      count.held.push(group);
      count.met.push({ kind: "filling", group, refusal });
      return;
    }
  }
  if (!claimGroup(draft, asked, group)) count.pending += 1;
  tally.counted.add(group.place.index);
  count.placed += 1;
}

/** Completes a group that was given up, when it is its bucket's turn again: that takes fewer nodes than a new group. */
function resume(draft: Draft, asked: AskedGroups, count: GroupCount, group: Group): void {
  if (!mayHold(draft, asked.set, group) || complete(draft, asked, group) !== undefined) return;
  claimGroup(draft, asked, group);
  asked.tally.counted.add(group.place.index);
  count.placed += 1;
  count.pending += 1;
}

/** Whether waiting may help: pauses end, and limits become free. Other reasons do not pass. */
function mayPass({ code }: Reason): boolean {
  return code === "backing-off" || code === "limit-reached" || code === "cluster-not-started";
}

/** Whether the caps of the set allow the whole group. */
function mayHold({ caps, bins }: Draft, set: SetName, { bins: members, nodes, size }: Group): boolean {
  const cores = bins.cores[members[0] ?? -1] ?? 0;
  const lacking = Math.max(0, size - nodes);
  return caps.none || caps.refusalOf({ set }, bins, members, lacking, cores, size) === undefined;
}

/** Adds the nodes that a group lacks, in its own placement group. Returns the reason if that is not possible. */
function complete(draft: Draft, asked: AskedGroups, { place, nodes, size }: Group): Reason | undefined {
  const offer = offerAt(draft.world, asked.scope, place);
  if (offer === undefined) return { code: "no-bucket", array: place.bucket.array };
  const lacking = size - nodes;
  const group = place.bucket.placementGroup;
  const refusal =
    closedTo(draft, offer) ??
    roomRefusal(draft, offer, group, lacking) ??
    (group === undefined ? undefined : growthRefusal(draft, offer, group, attributesIn(asked, offer, group)));
  if (refusal !== undefined) return refusal;
  asked.tally.begun.add(place.index);
  addMembers(draft, asked, offer, place, lacking);
  return undefined;
}

/** Makes a new group in the bucket. False if that is not possible. */
function openGroup(draft: Draft, asked: AskedGroups, offer: BucketOffer): boolean {
  const { demand, set, key, tally, ungrouped } = asked;
  const size = sizeIn(demand, offer.cores);
  if (givenUpIn(draft, asked, offer) !== undefined) return false;
  if (newGroupRefusal(draft, demand, offer, size, ungrouped) !== undefined) return false;
  if (draft.caps.refusal({ set }, size, offer.cores) !== undefined) return false;
  const group = ungrouped ? undefined : (offer.pinnedGroup ?? nameGroup(draft, key));
  const bucket = group === undefined ? offer.bucket : { ...offer.bucket, placementGroup: group };
  const place = draft.bins.placeOf(bucket);
  addMembers(draft, asked, offer, place, size);
  tally.counted.add(place.index);
  return true;
}

function addMembers(draft: Draft, asked: AskedGroups, offer: BucketOffer, place: Place, count: number): void {
  const { key } = asked;
  const group = place.bucket.placementGroup;
  const purpose =
    group === undefined ? ({ kind: "group", key } as const) : { kind: "group" as const, key, group };
  const attributes = attributesIn(asked, offer, group);
  const bin = createNodes(draft, offer, group, count, purpose, attributes);
  take(draft, asked, bin);
}

/** The attributes of new nodes of a group, with its id. */
function attributesIn(
  { demand }: AskedGroups,
  offer: BucketOffer,
  group: PlacementGroup | undefined,
): NodeAttributes | undefined {
  const whole = attributesOn(offer, demand.attributes);
  return group === undefined ? whole : withGroupId(whole, group);
}

function take(draft: Draft, asked: AskedGroups, bin: Bin): void {
  const { set, ungrouped, tally } = asked;
  draft.bins.claim(bin, asked);
  draft.caps.hold({ set }, draft.bins, bin);
  if (ungrouped) tally.bins.add(bin);
}

/** Claims as many nodes as a whole group has. True if all of them are up. */
function claimGroup(draft: Draft, asked: AskedGroups, group: Group): boolean {
  const { bins } = draft;
  let left = group.size;
  let allUp = isWhole(group);
  bins.budget.spend(STEPS_PER_CLAIM * group.bins.length);
  for (const bin of inOrderOfUse(draft, group)) {
    if (left <= 0) break;
    splitBin(draft, bin, Math.min(left, bins.count[bin] ?? 0));
    take(draft, asked, bin);
    left -= bins.count[bin] ?? 0;
    allUp &&= bins.isReady(bin);
  }
  return allUp;
}

/** The tally of the demand's array and size. Adds the demand to it. */
function tallyOf(draft: Draft, demand: GroupKind, key: string, set: SetName): GroupTally {
  const tally = draft.groups.get(key) ?? emptyTally(demand);
  if (demand.groups > tally.demand.groups) tally.demand = demand;
  tally.sets.add(set);
  draft.groups.set(key, tally);
  return tally;
}

/**
 * The attributes of a group's nodes: the attributes of the demand, with the group's id as `GroupId` and, for the scripts of jobs, in the
 * configuration as `cyclecloud.node.group_id` (cyclecloud-wire.md C.2). An id in the attributes of the demand is replaced.
 */
function withGroupId(attributes: NodeAttributes = {}, group: PlacementGroup): NodeAttributes {
  const others = Object.entries(attributes).filter(([key]) => key.toLowerCase() !== "groupid");
  return {
    ...Object.fromEntries(others),
    Configuration: putDeep(attributes["Configuration"], ["cyclecloud", "node", "group_id"], group),
    GroupId: group,
  };
}

/** Puts a value at the end of a path. Other members of the objects on the path stay. Values on the path that are no objects are replaced. */
function putDeep(into: unknown, [key, ...path]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const members = typeof into === "object" && into !== null && !Array.isArray(into) ? into : {};
  return { ...members, [key]: putDeep(Reflect.get(members, key), path, value) };
}
