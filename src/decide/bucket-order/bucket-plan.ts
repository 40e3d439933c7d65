import type { Bin } from "../bins/bin.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { JobClass } from "../bins/job-class.ts";
import { holderOf } from "../draft/caps.ts";
import type { Draft } from "../draft/draft.ts";
import { opensFor } from "./job-rules.ts";
import { roomIn, roomToStart } from "./bucket-room.ts";
import type { ListedBucket } from "./bucket-list.ts";

import type { Filling } from "./units-in-bucket.ts";
import { isToStart, unitsOn, unitsOnNew, unitsThere } from "./units-in-bucket.ts";

/** Nodes of a bin with the same number of units on each. `rest`: the units on one more node, fewer than it can hold. */
export interface Step {
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
