import type { PlacementOrder } from "../../domain/allocation.ts";
import type { SharedState } from "../../domain/node-view.ts";
import type { Scalar } from "../../domain/resources.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { JobClass } from "../bins/job-class.ts";
import type { Place } from "../bins/node-kinds.ts";
import { sizeOfConstraints } from "../constraints/constraint-facts.ts";
import type { Draft } from "../draft/draft.ts";
import type { ShortPool } from "../draft/pool-use.ts";
import { poolReason } from "../draft/pool-use.ts";
import type { ReasonBudget } from "../why/reason-budget.ts";
import { explain } from "../why/reason-budget.ts";
import { presentRemedy } from "../why/remedy.ts";
import type { Explained } from "../why/unmet.ts";
import type { Candidates } from "./candidates.ts";
import { candidatesFor, chooseBuckets } from "./candidates.ts";
import type { Progress, BucketPlan } from "./bucket-plan.ts";
import { BucketFiller, BucketPlanner } from "./bucket-plan.ts";
import { drains, looksAtPools, takeFromPools, unitsInPools } from "./pools.ts";
import { drainedPools, isWhole, fillingsOf } from "./units-in-bucket.ts";
import type { ListedBucket } from "./bucket-list.ts";
import { BucketList } from "./bucket-list.ts";
import type { Filling } from "./units-in-bucket.ts";
import { remedyInOrder, reasonsInOrder } from "./why-not-more.ts";

/** The slots of a job that were placed, and the reasons if these are not all. Without reasons if none are wanted. */
interface PlacedInOrder extends Explained {
  readonly placed: number;
  readonly pending: number;
}

/**
 * Places jobs as scalelib does (scalelib.md 10 and 11): one after the other by rank, bucket by bucket, and in each bucket on its nodes before new
 * ones. A placement group is a bucket of its own.
 *
 * - A colocated job and a job with a node count go into one bucket, all or none.
 * - A job with alternatives fills every node, existing or new, by the alternative that holds first there. Only the slots that are left use
 *   other alternatives.
 *
 * It does not repeat these defects of scalelib (numbers as in scalelib.md): limits are shared by all buckets that name them (2, 10), nodes of a full bucket
 * are used while they have room (9), and an exclusive job has one slot on a node (11).
 */
export class BucketOrder {
  /** How each job found its places, in the order in which jobs were placed. */
  readonly orders: PlacementOrder[] = [];
  readonly #draft: Draft;
  readonly #reasonBudget: ReasonBudget | undefined;
  readonly #buckets: BucketList;
  readonly #values: ReadonlyMap<string, Scalar>;
  /** By class of jobs, for constraints that do not depend on pools. */
  readonly #known = new Map<JobClass, Candidates>();
  readonly #planner: BucketPlanner;
  readonly #filler: BucketFiller;

  /** `reasonBudget`: the budget of reasons for unmet jobs. Undefined: no reasons are wanted. */
  constructor(draft: Draft, shared: SharedState, reasonBudget: ReasonBudget | undefined) {
    this.#draft = draft;
    this.#reasonBudget = reasonBudget;
    this.#buckets = new BucketList(draft);
    this.#planner = new BucketPlanner(draft);
    this.#filler = new BucketFiller(draft, this.#buckets);
    this.#values = shared.values;
  }

