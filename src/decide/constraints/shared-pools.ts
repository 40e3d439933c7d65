import type { Constraint } from "../../domain/constraint.ts";
import type { Pool } from "../../domain/demand.ts";
import type { Scalar } from "../../domain/resources.ts";
import type { SharedState } from "../../domain/node-view.ts";

/** The name of the pool of a shared consumable. All jobs that name the same resource and source share it. */
export function sharedPoolName(resource: string, source: string): string {
  return `${resource}@${source}`;
}

/**
 * What the jobs of a cluster share before anything is placed: the pools that its sets report, and those in constraints, whose amount comes
 * from the first constraint that names them. (In scalelib each job has pools of its own: defect 35.) Amounts are never below 0.
 */
export function sharedStateOf(pools: readonly Pool[], constraints: readonly Constraint[]): SharedState {
  const left = new Map<string, number>();
  const values = new Map<string, Scalar>();
  for (const pool of pools) {
    if (pool.value !== undefined) values.set(pool.name, pool.value);
    left.set(pool.name, Math.max(0, pool.total - pool.used));
  }
  for (const constraint of constraints) collectPools(constraint, left);
  return { left, values };
}

function collectPools(constraint: Constraint, left: Map<string, number>): void {
  switch (constraint.kind) {
    case "shared-consumable":
      for (const { source, current } of constraint.pools) {
        const name = sharedPoolName(constraint.resource, source);
        if (!left.has(name)) left.set(name, Math.max(0, current));
      }
      return;
    case "and":
    case "or":
    case "xor":
      for (const member of constraint.of) collectPools(member, left);
      return;
    case "not":
      collectPools(constraint.of, left);
      return;
    default:
  }
}
