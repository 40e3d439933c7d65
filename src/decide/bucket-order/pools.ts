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

/** What a job takes from pools: for each unit, or once for all of them (`once`). */
function poolNeeds(
  ask: Ask,
): readonly { readonly pool: string; readonly amount: number; readonly once: boolean }[] {
  const needs = (constraint: Constraint): ReturnType<typeof poolNeeds> => {
    switch (constraint.kind) {
      case "and":
        return constraint.of.flatMap(needs);
      case "pool": {
        const { pool, amount, once = false } = constraint;
        return [{ pool, amount: once ? amount : amount * ask.slotsPerUnit, once }];
      }
      case "shared-consumable": {
        const amount = constraint.amount * ask.slotsPerUnit;
        return constraint.pools.map(({ source }) => ({
          pool: sharedPoolName(constraint.resource, source),
          amount,
          once: false,
        }));
      }
      default:
        return [];
    }
  };
  return ask.demand.constraints.flatMap(needs);
}

/** How many units the pools allow, and each pool that does not allow all of them. */
export function unitsInPools(
  pools: ReadonlyMap<string, number>,
  ask: Ask,
): { readonly units: number; readonly short: readonly ShortPool[] } {
  let { units } = ask;
  const short: ShortPool[] = [];
  for (const { pool, amount, once } of poolNeeds(ask)) {
    const left = pools.get(pool);
    const times = amount === 0 ? Number.POSITIVE_INFINITY : Math.floor((left ?? 0) / amount + TOLERANCE);
    const allowed = once && times > 0 ? ask.units : Math.min(ask.units, times);
    if (allowed < ask.units) short.push({ pool, asked: once ? amount : amount * ask.units, left });
    units = Math.min(units, allowed);
  }
  return { units, short };
}

/** What each pool lacks for this many more units. An amount that is taken once is taken with the first unit. */
export function poolRaises(pools: ReadonlyMap<string, number>, ask: Ask, missing: number): readonly Raise[] {
  return poolNeeds(ask).flatMap(({ pool, amount, once }): readonly Raise[] => {
    const wanted = once ? (missing < ask.units ? 0 : amount) : amount * missing;
    const more = wanted - (pools.get(pool) ?? 0);
    return more > TOLERANCE ? [poolRaise(pools, pool, more)] : [];
  });
}

export function takeFromPools(pools: Map<string, number>, ask: Ask, units: number): void {
  if (units <= 0) return;
  for (const { pool, amount, once } of poolNeeds(ask))
    pools.set(pool, Math.max(0, (pools.get(pool) ?? 0) - amount * (once ? 1 : units)));
}
