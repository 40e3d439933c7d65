import type { Bodies } from "../../domain/bodies.ts";
import type { Snapshot, StatusBucket, CountAndCores, NodeArray, Quota } from "../../domain/cluster.ts";
import type { Problem } from "../../domain/demand.ts";
import type { LimitId } from "../../domain/limit.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { catalogueOf } from "../../domain/vm-size-data.ts";
import type { LimitChange } from "../../domain/what-if.ts";
import type { BucketOffer, World } from "../../domain/world.ts";
import { findBucket, unknownName, withBucket } from "./change-buckets.ts";
import { roomOf } from "../why/raised-world.ts";
import { storedWorld } from "../need/stored-world.ts";
import { bucketText } from "../../domain/bucket.ts";
import type { Catalogue } from "../../domain/catalogue.ts";
import { familyKey, familyOf } from "../world/quota-family.ts";

/** Changes limits, and what CycleCloud offers because of them. Adds a problem for each unknown limit. */
export function raiseLimits(
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
 * Raises what CycleCloud offers in a bucket, if its limits were what bounded it. Raises the maximum of the bucket too, because CycleCloud
 * computes it from the same limits if the array has none of its own (cyclecloud-wire.md A.3).
 */
function followLimits(
  snapshot: Snapshot,
  before: World,
  offer: BucketOffer,
  after: World,
  then: BucketOffer,
): Snapshot {
  const present = roomOf(before.limits, offer);
  const future = roomOf(after.limits, then);
  const bucket = findBucket(snapshot, offer.bucket);
  // Its own limit was changed too, so nothing follows from the others.
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

/** An observation with one limit changed. `found` is false if the cluster has no such limit. */
interface ChangedLimit {
  readonly snapshot: Snapshot;
  readonly found: boolean;
}

/** Changes one limit wherever the observation shows it. The numbers of available nodes stay as they were. */
function changeLimit(snapshot: Snapshot, asked: LimitChange, catalogue: Catalogue): ChangedLimit {
  const change = changeOf(asked);
  let found = false;
  const noting = <T>(value: T): T => {
    found = true;
    return value;
  };
  if (asked.kind === "cluster") {
    const limit = changeCount(snapshot.limit, asked, change);
    return { snapshot: { ...snapshot, limit: limit ?? snapshot.limit }, found: limit !== undefined };
  }
  const arrays = snapshot.arrays.map((array): NodeArray => {
    if (asked.kind === "nodearray") {
      const limit = array.name === asked.name ? changeCount(array.limit, asked, change) : undefined;
      return limit === undefined ? array : noting({ ...array, limit });
    }
    const buckets = array.buckets.map((bucket) => {
      const changed = changeBucket(array, bucket, asked, change, catalogue);
      return changed === undefined ? bucket : noting(changed);
    });
    return { ...array, buckets };
  });
  return { snapshot: { ...snapshot, arrays }, found };
}

/** The new amount for the present one. Never below zero. */
type Amount = (present: number) => number;

function changeOf({ change }: LimitChange): Amount {
  return "max" in change ? () => change.max : (present) => Math.max(0, present + change.more);
}

/** Undefined if there is no such limit to add to. */
function changeCount(limit: CountAndCores, asked: LimitChange, change: Amount): CountAndCores | undefined {
  const key = asked.unit === "nodes" ? "count" : "cores";
  const present = limit[key];
  if (present === undefined && "more" in asked.change) return undefined;
  return { ...limit, [key]: change(present ?? 0) };
}

function changeBucket(
  array: NodeArray,
  bucket: StatusBucket,
  asked: LimitChange,
  change: Amount,
  catalogue: Catalogue,
): StatusBucket | undefined {
  const quota = (key: "familyQuota" | "regionalQuota"): StatusBucket | undefined => {
    const report: Quota | undefined = bucket[key];
    if (report === undefined || asked.unit !== "cores") return undefined;
    return { ...bucket, [key]: { ...report, quotaCores: change(report.quotaCores) } };
  };
  const isRegion = asked.name === (array.region ?? "");
  switch (asked.kind) {
    case "family-quota":
      return array.spot || !isOfFamily(array, bucket, asked.name, catalogue)
        ? undefined
        : quota("familyQuota");
    case "regional-quota":
      return !array.spot && isRegion ? quota("regionalQuota") : undefined;
    case "regional-spot-quota":
      return array.spot && isRegion ? quota("regionalQuota") : undefined;
    case "bucket":
      return isNamed(array, bucket, asked) ? changeOwn(bucket, asked) : undefined;
    case "placement-group": {
      const { maxPlacementGroupSize: size } = bucket;
      if (size === undefined || asked.unit !== "nodes" || !isNamed(array, bucket, asked)) return undefined;
      return { ...bucket, maxPlacementGroupSize: change(size) };
    }
    default:
      return undefined;
  }
}

/** Whether the bucket belongs to the family of this name, in any case of letters. The family of a size may be a guess. */
function isOfFamily(
  array: NodeArray,
  { machineType }: StatusBucket,
  name: string,
  catalogue: Catalogue,
): boolean {
  return familyKey(familyOf(catalogue, array.region, machineType).name) === familyKey(name);
}

/** Whether the change names this bucket. The name of a placement group's limit may also have the group's name after its bucket's. */
function isNamed(array: NodeArray, bucket: StatusBucket, asked: LimitChange): boolean {
  const text = bucketText({ array: array.name, machineType: bucket.machineType });
  return asked.name === text || (asked.kind === "placement-group" && asked.name.startsWith(`${text}/`));
}

/** Changes a bucket's own limit: the nodes that CycleCloud offers there and those in use. */
function changeOwn(bucket: StatusBucket, { unit, change }: LimitChange): StatusBucket | undefined {
  if (unit !== "nodes") return undefined;
  const max = bucket.activeCount + bucket.availableCount;
  const more = "max" in change ? change.max - Math.max(max, bucket.maxCount ?? 0) : change.more;
  return {
    ...bucket,
    availableCount: Math.max(0, bucket.availableCount + more),
    ...(bucket.maxCount === undefined ? {} : { maxCount: Math.max(0, bucket.maxCount + more) }),
    ...(bucket.maxCoreCount === undefined
      ? {}
      : { maxCoreCount: Math.max(0, bucket.maxCoreCount + more * bucket.machine.vcpus) }),
  };
}
