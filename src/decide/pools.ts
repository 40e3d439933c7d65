import type { Constraint } from "../domain/constraint.ts";
import type { Pool, Revision } from "../domain/demand.ts";
import { compareRevisions } from "../domain/demand.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { ClusterRecord } from "../domain/record.ts";
import { poolsOf } from "../domain/record.ts";
import type { Scalar } from "../domain/resources.ts";
import type { SharedState } from "../domain/node-view.ts";

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

/** The pools that the live sets tell; of two that tell one, the newer (design.md section 4). */
export function poolsInForce(record: ClusterRecord, bodies: Bodies): readonly Pool[] {
  const newest = new Map<string, { readonly pool: Pool; readonly revision: Revision }>();
  for (const { live, digest, revision } of poolsOf(record).values()) {
    for (const pool of (live ? bodies.demands.get(digest)?.pools : undefined) ?? []) {
      const known = newest.get(pool.name);
      if (known === undefined || compareRevisions(revision, known.revision) > 0)
        newest.set(pool.name, { pool, revision });
    }
  }
  return [...newest.values()].map(({ pool }) => pool);
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
