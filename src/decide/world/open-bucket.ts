import type { Reason } from "../../domain/reason.ts";
import { findPrice } from "../../domain/price.ts";
import type { Policy } from "../../domain/policy.ts";
import type { PlacementGroup, ArrayName } from "../../domain/ids.ts";
import { sameMachineType } from "../../domain/ids.ts";
import { groupsOfArray } from "../../domain/policy.ts";
import type { StatusBucket, NodeArray } from "../../domain/cluster.ts";
import type { BucketOffer, Charge } from "../../domain/world.ts";
import type { WorldInput } from "./world-input.ts";
import type { OpenBucket } from "./counterparts.ts";
import type { ClusterBucket, ClusterBuckets } from "./cluster-buckets.ts";
import type { BucketUsage, Ceilings, ClusterUsage } from "./ceilings.ts";
import { bucketKeyOf, sum } from "./ceilings.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import { bucketText, dynamicArrayOf } from "../../domain/bucket.ts";
import type { Demand } from "../../domain/demand.ts";
import { stillInFlight } from "../../domain/record.ts";
import { lastedAt } from "../../domain/ledger.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import { isCapacity, standingIn } from "../../domain/node-standing.ts";

/** Makes the offer of a bucket, and charges its nodes to the limits. */
export function openBucket(
  input: WorldInput,
  array: NodeArray,
  bucket: StatusBucket,
  clusterBuckets: ClusterBuckets,
  whole: ClusterUsage,
  ceilings: Ceilings,
): OpenBucket {
  const clusterBucket = clusterBuckets.at(array.name, bucket.machineType, undefined);
  const inUse = whole.buckets.get(bucketKeyOf(array.name, bucket.machineType)) ?? [];
  const { refusal, groupRefusals } = refusalsOf(input, array, bucket);
  const usage: BucketUsage = {
    array: whole.arrays.get(array.name) ?? { nodes: 0, cores: 0 },
    nodes: sum(inUse, (one) => one.nodes),
    waiting: sum(inUse, (one) => one.waiting),
    waitingOpposite: sum(inUse, (one) => one.waitingOpposite),
  };
  const offer: BucketOffer = {
    bucket: clusterBucket.bucket,
    resources: clusterBucket.view.available,
    properties: () => clusterBucket.view.properties,
    inGroup: (group) => {
      const { available, properties } = clusterBuckets.at(array.name, bucket.machineType, group).view;
      return { resources: available, properties: () => properties };
    },
    ...withoutAbsent({ capacityFailureSeconds: bucket.lastCapacityFailureSeconds }),
    cores: clusterBucket.cores,
    ...wishesFor(input.policy, array, bucket),
    charges: [
      ...ceilings.charges(array, bucket, usage),
      ...probeCharges(input, clusterBucket.bucket, undefined, ceilings),
    ],
    groupSizes: groupSizesOf(bucket, inUse),
    ...withoutAbsent({ refusal, maxPlacementGroupSize: bucket.maxPlacementGroupSize }),
    ...(array.notHpc === true ? { notHpc: true } : {}),
    ...withoutAbsent({ pinnedGroup: array.placementGroup }),
    ...(groupRefusals.size === 0 ? {} : { groupRefusals }),
  };
  return { offer, array, bucket, usage };
}

/** The preferences of the configuration for a bucket, and whether its nodes may be evicted. */
function wishesFor(
  { prices, placementGroups, namedArrays }: Policy,
  array: NodeArray,
  bucket: StatusBucket,
): Pick<BucketOffer, "price" | "spot" | "configuredGroups" | "onlyNamed"> {
  const price = prices === undefined ? undefined : findPrice(prices, array.region, bucket.machineType, array);
  const groups = placementGroups === undefined ? [] : groupsOfArray(placementGroups, array.name);
  return {
    ...withoutAbsent({ price }),
    ...(array.spot ? { spot: true } : {}),
    ...(namedArrays?.includes(array.name) === true ? { onlyNamed: true } : {}),
    ...(groups.length === 0 ? {} : { configuredGroups: groups }),
  };
}

