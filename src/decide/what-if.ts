import type { BucketOffer, World } from "../domain/world.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { BucketKey } from "../domain/bucket.ts";
import { bucketText } from "../domain/bucket.ts";
import type { Bucket, Snapshot } from "../domain/cluster.ts";
import type { Problem } from "../domain/demand.ts";
import { sameMachineType } from "../domain/ids.ts";
import { nearest } from "../domain/nearest.ts";
import type { Policy } from "../domain/policy.ts";
import type { LimitId } from "../domain/limit.ts";
import type { Backoff } from "../domain/backoff.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import type { BucketChange, LimitChange, WhatIf } from "../domain/what-if.ts";
import { catalogueOf } from "../domain/vm-size-data.ts";
import { accept } from "./record/accept.ts";
import { changeLimit } from "./change-limits.ts";
import { storedWorld } from "./need/stored-world.ts";
import { someOf } from "../domain/some-of.ts";

/** A cluster's state as it would be with other inputs. */
export type Supposed =
  | { readonly kind: "state"; readonly record: ClusterRecord; readonly bodies: Bodies }
  /** Changes of what is not there, or more demand than a cluster may hold. */
  | { readonly kind: "unknown"; readonly problems: readonly Problem[] };

/**
 * The stored state with the changed inputs put in: demand is accepted as if it had come just now, limits and buckets are changed in the
 * last believed observation. Where the limits that are known explain how many nodes CycleCloud offers in a bucket, raising them raises that, too;
 * where it offers fewer, for reasons of its own, it goes on doing so.
 */
export function suppose(
  record: ClusterRecord,
  bodies: Bodies,
  seen: Snapshot,
  { policy, updates, limits, buckets }: WhatIf,
  now: Instant,
): Supposed {
  const problems: Problem[] = [];
  const enabled = enable(record, seen, buckets, problems);
  const before = { record: enabled.record, bodies: { ...bodies, seen: enabled.snapshot } };
  const raised = raise(before.record, before.bodies, enabled.snapshot, policy, limits, now, problems);
  if (problems.length > 0) return { kind: "unknown", problems };
  const demands = new Map(bodies.demands);
  const reports = new Map(bodies.reports);
  let next = enabled.record;
  for (const update of updates) {
    const accepted = accept(next, update, now);
    if (accepted.kind === "too-much") {
      const path = `requestSets.${update.set}`;
      return { kind: "unknown", problems: [{ ...accepted.problem, path }] };
    }
    if (accepted.kind !== "accepted") continue;
    next = accepted.record;
    for (const [digest, body] of accepted.demands) demands.set(digest, body);
    for (const [digest, body] of accepted.reports) reports.set(digest, body);
  }
  return { kind: "state", record: next, bodies: { ...bodies, demands, reports, seen: raised } };
}

// ---------------------------------------------------------------- buckets

const CLOSED = "not offered, as was asked for this plan";

function enable(
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
    snapshot = withBucket(snapshot, change, enableOne(bucket, change.enabled));
    if (change.enabled) backoffs = backoffs.filter((backoff) => !pauses(backoff, change));
  });
  return { record: { ...record, backoffs }, snapshot };
}

function enableOne(bucket: Bucket, enabled: boolean): Bucket {
  const { invalidReason: _why, ...rest } = bucket;
  if (!enabled) return { ...rest, valid: false, invalidReason: CLOSED };
  if (bucket.valid && bucket.availableCount > 0) return bucket;
  // Nothing is offered of what is not valid: what its other limits leave is all that is known of it.
  const own = bucket.maxCount === undefined ? MOST_NODES : Math.max(0, bucket.maxCount - bucket.activeCount);
  return { ...rest, valid: true, availableCount: Math.max(bucket.availableCount, own) };
}

/** More than any cluster has. */
const MOST_NODES = 1_000_000;

function pauses({ bucket }: Backoff, { array, machineType }: BucketChange): boolean {
  return bucket.array === array && sameMachineType(bucket.machineType, machineType);
}

type Place = Pick<BucketKey, "array" | "machineType">;

function findBucket(snapshot: Snapshot, { array, machineType }: Place): Bucket | undefined {
  return snapshot.arrays
    .find(({ name }) => name === array)
    ?.buckets.find((bucket) => sameMachineType(bucket.machineType, machineType));
}

