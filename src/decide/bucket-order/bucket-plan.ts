import type { Bin } from "../bins/bin-columns.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { JobClass } from "../bins/job-class.ts";
import { holderOf } from "../draft/caps.ts";
import type { Draft } from "../draft/draft.ts";
import { opensFor, isToStart, unitsOn, unitsOnNew, unitsThere } from "./units-in-bucket.ts";
import type { ListedBucket } from "./bucket-list.ts";
import type { Filling } from "./units-in-bucket.ts";
import type { PlacementUse } from "../../domain/allocation.ts";
import { noteScaleSet, pinnedRefusal } from "../draft/scale-set.ts";
import { BucketList } from "./bucket-list.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { BucketOffer } from "../../domain/world.ts";
import { closedTo, groupClosedTo } from "../draft/closed.ts";
import { hasFixedSize } from "../draft/named-groups.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** Nodes of a bin with the same number of units on each. `rest`: the units on one more node, fewer than it can hold. */
interface Step {
  readonly bin: Bin;
  readonly nodes: number;
  readonly units: number;
  readonly rest: number;
}

/** What one bucket can give to a job. It is counted before anything is taken, so that a job that fails leaves no trace (defects 15 to 17). */
export interface BucketPlan {
  readonly steps: readonly Step[];
  readonly made: { readonly nodes: number; readonly units: number };
  /** Units that stay unplaced. */
  readonly left: number;
}

