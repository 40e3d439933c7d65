import type { Bodies } from "../../domain/bodies.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { Problem } from "../../domain/demand.ts";
import type { LimitId } from "../../domain/limit.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { catalogueOf } from "../../domain/vm-size-data.ts";
import type { LimitChange } from "../../domain/what-if.ts";
import type { BucketOffer, World } from "../../domain/world.ts";
import { MOST_NODES, findBucket, unknownName, withBucket } from "./change-buckets.ts";
import { changeLimit } from "./change-limits.ts";
import { storedWorld } from "../need/stored-world.ts";

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
  const present = roomOf(before, offer);
  const future = roomOf(after, then);
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

interface Room {
  /** Nodes that the bucket's own limit leaves. */
  readonly own: number;
  /** Nodes that its other limits leave. */
  readonly shared: number;
  /** Nodes that its other limits would allow if nothing else used them. */
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
