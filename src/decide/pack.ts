import type { BucketOffer } from "../domain/allocation.ts";
import type { PlacementGroup } from "../domain/ids.ts";
import type { Ask } from "./ask.ts";
import { unitsOnEmpty } from "./ask.ts";
import type { Bin } from "./bins.ts";
import type { Draft } from "./draft.ts";
import { closedTo, createNodes, wake } from "./draft.ts";
import type { Scope } from "./scope.ts";

/** How far the placing of a job has come, in units. */
export interface Progress {
  left: number;
  /** Of those placed: on nodes that are not up. */
  pending: number;
}

/**
 * Packs the slots of a job: into existing nodes in their order of use (among equals those already needed first), then those in flight,
 * then those that this plan creates or starts anyway, then deallocated ones, then new ones of the first bucket that has them, as few as possible. What does not fit stays
 * in `left`.
 */
export function packJob(draft: Draft, ask: Ask, scope: Scope): Progress {
  const progress = { left: ask.units, pending: 0 };
  visitBins(draft, scope, (bin) => {
    fillBin(draft, ask, progress, bin);
    return progress.left === 0;
  });
  for (const bin of draft.asleep) {
    if (progress.left === 0) break;
    if (!scope.accepts(draft.bins.placeOfBin(bin)) || draft.bins.unitsOn(bin, ask) < 1) continue;
    if (wake(draft, bin)) fillBin(draft, ask, progress, bin);
  }
  for (const offer of scope.offers) {
    if (progress.left === 0) break;
    const units = Math.min(progress.left, unitsOnEmpty(ask, offer, draft.bins.resources));
    if (units < 1 || closedTo(draft, offer) !== undefined) continue;
    const room = draft.capacity.room(offer, offer.pinnedGroup);
    const nodes = Math.min(room, Math.ceil(progress.left / units));
    openFor(draft, ask, progress, offer, offer.pinnedGroup, nodes);
  }
  return progress;
}

/**
 * Calls `use` for each bin that may have room, in the order of use, until it answers true. Among existing nodes of equal order, and
 * among those in flight, the ones that somebody needs already come first: that keeps others free to stop. `enough` is asked after each
 * such run of equals.
 */
export function visitBins(
  draft: Draft,
  scope: Scope,
  use: (bin: Bin) => boolean,
  enough: () => boolean = () => false,
): void {
  const { bins, forJobs } = draft;
  let from = 0;
  while (from < forJobs.length) {
    const order = bins.order[forJobs[from] ?? 0];
    let to = from + 1;
    while (to < forJobs.length && bins.order[forJobs[to] ?? 0] === order) to += 1;
    if (visitTier(draft, scope, forJobs, from, to, use) || enough()) return;
    from = to;
  }
  if (visitTier(draft, scope, bins.inFlight, 0, undefined, use) || enough()) return;
  visitTier(draft, scope, bins.planned, 0, undefined, use);
}

/** The list may grow while it is walked, as bins are split; `to` is left out then. */
function visitTier(
  { bins }: Draft,
  scope: Scope,
  list: readonly Bin[],
  from: number,
  to: number | undefined,
  use: (bin: Bin) => boolean,
): boolean {
  for (const claimed of [true, false]) {
    for (let i = from; i < (to ?? list.length); i += 1) {
      const bin = list[i] ?? 0;
      if (bins.isClaimed(bin) !== claimed || !scope.accepts(bins.placeOfBin(bin))) continue;
      if (use(bin)) return true;
    }
  }
  return false;
}

/** Puts as much of the job into the bin as fits; of several identical nodes as many as are needed, the others are split off. */
export function fillBin(draft: Draft, ask: Ask, progress: Progress, bin: Bin): void {
  const { bins } = draft;
  const units = Math.min(bins.unitsOn(bin, ask), progress.left);
  if (units < 1) return;
  const nodes = Math.min(bins.count[bin] ?? 0, Math.floor(progress.left / units));
  const rest = bins.split(bin, nodes);
  bins.occupy(bin, ask, units * ask.slotsPerUnit);
  draft.filled += 1;
  progress.left -= nodes * units;
  if (bins.ready[bin] !== true) progress.pending += nodes * units;
  // What is left now is less than a node holds: the last node is filled in part.
  if (rest !== undefined && progress.left > 0) fillBin(draft, ask, progress, rest);
}

/** Plans so many new nodes in a bucket and fills them; there is room for them. */
export function openFor(
  draft: Draft,
  ask: Ask,
  progress: Progress,
  offer: BucketOffer,
  group: PlacementGroup | undefined,
  nodes: number,
): void {
  if (nodes <= 0) return;
  fillBin(draft, ask, progress, createNodes(draft, offer, group, nodes, { kind: "array" }));
}