/** Counts what a bucket can give to a job. Takes nothing. */
export class BucketPlanner {
  readonly #draft: Draft;
  /** By class of jobs, then by place and size of a unit: how many bins at the beginning of the bucket have no room for such a job. */
  readonly #passed = new Map<JobClass, Map<string, number>>();

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  /** What the bucket can give to `wanted` units: first on its nodes, in their order, then on new ones. */
  plan(ask: Ask, bucket: ListedBucket, wanted: number, filling: Filling): BucketPlan {
    const { bins } = this.#draft;
    const steps: Step[] = [];
    let left = wanted;
    const isOpen = opensFor(ask, bucket);
    let room = isOpen ? roomIn(this.#draft, bucket) : 0;
    let started = 0;
    let allowed = allowedNodes(this.#draft, ask, bucket);
    const first = this.#firstOpen(ask, bucket);
    for (let at = first; at < bucket.bins.length && left > 0 && !bins.budget.isSpent; at += 1) {
      const bin = bucket.bins[at] ?? 0;
      const units = Math.min(unitsOn(this.#draft, ask, bin, filling), left);
      if (units < 1) continue;
      const toStart = isToStart(this.#draft, bin);
      const startable = toStart && isOpen ? roomToStart(this.#draft, bucket, bin) - started : 0;
      if (toStart && startable < 1) continue;
      const count = bins.count[bin] ?? 0;
      const isHeld =
        this.#draft.caps.none ||
        this.#draft.caps.roomOn(holderOf(ask), bins, bin) === Number.POSITIVE_INFINITY;
      const nodes = Math.min(count, Math.floor(left / units), isHeld ? count : allowed);
      if (nodes < 1) continue;
      if (toStart) {
        started += 1;
        room = Math.min(room, startable - 1);
      }
      if (!isHeld) allowed -= nodes;
      left -= nodes * units;
      const rest = nodes < count && left < units && (isHeld || allowed > 0) ? left : 0;
      if (rest > 0 && !isHeld) allowed -= 1;
      left -= rest;
      steps.push({ bin, nodes, units, rest });
    }
    const units = Math.min(unitsOnNew(this.#draft, ask, bucket, filling), left);
    // If the budget is spent, not all nodes were tested. New ones must not replace them.
    const nodes = units < 1 || bins.budget.isSpent ? 0 : Math.min(room, allowed, Math.ceil(left / units));
    return { steps, made: { nodes, units }, left: Math.max(0, left - nodes * units) };
  }

  /**
   * The position of the first bin that may have room for a unit of such a job. Bins only fill up while a plan is made, so those before it need no
   * second test: a long queue must not walk over full nodes again and again.
   */
  #firstOpen(ask: Ask, { place, bins: list }: ListedBucket): number {
    const { bins } = this.#draft;
    const passed = this.#passed.get(ask.jobClass) ?? new Map<string, number>();
    this.#passed.set(ask.jobClass, passed);
    const key = `${place.index}/${ask.slotsPerUnit}`;
    let at = passed.get(key) ?? 0;
    // A node that refuses a second slot of this job may have room for the next job of its class.
    const isFull = (bin: Bin): boolean =>
      unitsThere(this.#draft, ask, bin) < 1 && !bins.hasFreeSlot(bin, ask);
    while (at < list.length && isFull(list[at] ?? 0)) at += 1;
    passed.set(key, at);
    return at;
  }
}

/** How many more nodes the caps of the job's set and user allow. */
function allowedNodes(draft: Draft, ask: Ask, { made, bins: list }: ListedBucket): number {
  const { caps, bins } = draft;
  const cores = Math.max(made.cores, ...list.slice(0, 1).map((bin) => bins.cores[bin] ?? 0));
  return caps.none ? Number.POSITIVE_INFINITY : caps.room(holderOf(ask), cores);
}

/** How far the placing of a job has come. `left` and `pending` are in units; pending ones are on nodes that are not up. */
export interface Progress {
  left: number;
  pending: number;
  readonly uses: PlacementUse[];
}

/** Carries out what was planned for a job in one bucket. */
export class BucketFiller {
  readonly #draft: Draft;
  readonly #buckets: BucketList;

  constructor(draft: Draft, buckets: BucketList) {
    this.#draft = draft;
    this.#buckets = buckets;
  }

  /** Fills the nodes of the plan's steps, then makes the new ones. */
  apply(ask: Ask, bucket: ListedBucket, plan: BucketPlan, progress: Progress): void {
    const { capacity, bins } = this.#draft;
    for (const step of plan.steps) {
      if (isToStart(this.#draft, step.bin)) {
        capacity.take(bucket.offer, bucket.group, 1, bins.node(step.bin)?.charges);
        bins.toStart.add(step.bin);
      }
      this.#use(ask, bucket, step, 0, progress);
    }
    const { nodes, units } = plan.made;
    if (nodes < 1) return;
    if (bucket.group !== undefined && capacity.groupSize(bucket.offer, bucket.group) === 0)
      noteScaleSet(this.#draft.scaleSets, bucket.offer, bucket.group, bucket.offer.attributes);
    capacity.take(bucket.offer, bucket.group, nodes);
    const bin = bins.plan(bucket.place, nodes, bucket.made, { kind: "array" }, bucket.offer.attributes);
    this.#buckets.insert(bucket, bin);
    const full = Math.min(nodes, Math.floor(progress.left / units));
    const rest = full < nodes ? progress.left - full * units : 0;
    this.#use(ask, bucket, { bin, nodes: full, units, rest }, nodes, progress);
  }

  /** Fills nodes of a bin and splits off the others. `made`: how many of its nodes are new. */
  #use(
    ask: Ask,
    bucket: ListedBucket,
    { bin, nodes, units, rest }: Step,
    made: number,
    progress: Progress,
  ): void {
    const { bins } = this.#draft;
    const nodeId = bins.node(bin)?.nodeId;
    const other = bins.split(bin, nodes);
    if (other !== undefined) {
      this.#buckets.insert(bucket, other, bin);
      this.#draft.caps.follow(bin, other);
    }
    bins.occupy(bin, ask, units * ask.slotsPerUnit);
    if (!this.#draft.caps.none) this.#draft.caps.hold(holderOf(ask), bins, bin);
    progress.left -= nodes * units;
    if (!bins.isReady(bin)) progress.pending += nodes * units;
    progress.uses.push({
      bucket: bucket.made.bucket,
      ...withoutAbsent({ nodeId }),
      run: bin,
      made,
      nodes,
      slots: units * ask.slotsPerUnit,
      ...withoutAbsent({ rest: other }),
    });
    if (other !== undefined && rest > 0)
      this.#use(ask, bucket, { bin: other, nodes: 1, units: rest, rest: 0 }, 0, progress);
  }
}

/** How many new nodes the bucket allows now. */
function roomIn(draft: Draft, bucket: ListedBucket): number {
  const { offer, group } = bucket;
  if (isClosed(draft, bucket) || (group !== undefined && !mayOpenIn(draft, offer, group))) return 0;
  return draft.capacity.room(offer, group);
}

/** How many deallocated nodes like this one may be started now. A start counts against fewer limits than a new node. */
function roomToStart(draft: Draft, bucket: ListedBucket, bin: Bin): number {
  if (isClosed(draft, bucket)) return 0;
  return draft.capacity.room(bucket.offer, bucket.group, draft.bins.node(bin)?.charges);
}

function isClosed(draft: Draft, { offer, group }: ListedBucket): boolean {
  if (offer.onlyFor !== undefined || closedTo(draft, offer) !== undefined) return true;
  return group !== undefined && groupClosedTo(draft, offer, group) !== undefined;
}

/** Whether new nodes may be in the placement group. An empty group takes nodes of any kind. */
function mayOpenIn(draft: Draft, offer: BucketOffer, group: PlacementGroup): boolean {
  return offer.pinnedGroup === group
    ? pinnedRefusal(draft, offer, offer.attributes) === undefined
    : draft.capacity.groupSize(offer, group) === 0 || !hasFixedSize(draft, offer, group);
}