/** Number of nodes in each group in use: by the status or by our own count, whichever is larger. */
function groupSizesOf(
  bucket: StatusBucket,
  inUse: readonly ClusterBucket[],
): ReadonlyMap<PlacementGroup, number> {
  const sizes = new Map(bucket.placementGroups.map((group) => [group.name, group.activeCount]));
  const waiting = new Map<PlacementGroup, number>();
  for (const clusterBucket of inUse) {
    const group = clusterBucket.bucket.placementGroup;
    if (group === undefined) continue;
    sizes.set(group, Math.max(sizes.get(group) ?? 0, clusterBucket.nodes));
    waiting.set(group, clusterBucket.waiting);
  }
  for (const [group, count] of waiting) sizes.set(group, (sizes.get(group) ?? 0) + count);
  return sizes;
}

function refusalsOf(
  input: WorldInput,
  array: NodeArray,
  bucket: StatusBucket,
): { readonly refusal: Reason | undefined; readonly groupRefusals: ReadonlyMap<PlacementGroup, Reason> } {
  const key = { array: array.name, machineType: bucket.machineType };
  const failedAgo = bucket.lastCapacityFailureSeconds;
  const groupRefusals = new Map<PlacementGroup, Reason>();
  let refusal: Reason | undefined = bucket.valid
    ? undefined
    : { code: "bucket-invalid", bucket: key, why: bucket.invalidReason ?? "no reason given" };
  for (const backoff of input.backoffs) {
    const { placementGroup: group, ...where } = backoff.bucket;
    if (backoff.dynamic !== undefined || backoff.until <= input.now || where.array !== array.name) continue;
    if (!sameMachineType(where.machineType, bucket.machineType)) continue;
    const reason: Reason = {
      code: "backing-off",
      bucket: group === undefined ? key : { ...key, placementGroup: group },
      until: backoff.until,
      message: backoff.message,
      ...withoutAbsent({ capacityFailureSeconds: failedAgo }),
    };
    if (group === undefined) refusal ??= reason;
    else groupRefusals.set(group, reason);
  }
  return { refusal, groupRefusals };
}

/**
 * What a new node takes of the probe of a bucket whose nodes went down soon after they were Ready: one node at a time is tried, until one has
 * lasted (docs/protocol.md, Nodes that are down). A job that needs several nodes together is tried whole. Nothing for other buckets.
 */
export function probeCharges(
  input: WorldInput,
  bucket: BucketKey,
  dynamic: ArrayName | undefined,
  ceilings: Ceilings,
): readonly Charge[] {
  const isProbed = input.backoffs.some(
    (one) => one.cause === "went-down" && one.dynamic === dynamic && isIn(one.bucket, bucket),
  );
  if (!isProbed) return [];
  const name = bucketText(dynamic === undefined ? bucket : { ...bucket, array: dynamic });
  let most = 1;
  for (const { demand } of input.demands ?? []) most = Math.max(most, nodesTogether(demand));
  return [ceilings.probe(name, countTried(input, bucket, dynamic), most)];
}

/** Nodes of the bucket of which it is not known yet whether they last: requested, booting, or Ready for a short time. */
function countTried(
  { snapshot, ledger, inFlight, pendingCreates, standings, excluded, now }: WorldInput,
  bucket: BucketKey,
  dynamic: ArrayName | undefined,
): number {
  const shown = snapshot.nodes.filter((node) => {
    const known = ledger.get(node.nodeId);
    const serves = !excluded.has(node.nodeId) && isCapacity(standingIn(standings, node.nodeId));
    if (known === undefined || known.down !== undefined || !serves) return false;
    if (node.phase !== "ready" && node.phase !== "coming") return false;
    if (!isIn(node, bucket) || dynamicArrayOf(known.purpose) !== dynamic) return false;
    return lastedAt(node, known, now) === undefined;
  });
  const isHere = (one: WorldInput["inFlight"][number] | WorldInput["pendingCreates"][number]): boolean =>
    isIn(one.bucket, bucket) && dynamicArrayOf(one.purpose) === dynamic;
  return (
    shown.length +
    sum(inFlight.filter(isHere), stillInFlight) +
    sum(pendingCreates.filter(isHere), ({ count }) => count)
  );
}

const isIn = (one: Pick<BucketKey, "array" | "machineType">, bucket: BucketKey): boolean =>
  one.array === bucket.array && sameMachineType(one.machineType, bucket.machineType);

/** The largest number of nodes that the demand needs all at once. */
function nodesTogether(demand: Demand): number {
  switch (demand.kind) {
    case "groups":
      return demand.size.count;
    case "job":
      return demand.nodeCount ?? (demand.colocated ? demand.iterations : 1);
    case "target":
      return 1;
  }
}
