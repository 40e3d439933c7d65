import { Capacity } from "../decide/limits.ts";
import { closedTo } from "../decide/closed.ts";
import { poolsInForce } from "../decide/pools.ts";
import { buildWorld } from "../decide/world.ts";
import type { BucketOffer, SharedLimit, World } from "../domain/allocation.ts";
import { amountText } from "../domain/amount-text.ts";
import type { Bodies } from "../domain/bodies.ts";
import { bucketText } from "../domain/bucket.ts";
import type { Bucket, NodeArray, Snapshot } from "../domain/cluster.ts";
import { sameMachineType } from "../domain/ids.ts";
import type { ArrayName, MachineType } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import { limitText, renderReason } from "../domain/reason.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { Resources, ResourceValue } from "../domain/resources.ts";
import { bytesOf } from "../domain/size.ts";
import type { Instant } from "../domain/units.ts";

/** Where nodes can be had and what stands against it, by the very limits that a plan would be held to. */
export interface Offers {
  /** Preferred first; those of node arrays that are not ours last. */
  readonly buckets: readonly DescribedBucket[];
  readonly limits: readonly DescribedLimit[];
}

/** One node array x VM size. */
export interface DescribedBucket {
  readonly bucket: string;
  readonly nodearray: ArrayName;
  readonly machineType: MachineType;
  readonly managed: boolean;
  readonly vcpus: number;
  /** What CycleCloud says of one node's memory; `resources.mem` is what jobs can ask. */
  readonly memoryGib: number;
  readonly gpus: number;
  readonly spot: boolean;
  /** An hour, in the currency of the configuration's table. */
  readonly price?: number;
  /** Nodes that CycleCloud counts there. */
  readonly active: number;
  /** CycleCloud's own word on how many more; one more limit, never the only one. */
  readonly available: number;
  /** How many more nodes a plan could make there now, under all limits. */
  readonly room: number;
  /** The limit that ends the room. */
  readonly boundBy?: string;
  /** Why nothing new at all, whatever the limits. */
  readonly closed?: string;
  /** All limits that a new node counts against, by their place in `limits`, and how much of each. */
  readonly charges: readonly { readonly limit: number; readonly amount: number }[];
  readonly maxPlacementGroupSize?: number;
  readonly placementGroups: readonly { readonly name: string; readonly nodes: number }[];
  /** What jobs can ask of one node: sizes as text. */
  readonly resources: Readonly<Record<string, string | number | boolean | null>>;
}

export interface DescribedLimit {
  /** In words, as reasons name it. */
  readonly limit: string;
  readonly unit: "nodes" | "cores";
  readonly used: number;
  readonly max: number;
  /** Can be less than `max - used` where CycleCloud says so. */
  readonly left: number;
}

/** Buckets and limits by the last believed look, with what is in flight; undefined: there was no look yet. */
export function describeOffers(
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
): Offers | undefined {
  const { seen, ledger } = bodies;
  if (seen === undefined) return undefined;
  const pendingCreates = record.intents.flatMap(({ effect }) => (effect.kind === "create" ? [effect] : []));
  const world = buildWorld({
    snapshot: seen,
    ledger,
    inFlight: record.inFlight,
    pendingCreates,
    backoffs: record.backoffs,
    policy,
    pools: poolsInForce(record, bodies),
    // Who is excluded is no capacity and counts against the limits all the same; the order of nodes matters to a plan only.
    excluded: new Set(),
    order: () => 0,
    now,
  });
  return describeWorld(world, seen, now);
}

/** The same of a cluster that nobody has planned for: nothing in flight, nothing paused. */
export function describeFreshOffers(snapshot: Snapshot, policy: Policy, now: Instant): Offers {
  const nothing = { inFlight: [], pendingCreates: [], backoffs: [], excluded: new Set<never>() };
  const world = buildWorld({ snapshot, ledger: new Map(), policy, order: () => 0, now, ...nothing });
  return describeWorld(world, snapshot, now);
}

function describeWorld(world: World, snapshot: Snapshot, now: Instant): Offers {
  const capacity = new Capacity(world.limits);
  const ours = world.buckets.flatMap((offer) => {
    const found = findBucket(snapshot, offer);
    return found === undefined ? [] : [describeOffer(world, capacity, offer, found, now)];
  });
  const others = snapshot.arrays
    .filter(({ name }) => world.arrays.get(name) !== "managed")
    .flatMap((array) => array.buckets.map((bucket) => describeUnmanaged(array, bucket)));
  return { buckets: [...ours, ...others], limits: world.limits.map(describeLimit) };
}

interface Found {
  readonly array: NodeArray;
  readonly bucket: Bucket;
}

function findBucket(snapshot: Snapshot, offer: BucketOffer): Found | undefined {
  const array = snapshot.arrays.find(({ name }) => name === offer.bucket.array);
  const bucket = array?.buckets.find(({ machineType }) =>
    sameMachineType(machineType, offer.bucket.machineType),
  );
  return array === undefined || bucket === undefined ? undefined : { array, bucket };
}

function describeOffer(
  world: World,
  capacity: Capacity,
  offer: BucketOffer,
  found: Found,
  now: Instant,
): DescribedBucket {
  const closed = closedTo({ world, now }, offer);
  const room = capacity.room(offer, undefined);
  const bound = capacity.refusal(offer, undefined, room + 1);
  return {
    ...describeSize(found),
    managed: true,
    ...(offer.price === undefined ? {} : { price: offer.price }),
    room: closed === undefined ? room : 0,
    ...(bound?.code === "limit-reached" ? { boundBy: limitText(bound.limit) } : {}),
    ...(closed === undefined ? {} : { closed: renderReason(closed) }),
    charges: offer.charges,
    placementGroups: [...offer.groupSizes].map(([name, nodes]) => ({ name, nodes })),
    resources: describeResources(offer.resources),
  };
}

function describeUnmanaged(array: NodeArray, bucket: Bucket): DescribedBucket {
  const closed = renderReason({ code: "array-not-managed", array: array.name });
  const groups = bucket.placementGroups.map(({ name, activeCount }) => ({ name, nodes: activeCount }));
  const nothing = { room: 0, charges: [], resources: {} };
  return {
    ...describeSize({ array, bucket }),
    managed: false,
    closed,
    placementGroups: groups,
    ...nothing,
  };
}

function describeSize({ array, bucket }: Found) {
  const { machineType, machine, maxPlacementGroupSize } = bucket;
  return {
    bucket: bucketText({ array: array.name, machineType }),
    nodearray: array.name,
    machineType,
    vcpus: machine.vcpus,
    memoryGib: machine.memoryGib,
    gpus: machine.gpus,
    spot: array.spot,
    active: bucket.activeCount,
    available: bucket.availableCount,
    ...(maxPlacementGroupSize === undefined ? {} : { maxPlacementGroupSize }),
  };
}

function describeLimit({ id, used, max, left }: SharedLimit): DescribedLimit {
  return { limit: limitText(id), unit: id.unit, used, max, left };
}

function describeResources(resources: Resources): DescribedBucket["resources"] {
  const shown = (value: ResourceValue) =>
    typeof value === "object" && value !== null ? amountText(bytesOf(value), "bytes") : value;
  return Object.fromEntries(Object.entries(resources).map(([name, value]) => [name, shown(value)]));
}
