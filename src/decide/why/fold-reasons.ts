import type { BucketKey } from "../../domain/bucket.ts";
import { canonicalText } from "../../domain/digest.ts";
import type { ArrayName } from "../../domain/ids.ts";
import { nearest } from "../../domain/nearest.ts";
import type { Across, Reason } from "../../domain/reason.ts";
import { rankOfReason } from "../../domain/reasons-in-order.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { valueText } from "../../domain/refusal.ts";
import { bucketId, bucketIdWithoutGroup } from "../../domain/bucket.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** The reasons of an outcome: similar ones folded into one, and no more than a page can show. */
interface Gathered {
  readonly reasons: readonly Reason[];
  /** Number of reasons left out. Absent: none. */
  readonly moreReasons?: number;
}

/** Maximum number of reasons of an outcome. A cluster with hundreds of buckets has only a few different ones. */
const MOST_REASONS = 12;

/** From this number of buckets on, equal reasons are folded into one. Below it each bucket has a line with its own numbers. */
const FOLD_FROM = 3;

const NAMED_BUCKETS = 3;
const NAMED_VALUES = 3;

const GATHERED_NONE: Gathered = { reasons: [] };

/**
 * Folds reasons that say the same about several buckets into one. Reasons about buckets that the demand could use come first, then the
 * others, each in the order of their first occurrence. A shared limit is named once. Every bucket is counted; only the numbers of each
 * bucket are lost. Demands that share one list of reasons share the result.
 */
export function gatherReasons(reasons: readonly Reason[]): Gathered {
  if (reasons.length === 0) return GATHERED_NONE;
  const known = gathered.get(reasons);
  if (known !== undefined) return known;
  const made = gather(reasons);
  gathered.set(reasons, made);
  return made;
}

/** Results by list of reasons: several demands may share a list. */
const gathered = new WeakMap<readonly Reason[], Gathered>();

function gather(reasons: readonly Reason[]): Gathered {
  const alike = new Map<string, Reason[]>();
  for (const reason of reasons) {
    const key = keyOf(reason);
    const others = alike.get(key);
    if (others === undefined) alike.set(key, [reason]);
    else others.push(reason);
  }
  const folded = [...alike.values()].flatMap(fold).toSorted((a, b) => rankOfReason(a) - rankOfReason(b));
  if (folded.length <= MOST_REASONS) return { reasons: folded };
  return { reasons: folded.slice(0, MOST_REASONS), moreReasons: folded.length - MOST_REASONS };
}

/** Reasons with the same key can be folded into one. */
function keyOf(reason: Reason): string {
  switch (reason.code) {
    case "limit-reached":
      // Each placement group has a limit of its own. The bucket is what they have in common.
      return reason.limit.kind === "placement-group" && reason.bucket !== undefined
        ? `group/${bucketIdWithoutGroup(reason.bucket)}`
        : `limit/${reason.limit.kind}/${reason.limit.unit}/${reason.limit.name}/${reason.starting === true}`;
    case "does-not-fit":
      // The numbers of one bucket represent all, so the amounts asked must be equal.
      return `fit/${reason.resource}/${reason.asked}/${reason.unit ?? ""}`;
    case "requirement":
      return `requirement/${keyOfRefusal(reason.refusal)}`;
    case "bucket-invalid":
      return `invalid/${reason.why}`;
    case "backing-off":
      return `pause/${reason.message}`;
    case "group-too-large":
      return `group-size/${reason.max}`;
    case "group-filling":
    case "group-given-up":
      return `${reason.code}/${bucketId(reason.bucket)}`;
    case "no-placement-group":
    case "no-new-group":
    case "spot-not-allowed":
    case "not-spot":
      return reason.code;
    case "bound-elsewhere":
      return `home/${bucketId(reason.home)}`;
    default:
      return canonicalText(reason);
  }
}

/** A key without the values of the bucket: they differ, while what is asked does not. */
function keyOfRefusal(refusal: Refusal): string {
  switch (refusal.code) {
    case "invalid-option":
      return canonicalText([refusal.what, refusal.options]);
    case "capacity-failure-backoff":
      return `${refusal.code}/${refusal.seconds}`;
    default:
      return canonicalText(refusal);
  }
}

function fold(all: readonly Reason[]): readonly Reason[] {
  const reasons = withoutDuplicates(all);
  const [only] = reasons;
  if (only === undefined || (only.code !== "limit-reached" && reasons.length < FOLD_FROM)) return reasons;
  const buckets = distinctBuckets(reasons);
  const least = reasons.reduce((best, one) => (lacking(one) < lacking(best) ? one : best));
  if (buckets.length < 2) return [least];
  const across: Across = {
    some: buckets.slice(0, NAMED_BUCKETS),
    sizes: countSizes(buckets),
    ...askedRange(reasons, least),
    ...foundValues(reasons),
  };
  return [{ ...least, across }];
}

/** Removes duplicates: a bucket can refuse for the same reason once for each of its groups. */
function withoutDuplicates(reasons: readonly Reason[]): readonly Reason[] {
  const seen = new Set<string>();
  return reasons.filter((reason) => {
    if (reason.code === "limit-reached") return true;
    const key = "bucket" in reason ? bucketId(reason.bucket) : "";
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function distinctBuckets(reasons: readonly Reason[]): readonly BucketKey[] {
  const buckets = new Map<string, BucketKey>();
  for (const reason of reasons) {
    if (!("bucket" in reason) || reason.bucket === undefined) continue;
    const id = bucketIdWithoutGroup(reason.bucket);
    if (!buckets.has(id)) buckets.set(id, reason.bucket);
  }
  return [...buckets.values()];
}

function countSizes(buckets: readonly BucketKey[]): Across["sizes"] {
  const counts = new Map<ArrayName, number>();
  for (const { array } of buckets) counts.set(array, (counts.get(array) ?? 0) + 1);
  return [...counts].map(([array, count]) => ({ array, count }));
}

/** How far the reason's bucket is from serving the demand. Of pauses the earliest end is the least. */
function lacking(reason: Reason): number {
  switch (reason.code) {
    case "limit-reached":
      return reason.asked - reason.left;
    case "does-not-fit":
      return reason.asked - reason.offered;
    case "group-too-large":
      return reason.asked;
    case "backing-off":
      return reason.until;
    default:
      return 0;
  }
}

function askedRange(reasons: readonly Reason[], least: Reason): Pick<Across, "askedMost"> {
  if (least.code !== "limit-reached" && least.code !== "group-too-large") return {};
  const most = Math.max(...reasons.map((reason) => ("max" in reason ? reason.asked : 0)));
  return most > least.asked ? { askedMost: most } : {};
}

function foundValues(reasons: readonly Reason[]): Pick<Across, "found" | "nearest"> {
  const [first] = reasons;
  if (first?.code !== "requirement" || first.refusal.code !== "invalid-option") return {};
  const found = new Set<string>();
  for (const reason of reasons) {
    if (reason.code === "requirement" && reason.refusal.code === "invalid-option")
      found.add(valueText(reason.refusal.found));
  }
  const options = first.refusal.options.filter((option) => typeof option === "string");
  const near = options.map((option) => nearest(option, [...found])).find((name) => name !== undefined);
  const named = [...found].slice(0, NAMED_VALUES);
  const more = found.size - named.length;
  return {
    found: more > 0 ? [...named, `${more} more`] : named,
    ...withoutAbsent({ nearest: near }),
  };
}
