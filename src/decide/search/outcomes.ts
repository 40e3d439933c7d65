import type { RankedDemand } from "../../domain/demand.ts";
import type { DemandOutcome } from "../../domain/plan.ts";
import { askedBy } from "../../domain/plan.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Unread } from "./problem.ts";

/** The outcomes of one try, as they are found. */
export class Outcomes {
  /** By rank. */
  readonly outcomes: DemandOutcome[] = [];
  /** Demands that cost more than their set may spend, in the order in which they were tried. */
  readonly leftOut: Unread[] = [];
  /** Everything so far is placed. */
  isMet = true;

  constructor(count: number) {
    // From the start: an array that is filled from its end is a slow one.
    this.outcomes.length = count;
  }

  note({ rank }: Unread, outcome: DemandOutcome): void {
    this.outcomes[rank] = outcome;
    if (outcome.placed < outcome.asked) this.isMet = false;
  }

  /** Notes a demand that costs more than it may ({@link outcomeLeftOut}). */
  leaveOut(one: Unread, begun: DemandOutcome | undefined, isTooDear: boolean | undefined): void {
    this.note(one, outcomeLeftOut(one, begun, isTooDear));
    this.leftOut.push(one);
  }
}

/** The outcome of a demand that the plan leaves out. `begun`: its outcome so far, if placing it had begun. `isTooDear`: of the configuration. */
export function outcomeLeftOut(
  { set, demand }: RankedDemand,
  begun: DemandOutcome | undefined,
  isTooDear: boolean | undefined,
): DemandOutcome {
  const { id, kind } = demand;
  const { placed, pending } = begun ?? { placed: 0, pending: 0 };
  const { unit, asked } = askedBy(demand);
  return { set, id, kind, unit, asked, placed, pending, reasons: isTooDear === true ? TOO_DEAR : LEFT_OUT };
}

const LEFT_OUT: readonly Reason[] = [{ code: "left-out" }];
const TOO_DEAR: readonly Reason[] = [{ code: "left-out", by: "configuration" }];
