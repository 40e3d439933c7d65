import type { JsonObject } from "./json.ts";
import type { Room, Usage } from "./limits.ts";
import { bucketKey, familyQuota, groupPrefix, regionalQuota, roomsOf, tightest } from "./limits.ts";
import { renderArray } from "./record.ts";
import type { ClusterView } from "./roster.ts";
import type { Bucket, Cluster, NodeArray, World } from "./world.ts";
import { withoutAbsent } from "../domain/without-absent.ts";

/** The inputs of a rendered status. `view` is undefined if nodes were not requested. */
type StatusSource = {
  readonly cluster: Cluster;
  readonly world: World;
  readonly usage: Usage;
  readonly view: ClusterView | undefined;
  readonly now: number;
};

/** `GET /clusters/{c}/status` (cyclecloud-wire.md A.3). Node records are the roster's own objects, not copies. */
export function renderStatus(source: StatusSource): JsonObject {
  const { cluster, world, view } = source;
  return {
    ...withoutAbsent({ state: cluster.state, targetState: cluster.targetState }),
    maxCount: cluster.maxCount,
    maxCoreCount: cluster.maxCoreCount,
    nodearrays: cluster.arrays.map((array) => renderNodeArray(array, source)),
    ...(view === undefined ? {} : { nodes: world.quirks.headNodesInStatus ? view.records : view.ofArrays }),
    ...(world.quirks.newFields ? { futureField: { nested: true } } : {}),
  };
}

function renderNodeArray(array: NodeArray, source: StatusSource): JsonObject {
  const { quirks } = source.world;
  array.record ??= renderArray(array, quirks);
  return {
    name: array.name,
    maxCount: array.maxCount,
    maxCoreCount: array.maxCoreCount,
    nodearray: array.record,
    buckets: array.buckets.map((bucket) => renderBucket(bucket, source)),
    ...(quirks.newFields ? { futureField: "array" } : {}),
  };
}

function renderBucket(bucket: Bucket, source: StatusSource): JsonObject {
  const { usage, view } = source;
  const { quirks } = source.world;
  const { array, machine } = bucket;
  const active = usage.get(bucketKey(bucket));
  const available = countAvailable(bucket, source);
  const maxCount = countMost(bucket, source);
  const rendered: Record<string, unknown> = {
    bucketId: bucket.id,
    definition: { machineType: machine.name },
    ...renderQuotas(bucket, source),
    maxCount,
    maxCoreCount: maxCount * machine.vcpuCount,
    activeCount: active.count,
    activeCoreCount: active.cores,
    ...(view === undefined ? {} : { activeNodes: view.activeNodes.get(bucket.id) ?? [] }),
    availableCount: available,
    availableCoreCount: available * machine.vcpuCount,
    maxPlacementGroupSize: array.maxPlacementGroupSize,
    maxPlacementGroupCoreSize: array.maxPlacementGroupSize * machine.vcpuCount,
    placementGroups: usage.list(groupPrefix(bucket)).map(([key, tally]) => ({
      name: key.slice(groupPrefix(bucket).length),
      activeCount: tally.count,
      activeCoreCount: tally.cores,
    })),
    valid: bucket.invalidReason === undefined,
    invalidReason: bucket.invalidReason ?? "",
    lastCapacityFailure: secondsSinceFailure(bucket, source.now) ?? -1,
    spotPlacementScore: array.spot ? "High" : "",
    virtualMachine: {
      vcpuCount: machine.vcpuCount,
      pcpuCount: machine.pcpuCount,
      gpuCount: machine.gpuCount,
      memory: machine.memory,
      infiniband: machine.infiniband,
      vcpuQuotaCount: machine.quotaCores,
    },
    ...(quirks.newFields ? { futureField: 1 } : {}),
  };
  for (const field of quirks.omitBucketFields) delete rendered[field];
  return rendered;
}

/** Counts are cores over what one VM costs in quota, rounded down; a spot bucket has a family quota of 0/0. */
function renderQuotas(bucket: Bucket, { world, usage }: StatusSource): JsonObject {
  const { array, machine } = bucket;
  const vms = (cores: number): number => Math.floor(cores / machine.quotaCores);
  const regional = regionalQuota(world.quotas, array, usage);
  const family = array.spot
    ? { cores: 0, consumed: 0 }
    : familyQuota(world.quotas, array.region, machine.family, usage);
  const effective = array.spot ? regional.cores : Math.min(regional.cores, family.cores);
  return {
    regionalQuotaCount: vms(regional.cores),
    regionalQuotaCoreCount: regional.cores,
    regionalConsumedCoreCount: regional.consumed,
    familyQuotaCount: vms(family.cores),
    familyQuotaCoreCount: family.cores,
    familyConsumedCoreCount: family.consumed,
    quotaCount: vms(effective),
    quotaCoreCount: effective,
    consumedCoreCount: array.spot ? regional.consumed : family.consumed,
  };
}

/** The most nodes that the bucket could have if nothing ran, under the limits of cluster, array and quota. 0 if it is not valid. */
function countMost(bucket: Bucket, { world }: StatusSource): number {
  if (bucket.invalidReason !== undefined) return 0;
  const { array, machine } = bucket;
  const { cluster } = array;
  const quotas = [world.quotas.regional?.[array.region], world.quotas.family?.[machine.family]];
  const own = array.spot ? [world.quotas.spot?.[array.region]] : quotas;
  const cores = Math.min(cluster.maxCoreCount, array.maxCoreCount);
  return Math.min(
    cluster.maxCount,
    array.maxCount,
    Math.floor(cores / machine.vcpuCount),
    ...own.filter((quota) => quota !== undefined).map((quota) => Math.floor(quota / machine.quotaCores)),
  );
}

/** How many more nodes could be created now, under every shared limit. Azure's real capacity is not known to a status. */
function countAvailable(bucket: Bucket, source: StatusSource): number {
  if (bucket.invalidReason !== undefined) return 0;
  const { array } = bucket;
  const failed = secondsSinceFailure(bucket, source.now);
  if (failed !== undefined && failed < array.throttleCapacitySeconds) return 0;
  const rooms: readonly Room[] = roomsOf(
    bucket,
    { spot: array.spot, group: array.placementGroupId },
    source.world.quotas,
    source.usage,
  );
  return tightest(rooms).left;
}

function secondsSinceFailure(bucket: Bucket, now: number): number | undefined {
  return bucket.lastCapacityFailureAt === undefined ? undefined : (now - bucket.lastCapacityFailureAt) / 1000;
}
