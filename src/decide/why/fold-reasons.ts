import type { BucketKey } from "../../domain/bucket.ts";
import { canonicalText } from "../../domain/canonical.ts";
import type { ArrayName } from "../../domain/ids.ts";
import { nearest } from "../../domain/nearest.ts";
import type { Across, Reason } from "../../domain/reason.ts";
import { rankOfReason } from "../../domain/binding-reason.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { valueText } from "../../domain/refusal.ts";
import { bucketId, bucketIdWithoutGroup } from "../../domain/bucket.ts";

/** Reasons as an outcome keeps them: alike ones as one, and not more of them than a page can show. */
export interface Gathered {
  readonly reasons: readonly Reason[];
  /** How many more there were; absent: none. */
  readonly moreReasons?: number;
}

/** An outcome keeps so many reasons: a cluster of hundreds of buckets refuses for a handful of them. */
const MOST_REASONS = 12;

/** Two buckets that lack the same are two lines, as each says its own numbers; from three on they are one. */
const FOLD_FROM = 3;

const NAMED_BUCKETS = 3;
const NAMED_VALUES = 3;

const GATHERED_NONE: Gathered = { reasons: [] };

/**
 * Makes one reason of those that say the same of several buckets: first what bounds buckets that the demand could use, then what keeps it
 * from others, each in the order in which they first came. A shared limit is named once,
 * whoever runs into it. Nothing is lost but the numbers of each bucket: every bucket is counted. Demands that share
 * one list of reasons share the result.
 */
export function gatherReasons(reasons: readonly Reason[]): Gathered {
  if (reasons.length === 0) return GATHERED_NONE;
  const known = gathered.get(reasons);
  if (known !== undefined) return known;
  const made = gather(reasons);
  gathered.set(reasons, made);
  return made;
}

/** Lists that several demands share are gathered once. */
const gathered = new WeakMap<readonly Reason[], Gathered>();

function gather(reasons: readonly Reason[]): Gathered {
  const alike = new Map<string, Reason[]>();
  for (const reason of reasons) {
    const key = likeness(reason);
    const others = alike.get(key);
    if (others === undefined) alike.set(key, [reason]);
    else others.push(reason);
  }
  const folded = [...alike.values()].flatMap(fold).toSorted((a, b) => rankOfReason(a) - rankOfReason(b));
  if (folded.length <= MOST_REASONS) return { reasons: folded };
  return { reasons: folded.slice(0, MOST_REASONS), moreReasons: folded.length - MOST_REASONS };
}

/** Reasons of one likeness may become one. */
function likeness(reason: Reason): string {
  switch (reason.code) {
    case "limit-reached":
      // Each placement group has a limit of its own; what they have in common is the bucket.
      return reason.limit.kind === "placement-group" && reason.bucket !== undefined
        ? `group/${bucketIdWithoutGroup(reason.bucket)}`
        : `limit/${reason.limit.kind}/${reason.limit.unit}/${reason.limit.name}/${reason.starting === true}`;
    case "does-not-fit":
      // The numbers of one bucket stand for all: they must ask the same.
      return `fit/${reason.resource}/${reason.asked}/${reason.unit ?? ""}`;
    case "requirement":
      return `requirement/${refusalLikeness(reason.refusal)}`;
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

/** What each bucket has differs; what is asked does not. */
function refusalLikeness(refusal: Refusal): string {
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
  const reasons = withoutTwins(all);
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

/** The same bucket may refuse the same several times: once for each of its groups. */
function withoutTwins(reasons: readonly Reason[]): readonly Reason[] {
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

/** How far the reason's bucket is from serving; the earliest end of a pause counts as the least. */
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
  const most = Math.max(...reasons.map((reason) => ("asked" in reason ? reason.asked : 0)));
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
    ...(near === undefined ? {} : { nearest: near }),
  };
}
