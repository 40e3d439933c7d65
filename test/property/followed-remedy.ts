import { allocate } from "../../src/decide/search/allocate.ts";
import type { Allocation, AllocationPolicy } from "../../src/domain/allocation.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import type { LimitId } from "../../src/domain/limit.ts";
import type { DemandOutcome } from "../../src/domain/plan.ts";
import type { Raise } from "../../src/domain/remedy.ts";
import { renderRemedy } from "../../src/domain/remedy.ts";
import { instant } from "../../src/domain/units.ts";
import type { BucketOffer, World } from "../../src/domain/world.ts";
import type { RankedDemand } from "../../src/domain/demand.ts";

/** Follows each remedy of a plan as it is printed, with all demand as it is, and plans again. */

const NOW = instant(1_763_636_400_000);

interface Case {
  readonly world: World;
  readonly demands: readonly RankedDemand[];
}

/** What became of the remedies of unmet demands. */
export interface Judged {
  /** Remedies that do what they say and are minimal, that say "at most", that say that no raise helps, and unmet demands without one. */
  true: number;
  atMost: number;
  noRaise: number;
  untold: number;
  readonly faults: string[];
}

export const policyOf = (
  among: AllocationPolicy["among"],
  preference: AllocationPolicy["preference"],
): AllocationPolicy => ({
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference,
  among,
});

/** Judges each remedy of the plan for a world. Faults are noted with the number of the world. */
export function judgeRemedies(
  judged: Judged,
  { world, demands }: Case,
  policy: AllocationPolicy,
  at: number,
): void {
  const first = allocate(world, demands, policy, NOW);
  first.outcomes.forEach((outcome, rank) => {
    if (outcome.placed >= outcome.asked) return;
    const fault = judgeOne(judged, { world, demands }, policy, first, outcome, rank);
    if (fault === undefined) return;
    judged.faults.push(
      `world ${at}, ${outcome.id}: "${outcome.binding === undefined ? "" : renderRemedy(outcome.binding)}" ${fault}`,
    );
  });
}

function judgeOne(
  judged: Judged,
  { world, demands }: Case,
  policy: AllocationPolicy,
  { outcomes }: Allocation,
  { binding }: DemandOutcome,
  rank: number,
): string | undefined {
  const after = (raises: readonly Raise[]): readonly DemandOutcome[] =>
    allocate(raised(world, raises), demands, { ...policy, isTrial: true }, NOW).outcomes;
  if (binding === undefined) {
    judged.untold += 1;
    return undefined;
  }
  if (binding.kind !== "raise") {
    judged.noRaise += 1;
    return isWhole(allocate(boundless(world), demands, { ...policy, isTrial: true }, NOW).outcomes, rank)
      ? "but without limits it has a place"
      : undefined;
  }
  const { raises } = binding;
  const names = raises.map(nameOf);
  if (new Set(names).size < names.length) return "names something twice";
  if (binding.atMost === true) {
    judged.atMost += 1;
    return undefined;
  }
  const then = after(raises);
  if (!isWhole(then, rank)) return `places ${then[rank]?.placed ?? 0} after ${outcomes[rank]?.placed ?? 0}`;
  const harmed = outcomes.slice(0, rank).find(({ placed }, i) => (then[i]?.placed ?? 0) < placed);
  if (harmed !== undefined) return `takes from ${harmed.id}`;
  const more = outcomes.slice(0, rank).filter(({ placed }, i) => (then[i]?.placed ?? 0) > placed).length;
  if (more !== (binding.ahead?.count ?? 0)) return `places more of ${more} before it`;
  for (const [i, raise] of raises.entries()) {
    const less = after(raises.with(i, { ...raise, more: raise.more - 1 }));
    const isHarmless = outcomes.slice(0, rank).every(({ placed }, k) => (less[k]?.placed ?? 0) >= placed);
    if (isWhole(less, rank) && isHarmless) return `would do with one less of ${names[i] ?? ""}`;
  }
  judged.true += 1;
  return undefined;
}

const isWhole = (outcomes: readonly DemandOutcome[], rank: number): boolean => {
  const outcome = outcomes[rank];
  return outcome !== undefined && outcome.placed >= outcome.asked;
};

const idText = ({ kind, name, unit }: LimitId): string => `${kind} ${name} ${unit}`;
const poolText = (pool: string): string => `pool ${pool}`;
const nameOf = (raise: Raise): string => (raise.of === "pool" ? poolText(raise.pool) : idText(raise.limit));

/** The world with these raises. What CycleCloud offers of a bucket grows with the limits that explain it, if it is not raised itself. */
export function raised(world: World, raises: readonly Raise[]): World {
  const by = (name: string): number =>
    raises.reduce((sum, raise) => (nameOf(raise) === name ? sum + raise.more : sum), 0);
  const limits = world.limits.map((limit) => {
    const more = by(idText(limit.id));
    // Where more is used than allowed, a raise makes up for that first.
    const lacking = Math.max(0, limit.used - limit.max);
    return { ...limit, max: limit.max + more, left: Math.max(0, limit.left + more - lacking) };
  });
  const buckets = world.buckets.map((offer): BucketOffer => {
    const { maxPlacementGroupSize: most } = offer;
    const name = idText({ kind: "placement-group", name: bucketText(offer.bucket), unit: "nodes" });
    return most === undefined ? offer : { ...offer, maxPlacementGroupSize: most + by(name) };
  });
  for (const { charges } of world.buckets) {
    const own = charges.find(({ limit }) => world.limits[limit]?.id.kind === "bucket");
    const before = own === undefined ? undefined : world.limits[own.limit];
    if (own === undefined || before === undefined || by(idText(before.id)) > 0) continue;
    const room = (of: World["limits"], what: "left" | "max"): number =>
      Math.min(
        ...charges
          .filter((one) => one !== own)
          .map(({ limit, amount }) => Math.floor((of[limit]?.[what] ?? 0) / amount)),
      );
    if (before.left < room(world.limits, "left")) continue;
    const max =
      before.max < room(world.limits, "max") ? before.max : Math.max(before.max, room(limits, "max"));
    const left = Math.max(before.left, room(limits, "left"));
    limits[own.limit] = { ...before, max, left: Math.min(left, max - before.used) };
  }
  const known = world.pools ?? [];
  const news = raises.flatMap((raise) => (raise.of === "pool" && raise.unknown === true ? [raise.pool] : []));
  const pools = [...known, ...news.map((name) => ({ name, total: 0, used: 0 }))].map((pool) => ({
    ...pool,
    total: pool.total + by(poolText(pool.name)),
  }));
  const caps = (world.caps ?? []).map((cap) => ({
    ...cap,
    max: cap.max + by(idText({ kind: `${cap.kind}-cap`, name: cap.name, unit: cap.unit })),
  }));
  return { ...world, limits, buckets, pools, caps };
}

/** More than any demand of a small world asks for. */
const FAR = 500;

function boundless(world: World): World {
  return {
    ...world,
    limits: world.limits.map((limit) => ({ ...limit, max: limit.max + FAR, left: limit.left + FAR })),
    buckets: world.buckets.map((offer) =>
      offer.maxPlacementGroupSize === undefined
        ? offer
        : { ...offer, maxPlacementGroupSize: offer.maxPlacementGroupSize + FAR },
    ),
    pools: (world.pools ?? []).map((pool) => ({ ...pool, total: pool.total + FAR })),
  };
}
