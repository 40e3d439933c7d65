import { renderBinding } from "../domain/binding.ts";
import type { SetName } from "../domain/ids.ts";
import type { DemandOutcome, Plan } from "../domain/plan.ts";
import { renderReason } from "../domain/reason.ts";

/** What is asked for and not there, by the last plan: how much, and why, the most frequent cause first. */
export interface Waiting {
  /** Demands that are not wholly placed, and what they miss. */
  readonly unmet: number;
  readonly missing: readonly Missing[];
  /** Demands that have a place on nodes that are still to come up. */
  readonly onTheirWay: number;
  /** Why, by the first reason of each demand. */
  readonly reasons: readonly Cause[];
  /** What would place them. */
  readonly remedies: readonly Cause[];
}

/** So much of one unit. */
export interface Missing {
  readonly unit: DemandOutcome["unit"];
  readonly amount: number;
}

/** A sentence that is true of so many demands, of which the first in rank is named. */
export interface Cause {
  readonly text: string;
  readonly demands: number;
  readonly first: { readonly requestSet: SetName; readonly id: string };
}

/** Causes named: of thousands of jobs, each with numbers of its own, the rest would say the same. */
const MOST_CAUSES = 20;

export function describeWaiting(plan: Plan | undefined): Waiting {
  const demands = plan?.demands ?? [];
  const short = demands.filter(({ placed, asked }) => placed < asked);
  const missing = new Map<DemandOutcome["unit"], number>();
  for (const { unit, asked, placed } of short) missing.set(unit, (missing.get(unit) ?? 0) + asked - placed);
  return {
    unmet: short.length,
    missing: [...missing].map(([unit, amount]) => ({ unit, amount })),
    onTheirWay: demands.filter(({ pending }) => pending > 0).length,
    reasons: mostFrequent(short, ({ reasons: [first] }) =>
      first === undefined ? undefined : renderReason(first),
    ),
    remedies: mostFrequent(short, ({ binding }) =>
      binding === undefined ? undefined : renderBinding(binding),
    ),
  };
}

function mostFrequent(
  demands: readonly DemandOutcome[],
  say: (outcome: DemandOutcome) => string | undefined,
): readonly Cause[] {
  const causes = new Map<string, Cause>();
  for (const outcome of demands) {
    const text = say(outcome);
    if (text === undefined) continue;
    const known = causes.get(text);
    const first = known?.first ?? { requestSet: outcome.set, id: outcome.id };
    causes.set(text, { text, demands: (known?.demands ?? 0) + 1, first });
  }
  return [...causes.values()].toSorted((a, b) => b.demands - a.demands).slice(0, MOST_CAUSES);
}
