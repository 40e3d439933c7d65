import { allocate } from "../../src/decide/search/allocate.ts";
import { allocationPolicyOf } from "../../src/decide/need/spare.ts";
import { suppose } from "../../src/decide/what-if/what-if.ts";
import type { BucketOffer, World } from "../../src/domain/world.ts";
import type { Remedy, Raise } from "../../src/domain/remedy.ts";
import { renderRemedy } from "../../src/domain/remedy.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import type { DemandOutcome } from "../../src/domain/plan.ts";
import type { LimitChange } from "../../src/domain/what-if.ts";
import { CHANGEABLE_LIMITS } from "../../src/domain/what-if.ts";
import { NOW } from "../support/build-node.ts";
import type { Tried } from "./try-out.ts";
import { planOn } from "./try-out.ts";

/**
 * Whether the remedies help, and whether nothing helps where that is said. Of the first demand that is short only: those behind it are
 * told what they lack while it stays short.
 */
export function judgeRemedies(tried: Tried): readonly string[] {
  const short = tried.allocation.outcomes.find(({ placed, asked }) => placed < asked);
  const binding = short?.binding;
  if (short === undefined || binding === undefined) return [];
  const says = `${short.set}/${short.id}: "${renderRemedy(binding)}"`;
  switch (binding.kind) {
    case "raise":
      // A pool with "@" is in the job itself: only the job's author can raise it.
      if (binding.raises.some((raise) => raise.of === "pool" && raise.pool.includes("@"))) return [];
      return [
        ...(binding.raises.length === 0 ? [`${says} names nothing to raise`] : []),
        ...(isServed(tried, raised(tried.world, binding.raises), short) ? [] : [`${says} is not enough`]),
        ...(isSupposed(tried, binding, short) ? [] : [`${says} does not help in a dry run`]),
      ];
    case "too-large":
    case "no-raise":
      return isServed(tried, boundless(tried.world), short)
        ? [`${says}, and without limits it has a place`]
        : [];
    case "wait":
      return [];
  }
}

function isServed({ demands, policy }: Tried, world: World, { set, id }: DemandOutcome): boolean {
  const { outcomes } = allocate(world, demands, { ...allocationPolicyOf(policy), isTrial: true }, NOW);
  return outcomes.some((one) => one.set === set && one.id === id && one.placed === one.asked);
}

/** The world with exactly these raises. */
function raised(world: World, raises: readonly Raise[]): World {
  const more = (kind: string, name: string, unit: string): number =>
    raises
      .filter(({ of }) => of === "limit")
      .flatMap((raise) => (raise.of === "limit" ? [raise] : []))
      .filter(({ limit }) => limit.kind === kind && limit.name === name && limit.unit === unit)
      .reduce((sum, raise) => sum + raise.more, 0);
  const pooled = (pool: string): number =>
    raises.reduce((sum, raise) => sum + (raise.of === "pool" && raise.pool === pool ? raise.more : 0), 0);
  const known = world.pools ?? [];
  const missing = raises.flatMap((raise) =>
    raise.of === "pool" && !known.some(({ name }) => name === raise.pool)
      ? [{ name: raise.pool, total: 0, used: 0 }]
      : [],
  );
  return grow(
    { ...world, pools: [...known, ...missing] },
    {
      limit: ({ kind, name, unit }) => more(kind, name, unit),
      group: ({ bucket }) => more("placement-group", bucketText(bucket), "nodes"),
      pool: pooled,
      cap: ({ kind, name, unit }) => more(`${kind}-cap`, name, unit),
    },
  );
}

const FAR = 1_000_000;

/** The same cluster with everything that can be raised far away. */
const boundless = (world: World): World =>
  grow(world, { limit: () => FAR, group: () => FAR, pool: () => FAR, cap: () => FAR });

interface Growth {
  readonly limit: (id: World["limits"][number]["id"]) => number;
  readonly group: (offer: BucketOffer) => number;
  readonly pool: (name: string) => number;
  readonly cap: (cap: NonNullable<World["caps"]>[number]) => number;
}

function grow(world: World, by: Growth): World {
  const { pools, caps } = world;
  return {
    ...world,
    limits: world.limits.map((limit) => {
      const more = by.limit(limit.id);
      return { ...limit, max: limit.max + more, left: limit.left + more };
    }),
    buckets: world.buckets.map((offer) => {
      const { maxPlacementGroupSize: most } = offer;
      return most === undefined ? offer : { ...offer, maxPlacementGroupSize: most + by.group(offer) };
    }),
    ...(pools === undefined
      ? {}
      : { pools: pools.map((pool) => ({ ...pool, total: pool.total + by.pool(pool.name) })) }),
    ...(caps === undefined ? {} : { caps: caps.map((cap) => ({ ...cap, max: cap.max + by.cap(cap) })) }),
  };
}

/** A dry run with larger limits, where these are CycleCloud's, says that it is placed. */
function isSupposed(
  tried: Tried,
  { raises }: Extract<Remedy, { kind: "raise" }>,
  short: DemandOutcome,
): boolean {
  const limits = raises.flatMap((raise): LimitChange[] => {
    const kind = raise.of === "limit" ? CHANGEABLE_LIMITS.find((one) => one === raise.limit.kind) : undefined;
    if (raise.of !== "limit" || kind === undefined) return [];
    return [{ kind, name: raise.limit.name, unit: raise.limit.unit, change: { more: raise.more } }];
  });
  if (limits.length < raises.length) return true;
  // With a larger quota CycleCloud offers more of each size that has it, of which a plan may prefer another.
  if (limits.some(({ kind }) => kind.endsWith("-quota"))) return true;
  // Where more is used than allowed, a raise is counted from what is used, a larger limit from what it was.
  if (tried.world.limits.some(({ used, max }) => used > max)) return true;
  const { record, bodies, snapshot, policy } = tried;
  const supposed = suppose(record, bodies, snapshot, { policy, updates: [], limits, buckets: [] }, NOW);
  if (supposed.kind !== "state") return false;
  const { seen = snapshot } = supposed.bodies;
  const then = planOn({ ...tried, record: supposed.record, bodies: supposed.bodies, snapshot: seen });
  return then.allocation.outcomes.some(
    ({ set, id, placed, asked }) => set === short.set && id === short.id && placed === asked,
  );
}
