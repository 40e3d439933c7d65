import type { Constraint } from "../../domain/constraint.ts";
import type { Pool } from "../../domain/demand.ts";
import { nearest } from "../../domain/nearest.ts";
import type { Raise } from "../../domain/remedy.ts";
import { compareText } from "../../domain/text.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Ask } from "../bins/job-ask.ts";
import { sharedPoolName } from "../constraints/shared-pools.ts";
import { TOLERANCE } from "../../domain/resources.ts";

/** A pool that allows fewer units than a job has. */
export interface ShortPool {
  readonly pool: string;
  /** What all units of the job take. */
  readonly asked: number;
  /** Undefined: no message has reported the pool. */
  readonly left: number | undefined;
}

/** Number of units of a job that the pools allow, and the pools that do not allow all. Pools report running slots as used. */
export function unitsInPools(
  pools: ReadonlyMap<string, number>,
  ask: Ask,
  needs: ReadonlyMap<string, number>,
): { readonly units: number; readonly short: readonly ShortPool[] } {
  let { units } = ask;
  const short: ShortPool[] = [];
  for (const [pool, amount] of needs) {
    const perUnit = amount * ask.slotsPerUnit;
    const left = pools.get(pool);
    const allowed = perUnit === 0 ? ask.units : Math.floor((left ?? 0) / perUnit + TOLERANCE);
    if (allowed < ask.units) short.push({ pool, asked: perUnit * ask.units, left });
    units = Math.min(units, allowed);
  }
  return { units, short };
}

/** Maximum number of known pools that a reason names. */
const KNOWN_NAMED = 10;

/**
 * What reasons say of pools that no message has reported, found once for a plan. A job is tried many times, and a thousand jobs may each name
 * such a pool.
 */
export class UnknownPools {
  #known: readonly string[] | undefined;
  #named: readonly string[] = [];
  readonly #nearest = new Map<string, string | undefined>();

  /** `isBrief`: without the known name that was probably meant, which takes as long as placing a job. */
  reasonOf(pools: ReadonlyMap<string, number>, { pool, asked }: ShortPool, isBrief: boolean): Reason {
    const known = this.#namesIn(pools);
    const named = { code: "unknown-pool", pool, asked, known: this.#named } as const;
    if (isBrief) return named;
    if (!this.#nearest.has(pool)) this.#nearest.set(pool, nearest(pool, known));
    const near = this.#nearest.get(pool);
    return near === undefined ? named : { ...named, nearest: near };
  }

  #namesIn(pools: ReadonlyMap<string, number>): readonly string[] {
    if (this.#known === undefined) {
      // The others are parts of constraints: only jobs that name their source can use them.
      this.#known = [...pools.keys()].filter((name) => !name.includes("@"));
      this.#named = this.#known.toSorted(compareText).slice(0, KNOWN_NAMED);
    }
    return this.#known;
  }
}

/** The part of a draft that says what is left of the pools, and which are known. */
interface WithPools {
  readonly pools: ReadonlyMap<string, number>;
  readonly start: { readonly unknownPools: UnknownPools };
}

/**
 * Why a pool does not suffice: too little is left, or no message has reported a pool of this name. `reported`: the pools whose total it
 * names. `isBrief`: for a job beyond the budget of reasons.
 */
export function poolReason(
  { pools, start }: WithPools,
  short: ShortPool,
  {
    reported = [],
    isBrief = false,
  }: { readonly reported?: readonly Pool[]; readonly isBrief?: boolean } = {},
): Reason {
  const { pool, asked, left } = short;
  if (left === undefined) return start.unknownPools.reasonOf(pools, short, isBrief);
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
