import { bucketText } from "./bucket.ts";
import type { Remedy, Raise } from "./remedy.ts";
import type { DemandOutcome } from "./plan.ts";
import type { Reason } from "./reason.ts";

/**
 * The reasons of an outcome in order of importance: those that its remedy names, then other limits and pauses of buckets that the demand
 * could use, then the reasons why it cannot use the rest. A summary shows the first.
 */
export function reasonsInOrder({
  reasons,
  binding,
}: Pick<DemandOutcome, "reasons" | "binding">): readonly Reason[] {
  // It is about several buckets at once, and says more than the reasons of each.
  if (binding?.kind === "no-raise" && binding.reason.code === "not-together")
    return [binding.reason, ...reasons];
  if (reasons.length < 2) return reasons;
  const rank = (reason: Reason): number => (concerns(binding, reason) ? BINDING : rankOfReason(reason));
  return reasons.toSorted((a, b) => rank(a) - rank(b));
}

const BINDING = 0;
const USABLE = 1;
const CLOSED = 2;
const UNUSABLE = 3;

/** How directly a reason explains why a demand waits: 1 for a bucket that the demand could use, 3 for one that it could not use anyway. */
export function rankOfReason(reason: Reason): number {
  switch (reason.code) {
    case "limit-reached":
    case "pool-empty":
    case "unknown-pool":
    case "backing-off":
    case "group-too-large":
    case "group-filling":
    case "group-given-up":
    case "span-too-large":
    case "too-many-unmet":
    case "left-out":
    case "not-explained":
    case "cluster-not-started":
    case "name-over":
    case "name-waits":
    case "name-earlier":
    case "name-held":
    case "dynamic-disputed":
    case "sender-refused":
    case "dynamic-name-taken":
    case "dynamic-not-asked-for":
      return USABLE;
    case "bucket-invalid":
    case "only-named":
    case "not-exclusive":
    case "no-placement-group":
    case "no-new-group":
    case "attributes-differ":
      return CLOSED;
    default:
      return UNUSABLE;
  }
}

/** Whether the remedy and the reason are about the same thing. */
function concerns(binding: Remedy | undefined, reason: Reason): boolean {
  switch (binding?.kind) {
    case undefined:
      return false;
    case "raise":
      return binding.raises.some((raise) => isRaised(raise, reason));
    case "wait":
      return reason.code === "backing-off" && bucketText(reason.bucket) === bucketText(binding.bucket);
    case "too-large":
      return (
        reason.code === "does-not-fit" &&
        reason.resource === binding.resource &&
        reason.asked === binding.asked
      );
    case "no-raise":
      return reason.code === binding.reason.code && placeOf(reason) === placeOf(binding.reason);
  }
}

function placeOf(reason: Reason): string | undefined {
  return "bucket" in reason && reason.bucket !== undefined ? bucketText(reason.bucket) : undefined;
}

function isRaised(raise: Raise, reason: Reason): boolean {
  if (raise.of === "pool")
    return (reason.code === "pool-empty" || reason.code === "unknown-pool") && reason.pool === raise.pool;
  const { limit } = raise;
  if (reason.code === "group-too-large")
    return limit.kind === "placement-group" && limit.name === bucketText(reason.bucket);
  if (reason.code !== "limit-reached") return false;
  return (
    reason.limit.kind === limit.kind && reason.limit.name === limit.name && reason.limit.unit === limit.unit
  );
}
