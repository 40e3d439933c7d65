import type { BucketKey } from "../../domain/bucket.ts";
import { bucketText } from "../../domain/bucket.ts";
import type { ArrayName } from "../../domain/ids.ts";
import type { Backoff } from "../../domain/backoff.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";

const FIRST_BACKOFF_SECONDS: Seconds = 60;
const LONGEST_BACKOFF_SECONDS: Seconds = 1800;

/** What pauses for itself: a bucket, or what one dynamic array has of it. */
export function pauseKey({
  bucket,
  dynamic,
}: {
  bucket: BucketKey;
  dynamic?: ArrayName | undefined;
}): string {
  return `${dynamic ?? ""}\n${bucketText(bucket)}`;
}

/**
 * Pauses a bucket: 60 s, and twice as long each time it fails again, up to 30 min. With `dynamic` only for that dynamic array: what it
 * lays over the attributes of the array that it extends may be what is wrong.
 */
export function backOff(
  record: ClusterRecord,
  bucket: BucketKey,
  cause: Backoff["cause"],
  message: string,
  now: Instant,
  dynamic?: ArrayName,
): ClusterRecord {
  const key = pauseKey({ bucket, dynamic });
  const earlier = record.backoffs.find((entry) => pauseKey(entry) === key);
  if (earlier !== undefined && earlier.until > now) return record;
  const seconds =
    earlier === undefined ? FIRST_BACKOFF_SECONDS : Math.min(LONGEST_BACKOFF_SECONDS, earlier.seconds * 2);
  const entry: Backoff = {
    bucket,
    ...(dynamic === undefined ? {} : { dynamic }),
    until: plusSeconds(now, seconds),
    seconds,
    cause,
    message,
  };
  return {
    ...record,
    backoffs: [...record.backoffs.filter((other) => pauseKey(other) !== key), entry],
  };
}

/** Pauses that ended so long ago that the next failure starts from the shortest again. */
export function forgetOldBackoffs(backoffs: readonly Backoff[], now: Instant): readonly Backoff[] {
  const kept = backoffs.filter((entry) => secondsBetween(entry.until, now) < LONGEST_BACKOFF_SECONDS);
  return kept.length === backoffs.length ? backoffs : kept;
}
