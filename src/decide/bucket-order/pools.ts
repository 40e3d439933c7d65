import { TOLERANCE } from "../../domain/resources.ts";
import type { Constraint } from "../../domain/constraint.ts";
import type { Raise } from "../../domain/remedy.ts";
import type { ShortPool } from "../draft/pool-use.ts";
import { mostPoolNeeds, poolRaise } from "../draft/pool-use.ts";
import { sharedPoolName } from "../constraints/shared-pools.ts";
import type { Ask } from "../bins/job-ask.ts";

/** Whether an alternative of the job takes from pools. */
export function drains(ask: Ask): boolean {
  const { intricate, pools } = ask.requirements;
  return intricate && [...mostPoolNeeds(ask)].some(([pool, amount]) => amount > (pools.get(pool) ?? 0));
}

/** Whether the constraint depends on what is left in pools. */
export function looksAtPools(constraint: Constraint): boolean {
  switch (constraint.kind) {
    case "pool":
    case "pool-value":
    case "shared-consumable":
      return true;
    case "and":
    case "or":
    case "xor":
      return constraint.of.some(looksAtPools);
    case "not":
      return looksAtPools(constraint.of);
    default:
      return false;
  }
}

/** What a job takes from one pool. A pool that it names several times counts each time. */
interface PoolNeed {
  /** For each unit. */
  readonly each: number;
  /** With the first unit, for all of them. */
  readonly once: number;
}

/** By pool. */
function poolNeeds({ demand, slotsPerUnit }: Ask): ReadonlyMap<string, PoolNeed> {
  const needs = new Map<string, PoolNeed>();
  const add = (pool: string, each: number, once: number): void => {
    const before = needs.get(pool);
    needs.set(pool, { each: (before?.each ?? 0) + each, once: (before?.once ?? 0) + once });
  };
  const addAll = (constraint: Constraint): void => {
    switch (constraint.kind) {
      case "and":
        constraint.of.forEach(addAll);
        return;
      case "pool": {
        const { pool, amount, once = false } = constraint;
        add(pool, once ? 0 : amount * slotsPerUnit, once ? amount : 0);
        return;
      }
      case "shared-consumable":
        for (const { source } of constraint.pools)
          add(sharedPoolName(constraint.resource, source), constraint.amount * slotsPerUnit, 0);
        return;
      default:
    }
  };
  demand.constraints.forEach(addAll);
  return needs;
}

/** How many units the pools allow, and each pool that does not allow all of them. */
export function unitsInPools(
  pools: ReadonlyMap<string, number>,
  ask: Ask,
): { readonly units: number; readonly short: readonly ShortPool[] } {
  let { units } = ask;
  const short: ShortPool[] = [];
  for (const [pool, { each, once }] of poolNeeds(ask)) {
    const left = pools.get(pool);
    const rest = (left ?? 0) - once;
    const times = each === 0 ? Number.POSITIVE_INFINITY : Math.floor(rest / each + TOLERANCE);
    const allowed = rest < -TOLERANCE ? 0 : Math.min(ask.units, Math.max(0, times));
    if (allowed < ask.units) short.push({ pool, asked: once + each * ask.units, left });
    units = Math.min(units, allowed);
  }
  return { units, short };
}

/** What each pool lacks for this many more units. What is taken once is taken with the first unit. */
export function poolRaises(pools: ReadonlyMap<string, number>, ask: Ask, missing: number): readonly Raise[] {
  return [...poolNeeds(ask)].flatMap(([pool, { each, once }]): readonly Raise[] => {
    const more = (missing < ask.units ? 0 : once) + each * missing - (pools.get(pool) ?? 0);
    return more > TOLERANCE ? [poolRaise(pools, pool, more)] : [];
  });
}

export function takeFromPools(pools: Map<string, number>, ask: Ask, units: number): void {
  if (units <= 0) return;
  for (const [pool, { each, once }] of poolNeeds(ask))
    pools.set(pool, Math.max(0, (pools.get(pool) ?? 0) - once - each * units));
}
