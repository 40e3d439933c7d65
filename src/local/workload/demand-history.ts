import type { DemandEvent } from "./audit-events.ts";
import type { Milliseconds } from "../../domain/units.ts";

/** Which demand was in force when: each from its arrival until it expires or the next one replaces it. */
export class DemandHistory {
  readonly #demands: readonly DemandEvent[];
  readonly #graceMs: Milliseconds;
  #asked: { readonly at: number; readonly slots: number } | undefined;

  constructor(demands: readonly DemandEvent[], graceMs: Milliseconds) {
    this.#demands = demands.toSorted((a, b) => a.at - b.at);
    this.#graceMs = graceMs;
  }

  /** The most that any demand asked for that was in force at some time of the grace period before `at`; 0 without one. */
  findLargest(at: number): number {
    // Nodes are created by the hundred in one instant.
    if (this.#asked?.at === at) return this.#asked.slots;
    let slots = 0;
    for (let index = this.#countUpTo(at) - 1; index >= 0; index--) {
      const demand = this.#demands[index];
      if (demand === undefined) break;
      const replacedAt = this.#demands[index + 1]?.at ?? Number.POSITIVE_INFINITY;
      // Whatever came before this one was replaced even earlier.
      if (replacedAt < at - this.#graceMs) break;
      if (demand.expiresAt >= at - this.#graceMs) slots = Math.max(slots, demand.slots);
    }
    this.#asked = { at, slots };
    return slots;
  }

  #countUpTo(at: number): number {
    let from = 0;
    let to = this.#demands.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#demands[middle]?.at ?? Number.POSITIVE_INFINITY) <= at) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
