import type { Ask } from "../bins/job-ask.ts";
import type { Place } from "../bins/node-kinds.ts";
import type { Scope } from "../bins/scope.ts";
import type { Draft } from "../draft/draft.ts";
import type { ShortPool } from "../draft/pool-use.ts";
import { alternativePoolNeeds, poolNeeds, takeFromPools, unitsInPools } from "../draft/pool-use.ts";
import type { PlacedGang } from "./gang.ts";
import { placeGang, spreadGang } from "./gang.ts";
import type { Progress } from "./pack.ts";
import { packJob } from "./pack.ts";

/** The result for a job, in slots. */
interface PlacedJob {
  readonly placed: number;
  readonly pending: number;
  readonly short?: ShortJob;
}

/** A job that is not placed completely, and what is needed to explain it. */
export interface ShortJob {
  readonly ask: Ask;
  /** The job with as many units as its pools allow. */
  readonly allowed: Ask;
  /** Units that are not placed, including those that the pools exclude. */
  readonly missing: number;
  /** Units that are not placed although the pools allow them. */
  readonly left: number;
  /** The pools that do not allow all units. */
  readonly shortPools: readonly ShortPool[];
  /** What was left of the pools that its alternatives take from, when no more units could be placed. */
  readonly poolsLeft: ReadonlyMap<string, number>;
  readonly refused: PlacedGang["refused"];
}

/**
 * Places a job, or the rest of it if `kept` units are placed already. The pools are checked first: no more units are placed than they
 * allow, and placed units take from them.
 */
export function placeJob(
  draft: Draft,
  ask: Ask,
  kept: Progress | undefined,
  scope: Scope,
  home: Place | undefined,
): PlacedJob {
  if (kept === undefined) return placeFromPools(draft, ask, scope, home);
  const placed = placeFromPools(draft, ask.with(kept.left), scope, home);
  return { ...placed, pending: placed.pending + kept.pending * ask.slotsPerUnit };
}

function placeFromPools(draft: Draft, ask: Ask, scope: Scope, home: Place | undefined): PlacedJob {
  if (ask.requirements.pools.size === 0 && ask.jobClass.takes !== undefined)
    return placeUnits(draft, ask, ask, scope, home, NONE_SHORT);
  const needs = poolNeeds(ask);
  const { units, short } = unitsInPools(draft.pools, ask, needs);
  const allowed = units < ask.units ? ask.with(ask.together === "anywhere" ? units : 0) : ask;
  // Taken before the job is placed, because alternatives may take from the same pools. What is not needed is given back.
  takeFromPools(draft.pools, ask, allowed.units);
  return placeUnits(draft, ask, allowed, scope, home, short);
}

function placeUnits(
  draft: Draft,
  ask: Ask,
  allowed: Ask,
  scope: Scope,
  home: Place | undefined,
  shortPools: readonly ShortPool[],
): PlacedJob {
  const { progress, refused }: PlacedGang =
    allowed.units <= 0 ? { progress: NOTHING_LEFT } : placeAllowed(draft, allowed, scope, home);
  const { left, pending } = progress;
  const poolsLeft = left > 0 ? leftForAlternatives(draft, ask) : NO_POOLS;
  takeFromPools(draft.pools, ask, -left);
  const missing = left + ask.units - allowed.units;
  const counted = {
    placed: ask.asked - missing * ask.slotsPerUnit,
    pending: pending * ask.slotsPerUnit,
  };
  if (missing === 0) return counted;
  return { ...counted, short: { ask, allowed, missing, left, shortPools, poolsLeft, refused } };
}

function placeAllowed(draft: Draft, ask: Ask, scope: Scope, home: Place | undefined): PlacedGang {
  switch (ask.together) {
    case "anywhere":
      return { progress: packJob(draft, ask, scope) };
    case "spread":
      return spreadGang(draft, ask, scope);
    default:
      return placeGang(draft, ask, scope, home);
  }
}

function leftForAlternatives({ pools }: Draft, ask: Ask): ReadonlyMap<string, number> {
  const needs = alternativePoolNeeds(ask);
  return needs.size === 0 ? NO_POOLS : new Map([...needs.keys()].map((pool) => [pool, pools.get(pool) ?? 0]));
}

const NO_POOLS: ReadonlyMap<string, number> = new Map();
const NONE_SHORT: readonly ShortPool[] = [];
const NOTHING_LEFT: Progress = { left: 0, pending: 0 };
