import type { QuotaOptions } from "./options.ts";
import { unboundedCount } from "./options.ts";
import type { Bucket, Machine } from "./world.ts";

/** How many more nodes one limit allows. `limit` is the message of a create that the limit has cut. */
export type Room = { readonly limit: string; readonly left: number };

/** The limits that a node counts against: `active` until its stop is accepted, `quota` until its VM is gone. */
export type LimitKeys = { readonly active: readonly string[]; readonly quota: readonly string[] };

const join = (...parts: readonly string[]): string => parts.join("\u0000");

const clusterKey = (cluster: string): string => join("cluster", cluster);
const arrayKey = (cluster: string, array: string): string => join("array", cluster, array);
export const bucketKey = (bucket: Bucket): string =>
  join("bucket", bucket.array.cluster.name, bucket.array.name, bucket.machine.name);
/** Prefix of the keys of all placement groups of a bucket; the group's name follows. */
export const groupPrefix = (bucket: Bucket): string =>
  `${join("group", bucket.array.cluster.name, bucket.array.name, bucket.machine.name)}\u0000`;
const familyKey = (region: string, family: string): string => join("family", region, family);
const regionKey = (region: string): string => join("region", region);
const spotKey = (region: string): string => join("spot", region);

/** How a node of a bucket is bought, and the placement group that it joins. */
type Placement = { readonly spot: boolean; readonly group: string | undefined };

/** What Azure's quotas depend on. */
type Purchase = { readonly machine: Machine; readonly region: string; readonly spot: boolean };

/** The limits that a node of this bucket shares with others (cyclecloud-wire.md A.3, semantics 1 and 2). */
export function limitKeysOf(bucket: Bucket, { spot, group }: Placement): LimitKeys {
  const { array, machine } = bucket;
  const active = [
    clusterKey(array.cluster.name),
    arrayKey(array.cluster.name, array.name),
    bucketKey(bucket),
  ];
  return {
    active: group === undefined ? active : [...active, groupPrefix(bucket) + group],
    quota: quotaKeysOf({ machine, region: array.region, spot }),
  };
}

/** Spot VMs count against the region's spot quota only, never against a family (cyclecloud-wire.md A.3). */
export function quotaKeysOf({ machine, region, spot }: Purchase): readonly string[] {
  return spot ? [spotKey(region)] : [familyKey(region, machine.family), regionKey(region)];
}

/** A quota in cores, and the part of it that is used by all nodes and by the rest of the subscription. */
type Quota = { readonly cores: number; readonly consumed: number };

export function familyQuota(quotas: QuotaOptions, region: string, family: string, usage: Usage): Quota {
  return {
    cores: quotas.family?.[family] ?? unboundedCount,
    consumed: (quotas.usedByOthers?.family?.[family] ?? 0) + usage.get(familyKey(region, family)).cores,
  };
}

export function regionalQuota(
  quotas: QuotaOptions,
  { region, spot }: Pick<Purchase, "region" | "spot">,
  usage: Usage,
): Quota {
  const [own, others] = spot
    ? [quotas.spot, quotas.usedByOthers?.spot]
    : [quotas.regional, quotas.usedByOthers?.regional];
  const key = spot ? spotKey(region) : regionKey(region);
  return {
    cores: own?.[region] ?? unboundedCount,
    consumed: (others?.[region] ?? 0) + usage.get(key).cores,
  };
}

/**
 * Every limit that a new node of this bucket would count against, with the room that is left. Room is never below 0, even if more is
 * consumed than the quota allows (cyclecloud-wire.md A.3, semantics 4).
 */
export function roomsOf(
  bucket: Bucket,
  { spot, group }: Placement,
  quotas: QuotaOptions,
  usage: Usage,
): readonly Room[] {
  const { array, machine } = bucket;
  const { cluster } = array;
  const inCluster = usage.get(clusterKey(cluster.name));
  const inArray = usage.get(arrayKey(cluster.name, array.name));
  const rooms: Room[] = [
    { limit: "the limit of the cluster was reached", left: cluster.maxCount - inCluster.count },
    {
      limit: "the core limit of the cluster was reached",
      left: byCores(cluster.maxCoreCount - inCluster.cores, machine.vcpuCount),
    },
    { limit: "the limit of the nodearray was reached", left: array.maxCount - inArray.count },
    {
      limit: "the core limit of the nodearray was reached",
      left: byCores(array.maxCoreCount - inArray.cores, machine.vcpuCount),
    },
    ...quotaRoomsOf({ machine, region: array.region, spot }, quotas, usage),
  ];
  if (group !== undefined) {
    rooms.push({
      limit: `placement group ${group} is full`,
      left: array.maxPlacementGroupSize - usage.get(groupPrefix(bucket) + group).count,
    });
  }
  return rooms.map(({ limit, left }) => ({ limit, left: Math.max(0, left) }));
}

const byCores = (left: number, each: number): number => Math.max(0, Math.floor(left / each));

/** The same for quotas alone. */
export function quotaRoomsOf(
  { machine, region, spot }: Purchase,
  quotas: QuotaOptions,
  usage: Usage,
): readonly Room[] {
  const regional = regionalQuota(quotas, { region, spot }, usage);
  const rooms = [
    {
      limit: spot ? "the regional spot quota was reached" : "the regional quota was reached",
      left: byCores(regional.cores - regional.consumed, machine.quotaCores),
    },
  ];
  if (spot) return rooms;
  const family = familyQuota(quotas, region, machine.family, usage);
  const left = byCores(family.cores - family.consumed, machine.quotaCores);
  return [...rooms, { limit: `the quota of family ${machine.family} was reached`, left }];
}

/** The limit that leaves the least room; the first of equals. */
export function tightest(rooms: readonly Room[]): Room {
  return rooms.reduce((least, room) => (room.left < least.left ? room : least));
}

type Tally = { readonly count: number; readonly cores: number };

const nothing: Tally = { count: 0, cores: 0 };

/** Counts nodes and cores for each key of a limit. Adding and removing take time in proportion to the number of given keys. */
export class Usage {
  readonly #tallies = new Map<string, Tally>();

  get(key: string): Tally {
    return this.#tallies.get(key) ?? nothing;
  }

  /** `nodes` is 1 for a node that is added and -1 for one that is removed. `cores` are those of one node. */
  add(keys: readonly string[], nodes: 1 | -1, cores: number): void {
    for (const key of keys) {
      const before = this.get(key);
      const after = { count: before.count + nodes, cores: before.cores + nodes * cores };
      if (after.count === 0) this.#tallies.delete(key);
      else this.#tallies.set(key, after);
    }
  }

  /** The keys in use that begin with `prefix`, with their tallies, in the order of first use. */
  list(prefix: string): readonly (readonly [string, Tally])[] {
    return [...this.#tallies].filter(([key]) => key.startsWith(prefix));
  }
}
