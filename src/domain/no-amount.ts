import type { Constraint } from "./constraint.ts";
import type { Demand, JobDemand } from "./demand.ts";
import { isSize } from "./size.ts";

/** The most jobs that are named one by one. */
const MOST_NAMED = 10;

/** Jobs that ask for no amount get one node for each slot, which is rarely meant: one line for each, and one for all beyond the first few. */
export function noteNoAmounts(demands: readonly Demand[]): readonly string[] {
  const jobs = demands.filter((one) => one.kind === "job" && asksForNoAmount(one)).map(nameOf);
  const named = jobs.slice(0, MOST_NAMED).map((name) => `job ${name} asks for no amount: one node per slot`);
  const more = jobs.length - named.length;
  return more > 0 ? [...named, `${more} more jobs ask for no amount: one node per slot`] : named;
}

const nameOf = (demand: Demand): string => (demand.kind === "job" ? demand.name : demand.id);

/**
 * Whether a slot of the job may take nothing of its node: then a node has one slot of it. Not a gang, which says how many nodes it wants,
 * nor an exclusive job, which says that it wants nodes whole.
 */
export function asksForNoAmount({ constraints, iterations, nodeCount = 0 }: JobDemand): boolean {
  return iterations > 0 && nodeCount === 0 && !constraints.some(asksForAmount);
}

/** Whether all that meets the constraint gives an amount, or a whole node. */
function asksForAmount(constraint: Constraint): boolean {
  switch (constraint.kind) {
    case "amount":
      return (isSize(constraint.amount) ? constraint.amount.amount : constraint.amount) > 0;
    case "exclusive":
      return constraint.wanted && constraint.scope === "job";
    case "and":
      return constraint.of.some(asksForAmount);
    case "or":
    case "xor":
      return constraint.of.every(asksForAmount);
    // Nothing meets it.
    case "never":
      return true;
    default:
      return false;
  }
}
