import type { Backoff, ClusterRecord } from "../../domain/record.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import { bucketText } from "../../domain/bucket.ts";
import type { StatusBucket, Snapshot } from "../../domain/cluster.ts";
import type { Problem } from "../../domain/demand.ts";
import { sameMachineType } from "../../domain/ids.ts";
import { nearest } from "../../domain/nearest.ts";
import { someOf } from "../../domain/text.ts";
import type { BucketChange } from "../../domain/what-if.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import { MOST_NODES } from "../why/raised-world.ts";

const CLOSED = "not offered, as was asked for this plan";

/** Enables or disables buckets. A bucket that is enabled does not pause any more. Adds a problem for each unknown bucket. */
export function enableBuckets(
  record: ClusterRecord,
  seen: Snapshot,
  changes: readonly BucketChange[],
  problems: Problem[],
): { readonly record: ClusterRecord; readonly snapshot: Snapshot } {
  let snapshot = seen;
  let { backoffs } = record;
  changes.forEach((change, index) => {
    const bucket = findBucket(snapshot, change);
    if (bucket === undefined) {
      problems.push(unknownBucket(seen, change, `buckets[${index}]`));
      return;
    }
    snapshot = withBucket(snapshot, change, change.enabled ? enable(bucket) : disable(bucket));
    if (change.enabled) backoffs = backoffs.filter((backoff) => !pauses(backoff, change));
  });
  return { record: { ...record, backoffs }, snapshot };
}

const disable = (bucket: StatusBucket): StatusBucket => ({ ...bucket, valid: false, invalidReason: CLOSED });

function enable(bucket: StatusBucket): StatusBucket {
  const { invalidReason: _why, ...rest } = bucket;
  if (bucket.valid && bucket.availableCount > 0) return bucket;
  // CycleCloud offers no nodes in an invalid bucket. What the bucket's maximum leaves is all that is known.
  const own = bucket.maxCount === undefined ? MOST_NODES : Math.max(0, bucket.maxCount - bucket.activeCount);
  return { ...rest, valid: true, availableCount: Math.max(bucket.availableCount, own) };
}

function pauses({ bucket }: Backoff, { array, machineType }: BucketChange): boolean {
  return bucket.array === array && sameMachineType(bucket.machineType, machineType);
}

type BucketName = Pick<BucketKey, "array" | "machineType">;

/** The bucket in an observation. Undefined if it has no such bucket. */
export function findBucket(snapshot: Snapshot, { array, machineType }: BucketName): StatusBucket | undefined {
  return snapshot.arrays
    .find(({ name }) => name === array)
    ?.buckets.find((bucket) => sameMachineType(bucket.machineType, machineType));
}

/** The observation with the bucket replaced. */
export function withBucket(
  snapshot: Snapshot,
  { array, machineType }: BucketName,
  changed: StatusBucket,
): Snapshot {
  const arrays = snapshot.arrays.map((one) =>
    one.name === array
      ? {
          ...one,
          buckets: one.buckets.map((bucket) =>
            sameMachineType(bucket.machineType, machineType) ? changed : bucket,
          ),
        }
      : one,
  );
  return { ...snapshot, arrays };
}

function unknownBucket(seen: Snapshot, { array, machineType }: BucketName, path: string): Problem {
  const known = seen.arrays.flatMap(({ name, buckets }) =>
    buckets.map((bucket) => bucketText({ array: name, machineType: bucket.machineType })),
  );
  const asked = bucketText({ array, machineType });
  return unknownName(path, asked, "a bucket of the cluster", known);
}

/** Maximum number of names in one sentence. */
const NAMED = 20;

/** Characters of a name that a problem quotes. */
const LONGEST_FOUND = 200;

/** The problem of a name that does not exist. `what`: what was expected. */
export function unknownName(path: string, asked: string, what: string, known: readonly string[]): Problem {
  const near = nearest(asked, known);
  const expected = `${what}: ${someOf(known, NAMED) || "there is none"}`;
  const found = asked.length > LONGEST_FOUND ? `${asked.slice(0, LONGEST_FOUND)}…` : asked;
  return { path, found, expected, ...withoutAbsent({ didYouMean: near }) };
}
