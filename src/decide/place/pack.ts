// Long: the order in which slots fill nodes is one rule: existing nodes, then new ones, alone or in groups.
import type { BucketOffer } from "../../domain/world.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import { openOffers } from "./offers.ts";
import type { Ask } from "../bins/job-ask.ts";
import { holderOf } from "../draft/caps.ts";
import type { Draft } from "../draft/draft.ts";
import { groupClosedTo, newGroupClosedTo } from "../draft/closed.ts";
import { mayBeIn, mayBeInNew, namedGroups } from "../draft/named-groups.ts";
import { nextOpening } from "./opening.ts";
import { pinnedRefusal } from "../draft/scale-set.ts";
import type { Scope } from "../bins/scope.ts";
import { createNodes, splitBin, startIfDeallocated } from "../draft/new-nodes.ts";
import { groupKey, nameGroup } from "../draft/group-names.ts";
import type { Offered } from "../draft/offered.ts";
import type { Bin } from "../bins/bin-columns.ts";

/** The state of placing one job, in units. */
export interface Progress {
  left: number;
  /** Units that are placed on nodes which are not up. */
  pending: number;
}

/**
 * Packs the slots of a job into existing nodes in their order of use (among equals, needed nodes first), then nodes in flight, then
 * deallocated nodes, then nodes that this plan creates already, then further new ones. What does not fit stays in `left`.
 */
export function packJob(draft: Draft, ask: Ask, scope: Scope): Progress {
  const progress = { left: ask.units, pending: 0 };
  fillOpenBins(draft, ask, progress);
  if (progress.left > 0 && draft.caps.onlyBins(holderOf(ask)) === undefined)
    openBins(draft, ask, scope, progress);
  return progress;
}

function openBins(draft: Draft, ask: Ask, scope: Scope, progress: Progress): void {
  const grouped = ask.requirements.grouped;
  const offered = openOffers(draft, ask, scope, grouped);
  let exhausted: Set<Offered> | undefined;
  /** Placement groups that this plan made for this job. */
  const made = grouped ? new Map<BucketOffer, PlacementGroup[]>() : undefined;
  while (progress.left > 0 && !draft.bins.budget.isSpent) {
    const opening = nextOpening(draft, ask, offered, progress.left, exhausted ?? NO_OFFERS);
    // If the steps ran out, not all offers were checked, and this may not be the best one.
    if (opening === undefined || draft.bins.budget.isSpent) break;
    const { offered: from, nodes } = opening;
    const before = progress.left;
    if (made !== undefined)
      openInGroups(draft, ask, progress, from.offer, isIntricate(ask) ? 1 : nodes, made);
    else openFor(draft, ask, progress, from.offer, from.offer.pinnedGroup, isIntricate(ask) ? 1 : nodes);
    // An offer that did not help is not tried again.
    if (progress.left === before) (exhausted ??= new Set()).add(from);
  }
}

const NO_OFFERS: ReadonlySet<Offered> = new Set();

const isIntricate = ({ jobClass }: Ask): boolean => jobClass.takes === undefined;

/** Fills nodes that exist, are in flight or are planned already. */
function fillOpenBins(draft: Draft, ask: Ask, progress: Progress): void {
  const { bins, caps } = draft;
  if (ask.isGang || (!caps.none && caps.concern(holderOf(ask)))) {
    for (const bin of openUnderCaps(draft, ask)) {
      if (progress.left === 0 || bins.budget.isSpent) return;
      // Each unit of a gang has a node of its own.
      if (ask.isGang && bins.holds(bin, ask.by)) continue;
      fillBin(draft, ask, progress, bin);
    }
    return;
  }
  if (ask.jobClass.takes?.nothing === true) {
    fillOnceEach(draft, ask, progress);
    return;
  }
  while (progress.left > 0 && !bins.budget.isSpent) {
    const bin = bins.first(ask);
    if (bin === undefined) return;
    const before = progress.left;
    fillBin(draft, ask, progress, bin);
    // The node could not be started. Without this the loop would not end.
    if (progress.left === before) bins.shut(bin);
  }
}

/** The bins with room, in the order of use. If caps allow no further node, the bins that the holder has: there may be thousands of others. */
function openUnderCaps({ bins, caps }: Draft, ask: Ask): readonly Bin[] {
  const held = bins.hosts.has(ask.set) ? undefined : caps.onlyBins(holderOf(ask));
  if (held === undefined) return [...bins.each(ask)];
  bins.budget.spend(held.size);
  return [...held].sort((a, b) => bins.compareUse(a, b));
}

