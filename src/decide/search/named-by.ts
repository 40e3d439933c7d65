import type { Constraint } from "../../domain/constraint.ts";
import type { Demand, RankedDemand } from "../../domain/demand.ts";
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
  // Equal jobs of a set share the list of their constraints (shared-constraints.ts).
  const lists = new Map<readonly Constraint[], { readonly size: number; times: number }>();
  const unread = new Map<number, RankedDemand>();
  const read = (demand: Demand): void => {
    if (demand.kind !== "job") {
      budget.spend(1);
      return;
    }
    const { constraints, placed } = demand;
    const list = lists.get(constraints) ?? { size: sizeOfText(constraints), times: 0 };
    budget.spend(list.size + placed.length);
    if (budget.isSpent) return;
    list.times += 1;
    lists.set(constraints, list);
  };
  demands.forEach((one, rank) => {
    budget.turnTo(one.set);
    if (!isTooDear && !budget.isSpent) read(one.demand);
    if (isTooDear || budget.isSpent) unread.set(rank, one);
  });
  return { unread, ...namedIn(lists) };
}

/** What these lists of constraints name. `times`: the number of jobs with the list. */
function namedIn(
  lists: ReadonlyMap<readonly Constraint[], { readonly times: number }>,
): Pick<Named, "resources" | "mayBePools"> {
  const resources = new Map<string, number>();
  const mayBePools: Constraint[] = [];
  for (const [constraints, { times }] of lists) {
    for (const constraint of constraints) {
      for (const name of countedResources(constraint))
        resources.set(name, (resources.get(name) ?? 0) + times);
      if (constraint.kind !== "amount" && constraint.kind !== "property-choice") mayBePools.push(constraint);
    }
  }
  return { resources, mayBePools };
}
