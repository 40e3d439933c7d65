import type { Constraint } from "../../domain/constraint.ts";
import type { Pool } from "../../domain/demand.ts";
import { nearest } from "../../domain/nearest.ts";
import type { Raise } from "../../domain/remedy.ts";
import { compareText } from "../../domain/text.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Ask } from "../bins/job-ask.ts";
import { sharedPoolName } from "../constraints/shared-pools.ts";
import { TOLERANCE } from "../../domain/tolerance.ts";

/** Number of units of a job that the pools allow, and the reasons if these are not all. Pools report running slots as used. */
export function unitsInPools(
  pools: ReadonlyMap<string, number>,
  ask: Ask,
  needs: ReadonlyMap<string, number>,
  reported: readonly Pool[] = [],
): { readonly units: number; readonly reasons: readonly Reason[] } {
  let { units } = ask;
  const reasons: Reason[] = [];
  for (const [pool, amount] of needs) {
    const perUnit = amount * ask.slotsPerUnit;
    const left = pools.get(pool) ?? 0;
    const allowed = perUnit === 0 ? ask.units : Math.floor(left / perUnit + TOLERANCE);
    if (allowed < ask.units) reasons.push(shortPool(pools, pool, perUnit * ask.units, reported));
    units = Math.min(units, allowed);
  }
  return { units, reasons };
}

/** Maximum number of known pools that a reason names. */
const KNOWN_NAMED = 10;

/** Why a pool does not suffice: too little is left, or no message has reported a pool of this name. */
export function shortPool(
  pools: ReadonlyMap<string, number>,
  pool: string,
  asked: number,
  reported: readonly Pool[] = [],
): Reason {
  const left = pools.get(pool);
  if (left === undefined) {
    // The others are parts of constraints: only jobs that name their source can use them.
    const known = [...pools.keys()].filter((name) => !name.includes("@"));
    const near = nearest(pool, known);
    const named = known.toSorted(compareText).slice(0, KNOWN_NAMED);
    return {
      code: "unknown-pool",
      pool,
      asked,
      known: named,
      ...(near === undefined ? {} : { nearest: near }),
    };
  }
  const total = reported.find(({ name }) => name === pool)?.total;
  return { code: "pool-empty", pool, asked, left, ...(total === undefined ? {} : { total }) };
}

/** What a pool lacks. */
export function poolRaise(pools: ReadonlyMap<string, number>, pool: string, more: number): Raise {
  return { of: "pool", pool, more, ...(pools.has(pool) ? {} : { unknown: true }) };
}

/**
 * What one slot of a job takes from pools, for the check before it is placed. When a slot is placed, it is charged the first alternative that
 * holds on the node. A gang is checked before that, and is placed only if the pools suffice for every alternative.
 */
export function poolNeeds(ask: Ask): ReadonlyMap<string, number> {
  return ask.together === "anywhere" ? ask.requirements.pools : mostPoolNeeds(ask);
}

/** Maximum that one slot takes from pools, whichever alternatives it is charged. */
export function mostPoolNeeds(ask: Ask): ReadonlyMap<string, number> {
  const { pools, intricate, marks } = ask.requirements;
  if (!intricate) return pools;
  const most = new Map(pools);
  for (const constraint of marks) addDrains(constraint, most);
  return most;
}

/** Maximum that one slot takes from pools by the alternatives alone. */
export function alternativePoolNeeds({
  requirements: { intricate, marks },
}: Ask): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  if (intricate) for (const constraint of marks) addDrains(constraint, most);
  return most;
}

function addDrains(constraint: Constraint, most: Map<string, number>): void {
  switch (constraint.kind) {
    case "pool":
      most.set(constraint.pool, (most.get(constraint.pool) ?? 0) + constraint.amount);
      return;
    case "shared-consumable":
      for (const { source } of constraint.pools) {
        const pool = sharedPoolName(constraint.resource, source);
        most.set(pool, (most.get(pool) ?? 0) + constraint.amount);
      }
      return;
    case "and":
    case "or":
    case "xor":
      for (const member of constraint.of) addDrains(member, most);
      return;
    default:
  }
}

/** Takes from pools what units take outside of alternatives. What alternatives take is subtracted when a slot is placed. */
export function takeFromPools(pools: Map<string, number>, ask: Ask, units: number): void {
  // A pool that no message has reported stays unknown.
  if (units === 0) return;
  for (const [pool, amount] of ask.requirements.pools)
    pools.set(pool, Math.max(0, (pools.get(pool) ?? 0) - amount * ask.slotsPerUnit * units));
}
