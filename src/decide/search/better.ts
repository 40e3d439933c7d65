import type { AllocationPolicy } from "../../domain/allocation.ts";
import { inMarketOf } from "../world/counterparts.ts";
import type { Draft } from "../draft/draft.ts";
import type { DemandOutcome } from "../../domain/plan.ts";
import type { Unread } from "./problem.ts";
import type { BucketOrder } from "../bucket-order/bucket-order.ts";

/** Whether a try is better by rank: the first demand whose placement differs gets more. If none differs, whether it {@link isBetter}. */
export function isBetterByRank(other: Attempt, than: Attempt, policy: AllocationPolicy): boolean {
  for (let i = 0; i < than.outcomes.length; i += 1) {
    const [a, b] = [other.outcomes[i]?.placed ?? 0, than.outcomes[i]?.placed ?? 0];
    if (a !== b) return a > b;
  }
  return isBetter(other, than, policy);
}

/**
 * Whether a try is better: no demand gets less, and either some demand gets more, or the try is cheaper and gives no demand new nodes that
 * are worse by its own lists and alternatives.
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

/** Whether, for some demand and score, more slots are on new nodes of at most that score than before. */
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

/** The number of nodes that a draft creates or starts, and their price per hour. */
export function costOf({ bins, world }: Draft): Pick<Attempt, "created" | "price"> {
  let created = 0;
  let price = 0;
  for (const list of [bins.planned, bins.toStart]) {
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

/** The result of one try. */
export interface Attempt {
  readonly draft: Draft;
  /** Demands that cost more steps than their set may spend. Nothing more of them is placed. In the order in which they were tried. */
  readonly leftOut: readonly Unread[];
  /** In the order of rank. */
  readonly outcomes: readonly DemandOutcome[];
  /** Everything is placed. */
  readonly isMet: boolean;
  /** Number of new nodes and started deallocated nodes. */
  readonly created: number;
  /** How jobs were placed. Only with `bucket-order`. */
  readonly order?: BucketOrder;
  /** Price of these nodes per hour. Nodes without a known price count as 0. */
  readonly price: number;
}
