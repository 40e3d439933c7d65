import type { PlacementUse } from "../../domain/allocation.ts";
import type { Ask } from "../bins/job-ask.ts";
import { holderOf } from "../draft/caps.ts";
import type { Draft } from "../draft/draft.ts";
import { noteScaleSet } from "../draft/scale-set.ts";
import type { BucketPlan, Step } from "./bucket-plan.ts";
import type { ListedBucket } from "./bucket-list.ts";
import { BucketList } from "./bucket-list.ts";
import { isToStart } from "./units-in-bucket.ts";

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
      ...(nodeId === undefined ? {} : { nodeId }),
      run: bin,
      made,
      nodes,
      slots: units * ask.slotsPerUnit,
      ...(other === undefined ? {} : { rest: other }),
    });
    if (other !== undefined && rest > 0)
      this.#use(ask, bucket, { bin: other, nodes: 1, units: rest, rest: 0 }, 0, progress);
  }
}
