import type { Constraint } from "./constraint.ts";
import type { Demand, JobDemand } from "./demand.ts";
import { isSize } from "./size.ts";

/** Maximum number of jobs named one by one. */
const MOST_NAMED = 10;

/**
 * Notes on jobs that ask for no amount. They get one node for each slot, which is rarely intended. One line for each of the first jobs, and
 * one line for all others.
 */
export function noteNoAmounts(demands: readonly Demand[]): readonly string[] {
  const jobs = demands.filter((one) => one.kind === "job" && asksForNoAmount(one)).map(nameOf);
  const named = jobs.slice(0, MOST_NAMED).map((name) => `job ${name} asks for no amount: one node per slot`);
  const more = jobs.length - named.length;
  return more > 0 ? [...named, `${more} more jobs ask for no amount: one node per slot`] : named;
}

const nameOf = (demand: Demand): string => (demand.kind === "job" ? demand.name : demand.id);

/**
 * True if a slot of the job may take nothing of its node. A node then gets one slot. False for a gang, which gives its number of nodes, and
 * for an exclusive job, which asks for whole nodes.
 */
function asksForNoAmount({ constraints, iterations, nodeCount = 0 }: JobDemand): boolean {
  return iterations > 0 && nodeCount === 0 && !constraints.some(asksForAmount);
}

/** True if everything that meets the constraint takes an amount or a whole node. */
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
    // No node meets it.
    case "never":
      return true;
    default:
      return false;
  }
}
