import type { UnderWay } from "../decide/need/stored-world.ts";
import { storedWorld } from "../decide/need/stored-world.ts";
import type { BucketOffer, SharedLimit, World } from "../domain/allocation.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { BucketKey } from "../domain/bucket.ts";
import { bucketText } from "../domain/bucket.ts";
import type { Bucket, Snapshot } from "../domain/cluster.ts";
import type { PlacementGroup } from "../domain/ids.ts";
import { sameMachineType } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import type { LimitKind } from "../domain/reason.ts";
import { limitText, renderReason } from "../domain/reason.ts";
import type { Backoff } from "../domain/backoff.ts";
import type { Instant, Seconds } from "../domain/units.ts";
import { isoTime } from "../domain/units.ts";

/** A limit on new nodes. `left` may be less than `max - used` if CycleCloud reports less. */
export interface DescribedLimit {
  /** As text: "family quota standardHBv3Family". */
  readonly limit: string;
  readonly kind: LimitKind;
  readonly name: string;
  /** The family whose quota it counts against is guessed from the name of the VM size. */
  readonly guessed?: true;
  readonly unit: "nodes" | "cores";
  /** Requested nodes that are not shown yet count as used. */
  readonly used: number;
  readonly max: number;
  readonly left: number;
}

/** A bucket. A row with a placement group shows the group's own limit; the limits of the row without one apply too. */
export interface DescribedBucket {
  readonly nodearray: string;
  readonly machineType: string;
  readonly placementGroup?: string;
  /** False: CycleCloud makes no new nodes here. */
  readonly valid: boolean;
  readonly invalidReason?: string;
  readonly spot: boolean;
  readonly vcpus: number;
  readonly memoryGib: number;
  readonly gpus: number;
  /** Price of one node per hour, in the currency of the price table. */
  readonly price?: number;
  /** Nodes of the row, including nodes that are being stopped. */
  readonly active: number;
  /** Number of nodes that could be made here now under all limits. 0 while it backs off. */
  readonly available: number;
  /** Why no new nodes are made here although there may be room. */
  readonly closed?: string;
  readonly limits: readonly DescribedLimit[];
  readonly backoff?: DescribedBackoff;
  readonly lastCapacityFailureSeconds?: Seconds;
}

export interface DescribedBackoff {
  readonly until: string;
  readonly seconds: Seconds;
  readonly cause: Backoff["cause"];
  readonly message: string;
}

/**
 * Every bucket of the arrays that are ours, in order of preference, with all limits on a new node there: the starting point of the next
 * plan if it were made on the last accepted observation.
 */
export function describeBuckets(
  record: UnderWay,
  bodies: Pick<Bodies, "seen" | "ledger">,
  policy: Policy,
  now: Instant,
): readonly DescribedBucket[] {
  const world = storedWorld(record, bodies, policy, now);
  const { seen } = bodies;
  if (world === undefined || seen === undefined) return [];
  return world.buckets.flatMap((offer) => {
    const reported = findBucket(seen, offer.bucket);
    if (reported === undefined) return [];
    const groups = groupsOf(offer, reported).map((group) =>
      groupRow(world, offer, reported, group, record, now),
    );
    return [wholeRow(world, offer, reported, record, now), ...groups];
  });
}

function findBucket(seen: Snapshot, { array, machineType }: BucketKey): Bucket | undefined {
  return seen.arrays
    .find(({ name }) => name === array)
    ?.buckets.find((bucket) => sameMachineType(bucket.machineType, machineType));
}

function wholeRow(
  world: World,
  offer: BucketOffer,
  reported: Bucket,
  record: UnderWay,
  now: Instant,
): DescribedBucket {
  const limits = offer.charges.flatMap(({ limit, guessed }) => {
    const known = world.limits[limit];
    if (known === undefined) return [];
    return [guessed === true ? { ...known, id: { ...known.id, guessed } } : known];
  });
  const closed = world.closed ?? offer.refusal;
  return {
    ...common(offer, reported),
    active: reported.activeCount,
    available: closed === undefined ? roomUnder(world, offer) : 0,
    ...(closed === undefined ? {} : { closed: renderReason(closed) }),
    limits: limits.map(describeLimit),
    ...describeBackoff(record, offer.bucket, now),
  };
}

