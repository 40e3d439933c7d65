import type { BucketOffer } from "../../src/domain/world.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import type { DemandOutcome } from "../../src/domain/plan.ts";
import type { Reason } from "../../src/domain/reason.ts";
import { renderReason } from "../../src/domain/reason-text.ts";
import { countOf, isAtMost } from "../property/naive-constraints.ts";
import { drainedOf } from "../property/naive-jobs.ts";
import { layOut, offerAt } from "../property/naive-nodes.ts";
import type { CountedLimit } from "./naive-limits.ts";
import { listOf } from "./naive-limits.ts";
import type { Tried } from "./try-out.ts";

/** Whether what the reasons of an outcome say is so: their numbers are counted once more. */
export function judgeReasons(
  tried: Tried,
  outcome: DemandOutcome,
  limits: readonly CountedLimit[],
): readonly string[] {
  return outcome.reasons.flatMap((reason) =>
    falsehoods(tried, reason, limits).map(
      (what) => `${outcome.set}/${outcome.id}: ${what} ("${renderReason(reason)}")`,
    ),
  );
}

const check = (isTrue: boolean, what: string): readonly string[] => (isTrue ? [] : [what]);

/** The buckets that a reason names. */
function named(reason: Reason): readonly BucketKey[] {
  if (reason.across !== undefined) return reason.across.some;
  return "bucket" in reason && reason.bucket !== undefined ? [reason.bucket] : [];
}

function falsehoods(tried: Tried, reason: Reason, limits: readonly CountedLimit[]): readonly string[] {
  const { world } = tried;
  const offers = named(reason).flatMap((bucket) => offerAt(world, bucket) ?? []);
  switch (reason.code) {
    case "limit-reached":
      return limitFalsehoods(reason, limits);
    case "does-not-fit": {
      const { resource, asked, offered } = reason;
      const of = (offer: BucketOffer): number => countOf(offer.resources[resource]);
      const [first] = offers;
      const isLargest = offers.every((offer) => isAtMost(of(offer), offered));
      const isThere = first === undefined || reason.across !== undefined || of(first) === offered;
      return [
        ...check(resource === "cores" || (isLargest && isThere), `${offered} is not what is offered`),
        ...check(asked > offered, "as much is offered as is asked"),
      ];
    }
    case "pool-empty": {
      const sheet = layOut(world, tried.demands, tried.allocation);
      const left = (sheet.pools.left.get(reason.pool) ?? 0) - (drainedOf(sheet).get(reason.pool) ?? 0);
      return [
        ...check(isAtMost(left, reason.left), `${left} are left of the pool`),
        ...check(reason.asked > reason.left, "as much is left as is asked"),
      ];
    }
    case "unknown-array":
      return check(!arraysOf(tried).includes(reason.array), "the array is known");
    case "no-such-machine-type":
      return check(
        !world.buckets.some(
          ({ bucket }) => bucket.array === reason.array && reason.machineTypes.includes(bucket.machineType),
        ),
        "the array offers it",
      );
    case "spot-not-allowed":
      return check(
        offers.every(({ spot }) => spot === true),
        "it is not spot",
      );
    case "not-spot":
      return check(
        offers.every(({ spot }) => spot !== true),
        "it is spot",
      );
    case "no-placement-group":
      return check(
        offers.every((offer) => offer.maxPlacementGroupSize === undefined || offer.pinnedGroup !== undefined),
        "it has placement groups",
      );
    case "group-too-large":
      return check(reason.asked > reason.max, "as many are possible as are asked");
    case "span-too-large":
      return check(reason.asked > reason.possible, "as many are possible as are asked");
    default:
      return [];
  }
}

const arraysOf = ({ cluster }: Tried): readonly unknown[] =>
  listOf(cluster.status["nodearrays"]).map((array) => array["name"]);

/** In use before the plan, and at most what the plan takes on top; less left than is asked. */
function limitFalsehoods(
  reason: Extract<Reason, { code: "limit-reached" }>,
  limits: readonly CountedLimit[],
): readonly string[] {
  const { limit, used, max, left, asked } = reason;
  const faults = [
    ...check(asked > left, "as much is left as is asked"),
    ...check(left <= Math.max(0, max - used), "more is left than the limit allows"),
  ];
  // What a family is called is for another test.
  const isMeant = ({ id }: CountedLimit): boolean =>
    id.kind === limit.kind &&
    id.unit === limit.unit &&
    (id.kind === "family-quota" || id.name === limit.name);
  const meant = limits.filter(isMeant);
  if (meant.length === 0) return faults;
  const isCounted = meant.some((one) => one.max === max && one.used <= used && used <= one.used + one.taken);
  const shown = meant.map((one) => `${one.used} to ${one.used + one.taken} of ${one.max}`).join(" or ");
  return [
    ...faults,
    ...check(isCounted, `counted are ${shown} ${limit.unit} of ${limit.kind} ${limit.name}`),
  ];
}

/** How a bucket is called in a fault. */
export const bucketsText = (buckets: readonly BucketKey[]): string => buckets.map(bucketText).join(", ");