/** Places slots that take nothing: one on each node, in the order of use. */
function fillOnceEach(draft: Draft, ask: Ask, progress: Progress): void {
  const { bins } = draft;
  while (progress.left > 0 && !bins.budget.isSpent) {
    const open: Bin[] = [];
    let room = 0;
    for (const bin of bins.each(ask)) {
      if (bins.unitsOn(bin, ask) < 1) continue;
      open.push(bin);
      room += bins.count[bin] ?? 0;
      if (room >= progress.left) break;
    }
    if (open.length === 0) return;
    for (const bin of open) {
      const before = progress.left;
      if (before === 0) return;
      fillBin(draft, ask, progress, bin);
      // The node could not be started. The next round uses another one.
      if (progress.left === before) bins.shut(bin);
    }
  }
}

/** Places as much of the job on the bin as fits. Of identical nodes only as many as needed are used, and the others are split off. */
export function fillBin(draft: Draft, ask: Ask, progress: Progress, bin: Bin): void {
  const { bins, caps } = draft;
  const units = Math.min(bins.unitsOn(bin, ask), progress.left);
  if (units < 1) return;
  const room = caps.none ? Number.POSITIVE_INFINITY : caps.roomOn(holderOf(ask), bins, bin);
  // What depends on what is left, also in pools, must be checked for each node.
  const most = ask.jobClass.takes === undefined ? 1 : (bins.count[bin] ?? 0);
  const nodes = Math.min(most, Math.floor(progress.left / units), room);
  if (nodes < 1 || !startIfDeallocated(draft, bin)) return;
  const rest = splitBin(draft, bin, nodes);
  bins.occupy(bin, ask, units * ask.slotsPerUnit);
  if (!caps.none) caps.hold(holderOf(ask), bins, bin);
  if (draft.shared.size > 0) noteSharer(draft, ask, bin);
  progress.left -= nodes * units;
  if (!bins.isReady(bin)) progress.pending += nodes * units;
  // The rest is less than a node holds, so it fills part of one more node.
  if (rest === undefined || progress.left === 0) return;
  if (progress.left < units || most === 1) fillBin(draft, ask, progress, rest);
}

/** Records a job on a node that may become smaller. Nodes of a gang keep their size, because they must be identical. */
function noteSharer({ shared }: Draft, ask: Ask, bin: Bin): void {
  if (ask.together === "one-bucket" || ask.together === "one-group" || isIntricate(ask)) shared.delete(bin);
  else shared.get(bin)?.add(ask.jobClass.shape);
}

/** Plans new nodes in a bucket and fills them. The caller has checked that there is room for them. */
export function openFor(
  draft: Draft,
  ask: Ask,
  progress: Progress,
  offer: BucketOffer,
  group: PlacementGroup | undefined,
  nodes: number,
): void {
  if (nodes <= 0 || pinnedRefusal(draft, offer, offer.attributes) !== undefined) return;
  const bin = createNodes(draft, offer, group, nodes, { kind: "array" });
  if (mayShrink(draft, ask, group)) draft.shared.set(bin, new Set());
  fillBin(draft, ask, progress, bin);
}

function mayShrink(draft: Draft, ask: Ask, group: PlacementGroup | undefined): boolean {
  if (draft.way.opening !== "shared" || group !== undefined) return false;
  if (ask.requirements.alone !== undefined || isIntricate(ask)) return false;
  return ask.together === "anywhere" || ask.together === "spread";
}

/** Creates nodes in placement groups: first in existing groups of the bucket, then in new ones. Each group is filled before the next. */
function openInGroups(
  draft: Draft,
  ask: Ask,
  progress: Progress,
  offer: BucketOffer,
  nodes: number,
  made: Map<BucketOffer, PlacementGroup[]>,
): void {
  const { capacity } = draft;
  /** Returns how many of the wanted nodes the group takes. */
  const open = (group: PlacementGroup, wanted: number): number => {
    if (wanted < 1 || groupClosedTo(draft, offer, group) !== undefined) return 0;
    if (!mayBeIn(draft, ask, offer, group)) return 0;
    const count = Math.min(wanted, capacity.room(offer, group));
    openFor(draft, ask, progress, offer, group, count);
    return count;
  };
  let left = nodes;
  draft.bins.budget.spend(offer.groupSizes.size + (made.get(offer)?.length ?? 0));
  for (const group of new Set([...namedGroups(draft, offer), ...(made.get(offer) ?? [])]))
    left -= open(group, left);
  const size = offer.maxPlacementGroupSize;
  if (offer.pinnedGroup !== undefined || size === undefined || size < 1) return;
  if (newGroupClosedTo(draft, offer) !== undefined) return;
  if (!mayBeInNew(draft, ask, offer)) return;
  for (let more = Math.min(left, capacity.room(offer, undefined)); more > 0 && !draft.bins.budget.isSpent;) {
    draft.bins.budget.spend(1);
    const group = nameGroup(draft, groupKey(offer));
    const others = made.get(offer);
    if (others === undefined) made.set(offer, [group]);
    else others.push(group);
    const opened = open(group, more);
    if (opened === 0) return;
    more -= opened;
  }
}
