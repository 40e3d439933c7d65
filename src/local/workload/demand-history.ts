import type { DemandEvent } from "./audit-events.ts";
import type { Milliseconds } from "../../domain/units.ts";

/** The demand in force at each moment. A demand is in force from its arrival until it expires or the next one replaces it. */
export class DemandHistory {
  /** In order of time. */
  #demands: DemandEvent[] = [];
  readonly #graceMs: Milliseconds;
  #asked: { readonly at: number; readonly slots: number } | undefined;

  constructor(graceMs: Milliseconds) {
    this.#graceMs = graceMs;
  }

  /** Usually the latest one. Of equal moments, the one that was added last replaces the others. */
  add(demand: DemandEvent): void {
    this.#demands.splice(this.#countUpTo(demand.at), 0, demand);
    this.#asked = undefined;
  }

  /** Nobody asks for moments before this one any more. */
  forgetBefore(at: number): void {
    this.#demands = this.#demands.slice(Math.max(0, this.#countUpTo(at - this.#graceMs) - 1));
  }

  /** The slots of the largest demand that was in force during the grace period before `at`. 0 if there was none. */
  findLargest(at: number): number {
    // Hundreds of nodes are created at the same moment.
    if (this.#asked?.at === at) return this.#asked.slots;
    let slots = 0;
    for (let index = this.#countUpTo(at) - 1; index >= 0; index--) {
      const demand = this.#demands[index];
      if (demand === undefined) break;
      const replacedAt = this.#demands[index + 1]?.at ?? Number.POSITIVE_INFINITY;
      // All earlier demands were replaced even earlier.
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
