import { reasonsInOrder } from "../domain/binding-reason.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { DemandOutcome } from "../domain/plan.ts";
import { renderReason } from "../domain/reason.ts";

/** What became of one demand. */
export interface DescribedOutcome {
  readonly requestSet: string;
  readonly id: string;
  readonly kind: DemandOutcome["kind"];
  readonly unit: DemandOutcome["unit"];
  readonly asked: number;
  readonly placed: number;
  /** Of `placed`, what waits for nodes that are coming. */
  readonly pending: number;
  /** The reason that binds, where it has less than it asked for; `explain` tells all. */
  readonly why?: string;
}

/** The outcomes of the last plan: those that lack something first, then those that wait, at most `shown` of them. */
export function describeOutcomes({ plan }: Pick<Bodies, "plan">, shown: number): readonly DescribedOutcome[] {
  const demands = plan?.demands ?? [];
  const unmet = demands.filter(isUnmet);
  const waiting = demands.filter((one) => !isUnmet(one) && one.pending > 0);
  const met = demands.filter((one) => !isUnmet(one) && one.pending === 0);
  return [...unmet, ...waiting, ...met].slice(0, shown).map(describeOutcome);
}

function isUnmet({ placed, asked }: DemandOutcome): boolean {
  return placed < asked;
}

function describeOutcome(outcome: DemandOutcome): DescribedOutcome {
  const { set, id, kind, unit, asked, placed, pending } = outcome;
  const [reason] = reasonsInOrder(outcome);
  const why = reason !== undefined && isUnmet(outcome) ? { why: renderReason(reason) } : {};
  return { requestSet: set, id, kind, unit, asked, placed, pending, ...why };
}