function withBucket(snapshot: Snapshot, { array, machineType }: Place, changed: Bucket): Snapshot {
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

function unknownBucket(seen: Snapshot, { array, machineType }: Place, path: string): Problem {
  const known = seen.arrays.flatMap(({ name, buckets }) =>
    buckets.map((bucket) => bucketText({ array: name, machineType: bucket.machineType })),
  );
  const asked = bucketText({ array, machineType });
  return unknownName(path, asked, "a bucket of the cluster", known);
}

/** The most names in one sentence. */
const NAMED = 20;

function unknownName(path: string, asked: string, what: string, known: readonly string[]): Problem {
  const near = nearest(asked, known);
  const expected = `${what}: ${someOf(known, NAMED) || "there is none"}`;
  return { path, found: asked, expected, ...(near === undefined ? {} : { didYouMean: near }) };
}

// ---------------------------------------------------------------- limits

function raise(
  record: ClusterRecord,
  bodies: Bodies,
  seen: Snapshot,
  policy: Policy,
  changes: readonly LimitChange[],
  now: Instant,
  problems: Problem[],
): Snapshot {
  if (changes.length === 0) return seen;
  const before = storedWorld(record, bodies, policy, now);
  let snapshot = seen;
  changes.forEach((change, index) => {
    const changed = changeLimit(snapshot, change, catalogueOf(policy));
    if (!changed.found) problems.push(unknownLimit(before, change, `limits[${index}]`));
    snapshot = changed.snapshot;
  });
  const after = storedWorld(record, { ...bodies, seen: snapshot }, policy, now);
  if (before === undefined || after === undefined) return snapshot;
  return before.buckets.reduce((state, offer, i) => {
    const then = after.buckets[i];
    return then === undefined ? state : followLimits(state, before, offer, after, then);
  }, snapshot);
}

function unknownLimit(world: World | undefined, change: LimitChange, path: string): Problem {
  const known = (world?.limits ?? []).map(({ id }) => idText(id));
  const asked = idText(change);
  return unknownName(path, asked, "a limit of the cluster", [...new Set(known)]);
}

const idText = ({ kind, name, unit }: Pick<LimitId, "kind" | "name" | "unit">): string =>
  name === "" ? `${kind} in ${unit}` : `${kind} ${name} in ${unit}`;

/**
 * What CycleCloud offers in a bucket rises with its limits, if these were what bounded it; so does the most that it may hold, which
 * CycleCloud works out from the same limits where the array has none of its own (cyclecloud-wire.md A.3).
 */
function followLimits(
  snapshot: Snapshot,
  before: World,
  offer: BucketOffer,
  after: World,
  then: BucketOffer,
): Snapshot {
  const present = roomOf(before, offer);
  const future = roomOf(after, then);
  const bucket = findBucket(snapshot, offer.bucket);
  // Its own limit is among the changed ones: that was meant.
  if (bucket === undefined || future.own !== present.own) return snapshot;
  const more = present.own < present.shared ? 0 : Math.max(0, future.shared - present.own);
  const grown = (most: number, each: number): number =>
    Math.floor(most / each) < present.ceiling ? most : Math.max(most, future.ceiling * each);
  return withBucket(snapshot, offer.bucket, {
    ...bucket,
    availableCount: bucket.availableCount + more,
    ...(bucket.maxCount === undefined ? {} : { maxCount: grown(bucket.maxCount, 1) }),
    ...(bucket.maxCoreCount === undefined || bucket.machine.vcpus <= 0
      ? {}
      : { maxCoreCount: grown(bucket.maxCoreCount, bucket.machine.vcpus) }),
  });
}

interface Room {
  /** Nodes that the bucket's own limit leaves. */
  readonly own: number;
  /** Nodes that all its others leave, and allow in all if nobody else used them. */
  readonly shared: number;
  readonly ceiling: number;
}

function roomOf(world: World, { charges }: BucketOffer): Room {
  let [own, shared, ceiling] = [MOST_NODES, MOST_NODES, MOST_NODES];
  for (const { limit, amount } of charges) {
    const known = world.limits[limit];
    if (known === undefined || amount <= 0) continue;
    const room = Math.floor(known.left / amount);
    if (known.id.kind === "bucket") own = Math.min(own, room);
    else {
      shared = Math.min(shared, room);
      ceiling = Math.min(ceiling, Math.floor(known.max / amount));
    }
  }
  return { own, shared, ceiling };
}
