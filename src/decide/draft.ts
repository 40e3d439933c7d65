import type { AllocationPolicy, BucketOffer, World } from "../domain/allocation.ts";
import type { NodeAttributes } from "../domain/demand.ts";
import type { PlacementGroup } from "../domain/ids.ts";
import { placementGroup } from "../domain/ids.ts";
import type { Binding } from "../domain/binding.ts";
import type { Reason } from "../domain/reason.ts";
import type { Purpose } from "../domain/bucket.ts";
import type { CreateEffect } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { canonicalText } from "../domain/canonical.ts";
import type { Ask } from "./ask.ts";
import { TOLERANCE } from "./tolerance.ts";
import type { Bin } from "./bins.ts";
import { compareText } from "../domain/text.ts";
import { Bins } from "./bins.ts";
import { Capacity } from "./limits.ts";

/** A plan in the making: what is still free, what is still allowed, and what has been asked for. */
export interface Draft {
  readonly world: World;
  readonly policy: AllocationPolicy;
  readonly now: Instant;
  readonly bins: Bins;
  readonly capacity: Capacity;
  /** For each resource the least that any job still to be placed takes of it. */
  readonly leastNeeds: readonly number[];
  /** Existing nodes in their order of use, without those that can take no job and are needed anyway. */
  readonly open: readonly Bin[];
  /** Those of `open` that could still take the smallest job. */
  forJobs: readonly Bin[];
  /** Placement-group names in use, lower case, for as long as this plan is made. */
  readonly groupNames: Set<string>;
  /** Groups that a demand in nodes or cores of this key already counts on, by key: their places. */
  readonly wholeGroups: Map<string, Set<number>>;
  /** What is left of each pool that jobs share. */
  readonly pools: Map<string, number>;
  /** Bins that a job has been put into since the last {@link forgetSpent}. */
  filled: number;
}

/** What became of a demand, in its own unit; reasons for what is missing. */
export interface Settled {
  readonly placed: number;
  readonly pending: number;
  readonly reasons: readonly Reason[];
  readonly binding?: Binding;
}

/** Begins a plan once bound tasks are in their bins; the bins of nodes are sorted here, as few of them are still open then. */
export function beginDraft(
  bins: Bins,
  asks: readonly Ask[],
  pools: ReadonlyMap<string, number>,
  policy: AllocationPolicy,
  now: Instant,
): Draft {
  const { world } = bins;
  const leastNeeds = bins.resources.map((name) => leastNeed(asks, name));
  const someJob = asks.some((ask) => ask.units > 0);
  const canTakeJobs = (bin: Bin): boolean => someJob && !isSpent(bins, bin, leastNeeds);
  const open = world.nodes
    .map((_, bin) => bin)
    .filter((bin) => !bins.isClaimed(bin) || canTakeJobs(bin))
    .sort((a, b) => compareNodes(bins, a, b));
  return {
    world,
    policy,
    now,
    bins,
    capacity: new Capacity(world.limits),
    leastNeeds,
    open,
    forJobs: open.filter(canTakeJobs),
    groupNames: groupNamesOf(world),
    wholeGroups: new Map(),
    pools: new Map(pools),
    filled: 0,
  };
}

function leastNeed(asks: readonly Ask[], resource: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (const ask of asks) {
    if (ask.units <= 0) continue;
    least = Math.min(least, (ask.requirements.least.get(resource) ?? 0) * ask.slotsPerUnit);
  }
  return least;
}

/** No job of this plan fits there any more. */
function isSpent(bins: Bins, bin: Bin, leastNeeds: readonly number[]): boolean {
  if (bins.taken[bin] === "alone") return true;
  const start = bin * leastNeeds.length;
  for (let r = 0; r < leastNeeds.length; r += 1) {
    if ((bins.free[start + r] ?? 0) < (leastNeeds[r] ?? 0) * (1 - TOLERANCE)) return true;
  }
  return false;
}

function compareNodes(bins: Bins, a: Bin, b: Bin): number {
  return (
    (bins.order[a] ?? 0) - (bins.order[b] ?? 0) ||
    bins.compareKinds(a, b) ||
    compareText(bins.node(a)?.nodeId ?? "", bins.node(b)?.nodeId ?? "")
  );
}

