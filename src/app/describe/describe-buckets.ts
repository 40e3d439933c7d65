import type { UnderWay } from "../../decide/need/stored-world.ts";
import { storedWorld } from "../../decide/need/stored-world.ts";
import type { BucketOffer, SharedLimit, World } from "../../domain/world.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import { amountOf } from "../../domain/resources.ts";
import { bucketText } from "../../domain/bucket.ts";
import type { StatusBucket, Snapshot } from "../../domain/cluster.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import { sameMachineType } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import { limitText } from "../../domain/limit.ts";
import { renderReason } from "../../domain/reason-text.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime } from "../../domain/units.ts";
import type { BucketShown, LimitShown } from "../../wire/api/cluster-buckets.ts";
import { quoteText } from "../../domain/secrets.ts";
import { viewOf } from "../../decide/bins/empty-node-fit.ts";
import { inGroup } from "../../decide/bins/new-node.ts";
import { compileAll } from "../../decide/constraints/match.ts";
import { takeApart } from "../../decide/constraints/requirements.ts";
import type { Constraint } from "../../domain/constraint.ts";

/**
 * Every bucket of the arrays that are ours, in order of preference, with all limits on a new node there: the starting point of the next
 * plan if it were made on the last accepted observation. `fits`: only those whose new nodes meet these constraints, apart from pools.
 */
export function describeBuckets(
  record: UnderWay,
  bodies: Pick<Bodies, "seen" | "ledger">,
  policy: Policy,
  now: Instant,
  fits: readonly Constraint[] = [],
): readonly BucketShown[] {
  const world = storedWorld(record, bodies, policy, now);
  const { seen } = bodies;
  if (world === undefined || seen === undefined) return [];
  const isMeant = judgeOf(fits);
  return world.buckets.flatMap((offer) => {
    const reported = findBucket(seen, offer.bucket);
    if (reported === undefined) return [];
    const groups = groupsOf(offer, reported)
      .filter((group) => isMeant(offer, group))
      .map((group) => groupRow(world, offer, reported, group, record, now));
    return isMeant(offer, undefined) ? [wholeRow(world, offer, reported, record, now), ...groups] : groups;
  });
}

type IsMeant = (offer: BucketOffer, group: PlacementGroup | undefined) => boolean;

/** Whether a new node meets the constraints, in a placement group or in none. */
function judgeOf(fits: readonly Constraint[]): IsMeant {
  if (fits.length === 0) return () => true;
  const judge = compileAll(takeApart(fits).rest);
  return (offer, group) => {
    const bucket = group === undefined ? offer.bucket : { ...offer.bucket, placementGroup: group };
    return judge(viewOf(inGroup(offer, bucket)), NO_POOLS).kind === "met";
  };
}

const NO_POOLS = { left: new Map<string, number>(), values: new Map<string, string>() };

function findBucket(seen: Snapshot, { array, machineType }: BucketKey): StatusBucket | undefined {
  return seen.arrays
    .find(({ name }) => name === array)
    ?.buckets.find((bucket) => sameMachineType(bucket.machineType, machineType));
}

function wholeRow(
  world: World,
  offer: BucketOffer,
  reported: StatusBucket,
  record: UnderWay,
  now: Instant,
): BucketShown {
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
    closed: closed === undefined ? undefined : renderReason(closed),
    limits: limits.map(describeLimit),
    backoff: describeBackoff(record, offer.bucket, now),
  };
}

function groupRow(
  world: World,
  offer: BucketOffer,
  reported: StatusBucket,
  group: PlacementGroup,
  record: UnderWay,
  now: Instant,
): BucketShown {
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
    closed: closed === undefined ? undefined : renderReason(closed),
    limits: own.map(describeLimit),
    backoff: describeBackoff(record, bucket, now),
  };
}

function common(
  offer: BucketOffer,
  reported: StatusBucket,
): Omit<BucketShown, "active" | "available" | "closed" | "limits" | "backoff"> {
  const { bucket, price, spot, capacityFailureSeconds } = offer;
  return {
    nodearray: bucket.array,
    machineType: bucket.machineType,
    placementGroup: undefined,
    valid: reported.valid,
    invalidReason: reported.valid ? undefined : quoteText(reported.invalidReason ?? "no reason given"),
    spot: spot === true,
    vcpus: reported.machine.vcpus,
    memoryGib: reported.machine.memoryGib,
    // The status of many sizes says 0 where the plan knows better.
    gpus: Math.max(reported.machine.gpus, amountOf(offer.resources["ngpus"])),
    price,
    lastCapacityFailureSeconds: capacityFailureSeconds,
  };
}

/** Groups with nodes, and groups that are named for the bucket, without duplicates. */
function groupsOf(offer: BucketOffer, reported: StatusBucket): readonly PlacementGroup[] {
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

function describeLimit({ id, used, max, left }: SharedLimit): LimitShown {
  const { kind, name, unit, guessed } = id;
  return { limit: limitText(id), kind, name, guessed, unit, used, max, left };
}

function describeBackoff(record: UnderWay, bucket: BucketKey, now: Instant): BucketShown["backoff"] {
  const backoff = record.backoffs.find(
    (one) =>
      one.until > now &&
      one.bucket.array === bucket.array &&
      sameMachineType(one.bucket.machineType, bucket.machineType) &&
      one.bucket.placementGroup === bucket.placementGroup,
  );
  if (backoff === undefined) return undefined;
  const { until, seconds, cause, message } = backoff;
  return { until: isoTime(until), seconds, cause, message };
}
