import type { Constraint } from "../../domain/constraint.ts";
import type { Pool } from "../../domain/demand.ts";
import type { Scalar } from "../../domain/resources.ts";
import type { SharedState } from "../../domain/node-view.ts";

/** The name under which the pool of a shared consumable is shared: by all jobs that name the same resource and source. */
export function sharedPoolName(resource: string, source: string): string {
  return `${resource}@${source}`;
}

/**
 * What the jobs of a cluster share to begin with: the pools that its sets told, and those that stand in constraints, where the first one
 * in the order given says how much there is (scalelib's jobs each had a pool of their own: defect 35). Never below zero.
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