/** Leaves bins out that no job fits any more, from time to time: a long queue must not walk over full nodes again and again. */
export function forgetSpent(draft: Draft): void {
  if (draft.filled * 2 < draft.forJobs.length + draft.bins.planned.length) return;
  draft.filled = 0;
  const keep = (bin: Bin): boolean => !isSpent(draft.bins, bin, draft.leastNeeds);
  draft.forJobs = draft.forJobs.filter(keep);
  draft.bins.planned = draft.bins.planned.filter(keep);
}

/** Why a bucket takes no new nodes at all, whatever the limits; a pause that has ended by now is none. */
export function closedTo(draft: Draft, offer: BucketOffer): Reason | undefined {
  if (draft.world.closed !== undefined) return draft.world.closed;
  const refusal = inForce(offer.refusal, draft.now);
  if (refusal !== undefined || offer.pinnedGroup === undefined) return refusal;
  // Whatever is created here goes into that group, so its pause is the bucket's.
  return groupClosedTo(draft, offer, offer.pinnedGroup);
}

/** Why a placement group of a bucket takes no new nodes; for a fresh one ("new") that is any group's pause. */
export function groupClosedTo(
  draft: Draft,
  offer: BucketOffer,
  group: PlacementGroup | "new",
): Reason | undefined {
  if (offer.groupRefusals === undefined) return undefined;
  if (group !== "new") return inForce(offer.groupRefusals.get(group), draft.now);
  const names = [...offer.groupRefusals.keys()].sort(compareText);
  return names
    .map((name) => inForce(offer.groupRefusals?.get(name), draft.now))
    .find((reason) => reason !== undefined);
}

function inForce(reason: Reason | undefined, now: Instant): Reason | undefined {
  return reason?.code === "backing-off" && reason.until <= now ? undefined : reason;
}

/** Plans new nodes; the caller has made sure that there is room for them. */
export function createNodes(
  draft: Draft,
  offer: BucketOffer,
  group: PlacementGroup | undefined,
  count: number,
  purpose: Purpose,
  attributes?: NodeAttributes,
): Bin {
  draft.capacity.take(offer, group, count);
  const bucket = group === undefined ? offer.bucket : { ...offer.bucket, placementGroup: group };
  return draft.bins.plan(draft.bins.placeOf(bucket), count, offer, purpose, attributes);
}

/** A name for a new placement group: prefix, stem and the smallest number not in use, in letters, digits, "-" and "_". */
export function nameGroup(draft: Draft, key: string): PlacementGroup {
  const stem = groupStem(draft.policy, key);
  let ordinal = 1;
  while (draft.groupNames.has(`${stem}${ordinal}`.toLowerCase())) ordinal += 1;
  const name = `${stem}${ordinal}`;
  draft.groupNames.add(name.toLowerCase());
  return placementGroup(name);
}

/** What the names of all generated groups of a key begin with. */
export function groupStem(policy: AllocationPolicy, key: string): string {
  return `${policy.groupPrefix}${key}-`.replaceAll(/[^A-Za-z0-9_-]/g, "-");
}

function groupNamesOf(world: World): Set<string> {
  const names = new Set<string>();
  const add = (group: PlacementGroup | undefined): void => {
    if (group !== undefined) names.add(group.toLowerCase());
  };
  for (const node of world.nodes) add(node.bucket.placementGroup);
  for (const entry of world.inFlight) add(entry.bucket.placementGroup);
  for (const offer of world.buckets) {
    add(offer.pinnedGroup);
    for (const group of offer.groupSizes.keys()) add(group);
    for (const group of offer.groupRefusals?.keys() ?? []) add(group);
  }
  return names;
}

/** The creates of the plan, those of higher rank first; nodes that need not differ share one (cyclecloud-wire.md A.6). */
export function createsOf(bins: Bins): readonly CreateEffect[] {
  const creates = new Map<string, CreateEffect>();
  for (let bin = bins.world.nodes.length; bin < bins.count.length; bin += 1) {
    if (bins.origin[bin] !== "planned") continue;
    const { bucket } = bins.placeOfBin(bin);
    const purpose = bins.purpose[bin] ?? { kind: "array" };
    const attributes = bins.attributes.get(bin);
    const key = canonicalText([bucket, purpose, attributes]);
    const count = (creates.get(key)?.count ?? 0) + (bins.count[bin] ?? 0);
    creates.set(key, {
      kind: "create",
      bucket,
      count,
      purpose,
      ...(attributes === undefined ? {} : { attributes }),
    });
  }
  return [...creates.values()];
}
