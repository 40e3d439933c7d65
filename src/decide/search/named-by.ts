import type { Constraint } from "../../domain/constraint.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import { Budget } from "../constraints/budget.ts";
import { sizeOfText } from "../constraints/constraint-size.ts";
import { countedResources } from "../constraints/constraint-facts.ts";

/** What must be known about all jobs before the first one is read. */
interface Named {
  /** Demands that are too expensive to read, by rank. */
  readonly unread: Map<number, RankedDemand>;
  /** The resources that some job takes, and how often they are named. Only these are counted on nodes. */
  readonly resources: ReadonlyMap<string, number>;
  /** Constraints that may name a pool. */
  readonly mayBePools: readonly Constraint[];
}

/** Reads the constraints of all jobs once. Demands that the budget does not cover stay unread. `isTooDear`: all demands do. */
export function namedBy(demands: readonly RankedDemand[], budget: Budget, isTooDear: boolean): Named {
  const counts = new Map<string, { times: number }>();
  const mayBePools: Constraint[] = [];
  const unread = new Map<number, RankedDemand>();
  const add = (name: string): void => {
    const count = counts.get(name);
    if (count === undefined) counts.set(name, { times: 1 });
    else count.times += 1;
  };
  const note = (constraint: Constraint): void => {
    if (constraint.kind === "amount") {
      add(constraint.resource);
      return;
    }
    countedResources(constraint).forEach(add);
    if (constraint.kind !== "property-choice") mayBePools.push(constraint);
  };
  demands.forEach((one, rank) => {
    const { set, demand } = one;
    budget.turnTo(set);
    budget.spend(demand.kind === "job" ? sizeOfText(demand.constraints) + demand.placed.length : 1);
    if (isTooDear || budget.isSpent) unread.set(rank, one);
    else if (demand.kind === "job") demand.constraints.forEach(note);
  });
  const resources = new Map([...counts].map(([name, { times }]) => [name, times]));
  return { unread, resources, mayBePools };
}
