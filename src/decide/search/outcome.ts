import type { RankedDemand } from "../../domain/demand.ts";
import type { DemandOutcome } from "../../domain/plan.ts";
import { askedBy } from "../../domain/plan.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Entry } from "../bins/entry.ts";
import { gatherReasons } from "../why/fold-reasons.ts";
import { presentRemedy, remedyFromReasons } from "../why/remedy.ts";
import type { Explained } from "../why/unmet.ts";

/** How much of a demand was placed, and why that is not all of it, if reasons are wanted. */
export type Placed = Pick<DemandOutcome, "placed" | "pending"> & Explained;

/** The outcome of a demand that the plan read. */
export function outcomeOf(
  { set, demand }: Entry,
  { placed, pending, reasons, binding }: Placed,
): DemandOutcome {
  const { id, kind } = demand;
  const { unit, asked } = askedBy(demand);
  if (reasons.length === 0 && binding === undefined)
    return { set, id, kind, unit, asked, placed, pending, reasons: NO_REASONS };
  const outcome = { set, id, kind, unit, asked, placed, pending };
  const gathered = gatherReasons(reasons);
  return { ...outcome, ...gathered, ...presentRemedy(binding ?? remedyFromReasons(gathered.reasons)) };
}

export const NO_REASONS: readonly Reason[] = [];

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
