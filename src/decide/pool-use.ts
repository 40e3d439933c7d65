import type { Pool } from "../domain/demand.ts";
import type { Reason } from "../domain/reason.ts";
import type { Ask } from "./ask.ts";
import { TOLERANCE } from "./tolerance.ts";

/** How many units of a job the pools allow; reasons if that is not all of them. Slots that run already are in what their pools say is used. */
export function unitsInPools(
  pools: ReadonlyMap<string, number>,
  ask: Ask,
  told: readonly Pool[] = [],
): { readonly units: number; readonly reasons: readonly Reason[] } {
  let { units } = ask;
  const reasons: Reason[] = [];
  for (const [pool, amount] of ask.requirements.pools) {
    const perUnit = amount * ask.slotsPerUnit;
    const left = pools.get(pool) ?? 0;
    const allowed = perUnit === 0 ? ask.units : Math.floor(left / perUnit + TOLERANCE);
    if (allowed < ask.units) {
      const total = told.find(({ name }) => name === pool)?.total;
      const asked = perUnit * ask.units;
      reasons.push({ code: "pool-empty", pool, asked, left, ...(total === undefined ? {} : { total }) });
    }
    units = Math.min(units, allowed);
  }
  return { units, reasons };
}

export function takeFromPools(pools: Map<string, number>, ask: Ask, units: number): void {
  for (const [pool, amount] of ask.requirements.pools)
    pools.set(pool, Math.max(0, (pools.get(pool) ?? 0) - amount * ask.slotsPerUnit * units));
}
