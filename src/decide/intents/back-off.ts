import type { BucketKey } from "../../domain/bucket.ts";
import { bucketText } from "../../domain/bucket.ts";
import type { ArrayName } from "../../domain/ids.ts";
import type { Backoff } from "../../domain/backoff.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";

const FIRST_BACKOFF_SECONDS: Seconds = 60;
const LONGEST_BACKOFF_SECONDS: Seconds = 1800;

/** The key of a pause: a bucket, or the part of it that one dynamic array uses. */
export function pauseKey({
  bucket,
  dynamic,
}: {
  bucket: BucketKey;
  dynamic?: ArrayName | undefined;
}): string {
  return [dynamic, bucketText(bucket)].join("\n");
}

/**
 * Pauses a bucket for 60 s. Each further failure doubles the pause, up to 30 min. With `dynamic` it pauses for that dynamic array only, because
 * the attributes of that array may be the cause.
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

/**
 * Removes pauses that ended long ago. The next failure of their bucket then begins with the shortest pause. A pause for nodes that went down
 * stays until a node of the bucket has lasted (stops/short-lives.ts).
 */
export function forgetOldBackoffs(backoffs: readonly Backoff[], now: Instant): readonly Backoff[] {
  const kept = backoffs.filter(
    ({ cause, until }) => cause === "went-down" || secondsBetween(until, now) < LONGEST_BACKOFF_SECONDS,
  );
  return kept.length === backoffs.length ? backoffs : kept;
}