  /** Places the units of a job. `home`: the placement group in which tasks of it run already. */
  place(ask: Ask, home: Place | undefined): PlacedInOrder {
    const { pools } = this.#draft;
    const all = this.#candidatesOf(ask);
    const chosen = this.#draft.bins.hosts.size === 0 ? all : candidatesFor(all, ask.set);
    const buckets =
      home === undefined ? chosen.buckets : chosen.buckets.filter(({ place }) => place === home);
    const { units, short } = unitsInPools(pools, ask);
    const progress: Progress = { left: ask.units, pending: 0, uses: [] };
    const beyond = ask.units - units;
    const drained = drainedPools(this.#draft, ask);
    if (isWhole(ask)) {
      if (beyond === 0 && drained.length === 0) this.#placeWhole(ask, buckets, progress);
    } else {
      progress.left = units;
      this.#placeSome(ask, buckets, progress);
      progress.left += beyond;
    }
    takeFromPools(pools, ask, ask.units - progress.left);
    this.orders.push({
      by: ask.by,
      candidates: buckets.map(({ made }) => made.bucket),
      refused: chosen.refused.map(({ bucket, refusal }) => ({ bucket: bucket.made.bucket, refusal })),
      uses: progress.uses,
    });
    return {
      placed: ask.asked - progress.left * ask.slotsPerUnit,
      pending: progress.pending * ask.slotsPerUnit,
      ...this.#explainRest(ask, buckets, chosen, progress.left, short, drained),
    };
  }

  /** Why units of a job are unmet, and what would place them. Short once the budget of reasons is used up. */
  #explainRest(
    ask: Ask,
    buckets: readonly ListedBucket[],
    chosen: Candidates,
    left: number,
    short: readonly ShortPool[],
    drained: readonly ShortPool[],
  ): Explained {
    const reasonBudget = this.#reasonBudget;
    if (left <= 0 || reasonBudget === undefined) return { reasons: [] };
    const draft = this.#draft;
    const isBrief = !reasonBudget.covers(ask);
    const pools = short.map((one) => poolReason(draft, one, { isBrief }));
    if (isBrief) return { reasons: [...pools, ...reasonBudget.brief(ask)] };
    reasonBudget.note(ask);
    const { pools: reported = [] } = draft.world;
    return explain(draft, () => {
      const most = isWhole(ask) ? drained : drainedPools(draft, ask.with(left));
      const reasons = [
        ...pools,
        ...most.map((one) => poolReason(draft, one, { reported })),
        ...reasonsInOrder(draft, ask, buckets, this.#buckets.all, chosen, left),
      ];
      return { reasons, ...presentRemedy(remedyInOrder(draft, ask, buckets, chosen, left)) };
    });
  }

  #candidatesOf(ask: Ask): Candidates {
    this.#buckets.refresh();
    const { constraints } = ask.jobClass;
    const known = this.#known.get(ask.jobClass);
    if (known !== undefined) return known;
    this.#draft.bins.budget.spend(this.#buckets.all.length * sizeOfConstraints(constraints));
    const candidates = chooseBuckets(this.#buckets.all, constraints, {
      left: this.#draft.pools,
      values: this.#values,
    });
    if (!constraints.some(looksAtPools)) this.#known.set(ask.jobClass, candidates);
    return candidates;
  }

  #placeWhole(ask: Ask, buckets: readonly ListedBucket[], progress: Progress): void {
    if (progress.left <= 0) return;
    for (const filling of fillingsOf(ask)) {
      for (const bucket of buckets) {
        if (this.#isSpent) return;
        const plan = this.#planner.plan(ask, bucket, progress.left, filling);
        if (plan.left > 0) continue;
        if (drains(ask)) this.#placeByNode(ask, bucket, filling, progress);
        else this.#filler.apply(ask, bucket, plan, progress);
        return;
      }
    }
  }

  #placeSome(ask: Ask, buckets: readonly ListedBucket[], progress: Progress): void {
    for (const filling of fillingsOf(ask)) {
      for (const bucket of buckets) {
        if (progress.left <= 0 || this.#isSpent) return;
        if (drains(ask)) this.#placeByNode(ask, bucket, filling, progress);
        else
          this.#filler.apply(ask, bucket, this.#planner.plan(ask, bucket, progress.left, filling), progress);
      }
    }
  }

  /** One node after the other, because what the next node takes depends on what this one leaves in the pools. */
  #placeByNode(ask: Ask, bucket: ListedBucket, filling: Filling, progress: Progress): void {
    while (progress.left > 0 && !this.#isSpent) {
      const { steps, made } = this.#planner.plan(ask, bucket, progress.left, filling);
      const [step] = steps;
      if (step === undefined && made.nodes < 1) return;
      const next: BucketPlan = {
        steps: step === undefined ? [] : [{ ...step, nodes: 1, rest: 0 }],
        made: { nodes: step === undefined ? 1 : 0, units: made.units },
        left: 0,
      };
      this.#filler.apply(ask, bucket, next, progress);
    }
  }

  get #isSpent(): boolean {
    return this.#draft.bins.budget.isSpent;
  }
}
