import { allocate } from "../../src/decide/search/allocate.ts";
import { allocationPolicyOf } from "../../src/decide/need/spare.ts";
import { suppose } from "../../src/decide/what-if/what-if.ts";
import type { BucketOffer, World } from "../../src/domain/world.ts";
import type { Remedy } from "../../src/domain/remedy.ts";
import { renderRemedy } from "../../src/domain/remedy.ts";
import type { DemandOutcome } from "../../src/domain/plan.ts";
import type { LimitChange } from "../../src/domain/what-if.ts";
import { CHANGEABLE_LIMITS } from "../../src/domain/what-if.ts";
import { NOW } from "../support/build-node.ts";
import type { Tried } from "./try-out.ts";
import { planOn } from "./try-out.ts";
import { raised } from "../property/followed-remedy.ts";

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
  const { record, bodies, snapshot, policy } = tried;
  const supposed = suppose(record, bodies, snapshot, { policy, updates: [], limits, buckets: [] }, NOW);
  if (supposed.kind !== "state") return false;
  const { seen = snapshot } = supposed.bodies;
  const then = planOn({ ...tried, record: supposed.record, bodies: supposed.bodies, snapshot: seen });
  return then.allocation.outcomes.some(
    ({ set, id, placed, asked }) => set === short.set && id === short.id && placed === asked,
  );
}
