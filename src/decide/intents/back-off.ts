import type { BucketKey } from "../../domain/bucket.ts";
import { bucketText } from "../../domain/bucket.ts";
import type { ArrayName } from "../../domain/ids.ts";
import type { Backoff, ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

const FIRST_BACKOFF_SECONDS: Seconds = 60;
const LONGEST_BACKOFF_SECONDS: Seconds = 1800;

/** After nodes that went down soon. An image that was mended waits this long at most. */
const LONGEST_PROBED_SECONDS: Seconds = 7200;
/** A bucket whose nodes went down is probed until this long after its pause. If all its work is short, none of its nodes lasts. */
const PROBED_SECONDS: Seconds = 86_400;

/**
 * The key of a pause: a bucket, or the part of it that one dynamic array uses. A pause for nodes that went down is kept beside others, so that
 * a refusal does not end it.
 */
export function pauseKey({
  bucket,
  dynamic,
  cause,
}: {
  bucket: BucketKey;
  dynamic?: ArrayName | undefined;
  cause?: Backoff["cause"];
}): string {
  return [cause === "went-down" ? cause : "", dynamic, bucketText(bucket)].join("\n");
}

/**
 * Pauses a bucket for 60 s. Each further failure doubles the pause, up to 30 min, or two hours for nodes that went down. With `dynamic` it
 * pauses for that dynamic array only, because the attributes of that array may be the cause.
 */
export function backOff(
  record: ClusterRecord,
  bucket: BucketKey,
  cause: Backoff["cause"],
  message: string,
  now: Instant,
  dynamic?: ArrayName,
): ClusterRecord {
  const key = pauseKey({ bucket, dynamic, cause });
  const earlier = record.backoffs.find((entry) => pauseKey(entry) === key);
  if (earlier !== undefined && earlier.until > now) return record;
  const longest = cause === "went-down" ? LONGEST_PROBED_SECONDS : LONGEST_BACKOFF_SECONDS;
  const seconds = earlier === undefined ? FIRST_BACKOFF_SECONDS : Math.min(longest, earlier.seconds * 2);
  const entry: Backoff = {
    bucket,
    ...withoutAbsent({ dynamic }),
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
 * stays for a day, or until a node of the bucket has lasted (stops/pause-buckets.ts).
 */
export function forgetOldBackoffs(backoffs: readonly Backoff[], now: Instant): readonly Backoff[] {
  const kept = backoffs.filter(
    ({ cause, until }) =>
      secondsBetween(until, now) < (cause === "went-down" ? PROBED_SECONDS : LONGEST_BACKOFF_SECONDS),
  );
  return kept.length === backoffs.length ? backoffs : kept;
}
