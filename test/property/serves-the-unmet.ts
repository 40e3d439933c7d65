import type { DemandOutcome } from "../../src/domain/plan.ts";

/** What the first plan had to leave unmet may find a place among the nodes that it made: then the second may do more. */
export function servesTheUnmet(first: readonly DemandOutcome[], second: readonly DemandOutcome[]): boolean {
  return first.some(({ placed, asked }, i) => placed < asked && (second[i]?.placed ?? 0) > placed);
}