function groupRow(
  world: World,
  offer: BucketOffer,
  reported: Bucket,
  group: PlacementGroup,
  record: UnderWay,
  now: Instant,
): DescribedBucket {
  const bucket = { ...offer.bucket, placementGroup: group };
  const used = offer.groupSizes.get(group) ?? 0;
  const max = offer.maxPlacementGroupSize;
  const left = max === undefined ? Number.POSITIVE_INFINITY : Math.max(0, max - used);
  const closed = world.closed ?? offer.refusal ?? offer.groupRefusals?.get(group);
  const name = bucketText(bucket);
  const own: SharedLimit[] =
    max === undefined ? [] : [{ id: { kind: "placement-group", name, unit: "nodes" }, used, max, left }];
  return {
    ...common(offer, reported),
    placementGroup: group,
    active: used,
    available: closed === undefined ? Math.min(left, roomUnder(world, offer)) : 0,
    ...(closed === undefined ? {} : { closed: renderReason(closed) }),
    limits: own.map(describeLimit),
    ...describeBackoff(record, bucket, now),
  };
}

function common(
  offer: BucketOffer,
  reported: Bucket,
): Omit<DescribedBucket, "active" | "available" | "limits"> {
  const { bucket, price, spot, capacityFailureSeconds } = offer;
  return {
    nodearray: bucket.array,
    machineType: bucket.machineType,
    valid: reported.valid,
    ...(reported.valid ? {} : { invalidReason: reported.invalidReason ?? "no reason given" }),
    spot: spot === true,
    vcpus: reported.machine.vcpus,
    memoryGib: reported.machine.memoryGib,
    gpus: reported.machine.gpus,
    ...(price === undefined ? {} : { price }),
    ...(capacityFailureSeconds === undefined ? {} : { lastCapacityFailureSeconds: capacityFailureSeconds }),
  };
}

/** Groups with nodes, and groups that are named for the bucket, without duplicates. */
function groupsOf(offer: BucketOffer, reported: Bucket): readonly PlacementGroup[] {
  const inUse = [...offer.groupSizes].filter(([, nodes]) => nodes > 0).map(([name]) => name);
  const known = reported.placementGroups.map(({ name }) => name);
  const pinned = offer.pinnedGroup === undefined ? [] : [offer.pinnedGroup];
  const resting = [...(offer.groupRefusals?.keys() ?? [])];
  return [...new Set([...pinned, ...(offer.configuredGroups ?? []), ...known, ...inUse, ...resting])];
}

/** Number of nodes that all limits together still allow. */
function roomUnder(world: World, offer: BucketOffer): number {
  const rooms = offer.charges.map(({ limit, amount }) =>
    amount > 0 ? Math.floor((world.limits[limit]?.left ?? 0) / amount) : Number.POSITIVE_INFINITY,
  );
  const least = Math.min(...rooms);
  return Number.isFinite(least) ? Math.max(0, least) : 0;
}

function describeLimit({ id, used, max, left }: SharedLimit): DescribedLimit {
  const { kind, name, unit, guessed } = id;
  const mark = guessed === true ? { guessed } : {};
  return { limit: limitText(id), kind, name, ...mark, unit, used, max, left };
}

function describeBackoff(
  record: UnderWay,
  bucket: BucketKey,
  now: Instant,
): Pick<DescribedBucket, "backoff"> {
  const backoff = record.backoffs.find(
    (one) =>
      one.until > now &&
      one.bucket.array === bucket.array &&
      sameMachineType(one.bucket.machineType, bucket.machineType) &&
      one.bucket.placementGroup === bucket.placementGroup,
  );
  if (backoff === undefined) return {};
  const { until, seconds, cause, message } = backoff;
  return { backoff: { until: isoTime(until), seconds, cause, message } };
}
