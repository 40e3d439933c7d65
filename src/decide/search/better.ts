import type { AllocationPolicy } from "../../domain/allocation.ts";
import { inMarketOf } from "../world/counterparts.ts";
import type { Draft } from "../draft/draft.ts";
import type { DemandOutcome } from "../../domain/plan.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import type { BucketOrder } from "../bucket-order/bucket-order.ts";

/**
 * Whether a try is to be preferred to another by rank: the first demand that they differ in has more; of two that differ in none it is the
 * cheaper one.
 */
export function isBetterByRank(other: Attempt, than: Attempt, policy: AllocationPolicy): boolean {
  for (let i = 0; i < than.outcomes.length; i += 1) {
    const [a, b] = [other.outcomes[i]?.placed ?? 0, than.outcomes[i]?.placed ?? 0];
    if (a !== b) return a > b;
  }
  return isBetter(other, than, policy);
}

/**
 * Whether a try is to be preferred to another: it leaves no demand with less, and has more, or is cheaper and gives no demand worse new nodes
 * by its own lists and alternatives.
 */
export function isBetter(other: Attempt, than: Attempt, { among }: AllocationPolicy): boolean {
  let hasMore = false;
  for (let i = 0; i < than.outcomes.length; i += 1) {
    const [a, b] = [other.outcomes[i]?.placed ?? 0, than.outcomes[i]?.placed ?? 0];
    if (a < b) return false;
    hasMore ||= a > b;
  }
  return hasMore || (isCheaper(other, than, among) && !isWorseChoice(other, than));
}

function isCheaper(other: Attempt, than: Attempt, among: AllocationPolicy["among"]): boolean {
  if (among === "priority") return other.created < than.created;
  const saved = than.price - other.price;
  const tiny = 1e-9 * than.price;
  return saved > tiny || (saved >= -tiny && other.created < than.created);
}

/** Whether some demand has more slots than before on new nodes that are no better than some score. */
function isWorseChoice({ draft: other }: Attempt, { draft: than }: Attempt): boolean {
  for (const [rank, chosen] of other.bins.choices) {
    const before = than.bins.choices.get(rank) ?? NO_CHOICES;
    for (const score of chosen.keys()) if (slotsUpTo(chosen, score) > slotsUpTo(before, score)) return true;
  }
  return false;
}

const NO_CHOICES: ReadonlyMap<number, number> = new Map();

function slotsUpTo(chosen: ReadonlyMap<number, number>, score: number): number {
  let slots = 0;
  for (const [one, count] of chosen) if (one <= score) slots += count;
  return slots;
}

export function costOf({ bins, world }: Draft): Pick<Attempt, "created" | "price"> {
  let created = 0;
  let price = 0;
  for (const list of [bins.planned, bins.woken]) {
    for (const bin of list) {
      const nodes = bins.count[bin] ?? 0;
      created += nodes;
      const own = world.buckets[bins.placeOfBin(bin).offer];
      const offer = own === undefined ? undefined : inMarketOf(world, own, bins.attributes.get(bin));
      price += nodes * (offer?.price ?? 0);
    }
  }
  return { created, price };
}

/** A demand that was not even made ready. */
export interface Unread extends RankedDemand {
  readonly rank: number;
}

/** One try at a plan, and what came of it. */
export interface Attempt {
  readonly draft: Draft;
  /** Demands that cost more steps than their set may spend: nothing more is placed of them. In the order of settling. */
  readonly leftOut: readonly Unread[];
  /** In the order of rank. */
  readonly outcomes: readonly DemandOutcome[];
  /** New nodes, and deallocated ones started. */
  readonly created: number;
  /** How jobs found their places; only of `bucket-order`. */
  readonly order?: BucketOrder;
  /** What these cost an hour; nodes without a price count for nothing here. */
  readonly price: number;
}
