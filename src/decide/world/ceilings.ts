import type { Charge, SharedLimit } from "../../domain/world.ts";
import type { StatusBucket, CountAndCores, NodeArray, Quota } from "../../domain/cluster.ts";
import type { MachineType, ArrayName } from "../../domain/ids.ts";
import type { LimitId } from "../../domain/limit.ts";
import { bucketText } from "../../domain/bucket.ts";
import type { Family } from "./quota-family.ts";
import { familyKey } from "./quota-family.ts";
import type { ClusterBucket } from "./cluster-buckets.ts";

// Long: one class, because all limits of a cluster share one list and its indices.

/** Nodes and vCPUs that count against a limit by our own count: all that have a VM or wait for one, also those on their way down. */
interface Usage {
  readonly nodes: number;
  readonly cores: number;
}

/** What a bucket uses of limits. */
export interface BucketUsage {
  readonly array: Usage;
  /** Nodes of the bucket that the status shows and that count. */
  readonly nodes: number;
  /** Nodes of the bucket that were requested and that no status shows yet. */
  readonly waiting: number;
  /** Those of `waiting` that are spot in an array that is not, or the reverse. */
  readonly waitingOpposite: number;
}

interface OpenLimit {
  id: LimitId;
  used: number;
  max: number;
  /** Used by nodes that were requested and that no status shows yet. */
  waiting: number;
  /** What CycleCloud calls available. Absent: it does not say. */
  readonly available?: number;
  readonly isOffered?: true;
}

type FamilyOf = (location: string | undefined, size: MachineType) => Family;

/**
 * The limits that buckets share, collected while the buckets are read (cyclecloud-wire.md A.3, semantics 1 to 6): cluster and array by our
 * own count, quotas of family and region (spot has a regional quota of its own and no family), and the bucket's own availability. Nodes that
 * were requested and that no status shows yet are charged to each of them, also to availableCount. CycleCloud may have subtracted them there
 * already. Then this plan creates too few nodes, and the next observation mends that.
 */
export class Ceilings {
  readonly #cluster: { readonly limit: CountAndCores; readonly usage: Usage };
  readonly #familyOf: FamilyOf;
  readonly #limits: OpenLimit[] = [];
  readonly #index = new Map<string, number>();
  /** The quotas of each family and region. There are several if arrays use several subscriptions. */
  readonly #quotasOf = new Map<string, number[]>();

  constructor(limit: CountAndCores, usage: Usage, familyOf: FamilyOf) {
    this.#cluster = { limit, usage };
    this.#familyOf = familyOf;
  }

  /** The limits in the order to which charges refer, after all buckets were read. `left` is 0 if more is used than allowed (semantics 4). */
  limits(): readonly SharedLimit[] {
    return this.#limits.map(({ id, used, max, waiting, available, isOffered }) => ({
      id,
      used: used + waiting,
      max,
      left: Math.max(0, Math.min(max - used, available ?? Number.POSITIVE_INFINITY) - waiting),
      ...(isOffered === true ? { isOffered } : {}),
    }));
  }

  /** What one new node of the bucket takes from which limits. Quotas come first, because they explain best why no node is available. */
  charges(array: NodeArray, bucket: StatusBucket, usage: BucketUsage): readonly Charge[] {
    return [
      ...this.#quotas(array, bucket, usage.waiting - usage.waitingOpposite),
      ...this.#shared(array, bucket, usage),
      { limit: this.#availability(array, bucket, usage), amount: 1 },
    ];
  }

  /** What one new node takes of the probe of a bucket: of a limit of its own. */
  probe(name: string, used: number, max: number): Charge {
    return {
      limit: this.#limit(`probe/${name}`, { kind: "probe", name, unit: "nodes" }, used, max),
      amount: 1,
    };
  }

  /**
   * What one new node takes whose attributes make it spot in an array that is not, or the reverse. Call it once for each bucket, after
   * `charges` of all buckets. The quotas are those that other buckets of the region report. If none does, they are unknown, and CycleCloud
   * enforces them. CycleCloud's number of available nodes holds for the array's own kind of nodes. It counts here too, except if the quotas
   * of that kind explain it.
   */
  oppositeCharges(
    array: NodeArray,
    bucket: StatusBucket,
    usage: BucketUsage,
    own: readonly Charge[],
  ): readonly Charge[] {
    const quotas = this.#kindsOf(array, bucket, { spot: !array.spot }).flatMap(({ id, guessed }) =>
      (this.#quotasOf.get(scopeKey(id, array)) ?? []).map((limit): Charge => {
        const amount = bucket.machine.quotaVcpus;
        const open = this.#limits[limit];
        if (open !== undefined) open.waiting += usage.waitingOpposite * amount;
        return { limit, amount, ...(guessed === true ? { guessed } : {}) };
      }),
    );
    const isExplained = quotaRoom(bucket) <= bucket.availableCount;
    const others = own.filter(({ limit }) => {
      const kind = this.#limits[limit]?.id.kind;
      return (
        kind === "nodearray" || kind === "cluster" || kind === "probe" || (kind === "bucket" && !isExplained)
      );
    });
    return [...quotas, ...others];
  }

  /** The quotas that nodes of a bucket use. Spot nodes use one of the region and none of a family (A.3, semantics 2). */
  #kindsOf(
    array: NodeArray,
    bucket: StatusBucket,
    { spot }: { readonly spot: boolean },
  ): readonly KindOfQuota[] {
    const region = array.region ?? "";
    const { regionalQuota, familyQuota } = bucket;
    const regional = { report: regionalQuota };
    if (spot) return [{ ...regional, id: { kind: "regional-spot-quota", name: region, unit: "cores" } }];
    const { name, guessed } = this.#familyOf(array.region, bucket.machineType);
    const mark = guessed === true ? { guessed } : {};
    return [
      { report: familyQuota, id: { kind: "family-quota", name, unit: "cores", ...mark }, ...mark },
      { ...regional, id: { kind: "regional-quota", name: region, unit: "cores" } },
    ];
  }

  #quotas(array: NodeArray, bucket: StatusBucket, waiting: number): Charge[] {
    const amount = bucket.machine.quotaVcpus;
    return this.#kindsOf(array, bucket, array).flatMap(({ id, report, guessed }): Charge[] => {
      if (report === undefined) return [];
      const limit = this.#quota(id, array, report, waiting * amount);
      return [{ limit, amount, ...(guessed === true ? { guessed } : {}) }];
    });
  }

  /**
   * Each bucket reports the quotas that it shares. If reports differ in what is used, the one that leaves least counts. A family has one quota
   * in a region and subscription. If two differ, the arrays have different subscriptions, or a family was guessed wrong.
   */
  #quota(id: LimitId, array: NodeArray, report: Quota, waiting: number): number {
    const scope = scopeKey(id, array);
    const key = id.kind === "family-quota" ? `${scope}/${report.quotaCores}` : scope;
    const index = this.#limit(key, id, report.consumedCores, report.quotaCores);
    const all = this.#quotasOf.get(scope) ?? [];
    if (!all.includes(index)) this.#quotasOf.set(scope, [...all, index]);
    const limit = this.#limits[index];
    if (limit === undefined) return index;
    // A name from the table replaces a guessed one.
    if (limit.id.guessed === true && id.guessed !== true) limit.id = id;
    if (report.quotaCores - report.consumedCores < limit.max - limit.used) {
      limit.used = report.consumedCores;
      limit.max = report.quotaCores;
    }
    limit.waiting += waiting;
    return index;
  }

  #shared(array: NodeArray, bucket: StatusBucket, usage: BucketUsage): readonly Charge[] {
    const { limit, usage: whole } = this.#cluster;
    return [
      ...this.#counted("nodearray", array.name, array.limit, usage.array, bucket),
      ...this.#counted("cluster", "", limit, whole, bucket),
    ];
  }

  #counted(
    kind: "nodearray" | "cluster",
    name: string,
    limit: CountAndCores,
    usage: Usage,
    bucket: StatusBucket,
  ): Charge[] {
    const charges: Charge[] = [];
    if (limit.count !== undefined) {
      const index = this.#limit(
        `${kind}/${name}/nodes`,
        { kind, name, unit: "nodes" },
        usage.nodes,
        limit.count,
      );
      charges.push({ limit: index, amount: 1 });
    }
    if (limit.cores !== undefined) {
      const index = this.#limit(
        `${kind}/${name}/cores`,
        { kind, name, unit: "cores" },
        usage.cores,
        limit.cores,
      );
      charges.push({ limit: index, amount: bucket.machine.vcpus });
    }
    return charges;
  }

  #availability(array: NodeArray, bucket: StatusBucket, usage: BucketUsage): number {
    const used = Math.max(usage.nodes, bucket.activeCount);
    const byCores =
      bucket.maxCoreCount === undefined || bucket.machine.vcpus <= 0
        ? Number.POSITIVE_INFINITY
        : Math.floor(bucket.maxCoreCount / bucket.machine.vcpus);
    const max = Math.min(bucket.maxCount ?? Number.POSITIVE_INFINITY, byCores);
    const name = bucketText({ array: array.name, machineType: bucket.machineType });
    this.#limits.push({
      id: { kind: "bucket", name, unit: "nodes" },
      used,
      ...(Number.isFinite(max) ? { max } : { max: used + bucket.availableCount, isOffered: true as const }),
      waiting: usage.waiting,
      available: bucket.availableCount,
    });
    return this.#limits.length - 1;
  }

  #limit(key: string, id: LimitId, used: number, max: number): number {
    const known = this.#index.get(key);
    if (known !== undefined) return known;
    this.#limits.push({ id, used, max, waiting: 0 });
    this.#index.set(key, this.#limits.length - 1);
    return this.#limits.length - 1;
  }
}

/** A quota that nodes use. `report`: what their bucket says about it, for the array's own kind of nodes only. */
interface KindOfQuota {
  readonly id: LimitId;
  readonly report: Quota | undefined;
  readonly guessed?: true;
}

/** The key of a quota in its region. Names of families have any case of letters. */
function scopeKey({ kind, name }: LimitId, { region }: NodeArray): string {
  return (kind === "family-quota" ? [kind, region, familyKey(name)] : [kind, region]).join("/");
}

/** Number of nodes that the quotas in the report of a bucket still allow. */
function quotaRoom({ familyQuota, regionalQuota, machine }: StatusBucket): number {
  const left = [familyQuota, regionalQuota].map((quota) =>
    quota === undefined ? Number.POSITIVE_INFINITY : quota.quotaCores - quota.consumedCores,
  );
  return Math.max(0, Math.floor(Math.min(...left) / Math.max(1, machine.quotaVcpus)));
}

/** 1 if the nodes are spot in an array that is not, or the reverse. */
export function isOpposite({ array }: ClusterBucket, { spot }: { readonly spot: boolean }): 0 | 1 {
  return array === undefined || array.spot === spot ? 0 : 1;
}

/** What the nodes of a cluster use. */
export interface ClusterUsage {
  readonly cluster: Usage;
  readonly arrays: ReadonlyMap<ArrayName, Usage>;
  /** Places by bucket text without the placement group. */
  readonly buckets: ReadonlyMap<string, readonly ClusterBucket[]>;
}

/** The text of a bucket without the placement group. It is the same for all spellings of the VM size. */
export const bucketKeyOf = (array: ArrayName, machineType: string): string =>
  `${array}/${machineType.toLowerCase()}`;

/** Counts the nodes of all buckets. */
export function countUsage(clusterBuckets: Iterable<ClusterBucket>): ClusterUsage {
  const cluster = { nodes: 0, cores: 0 };
  const arrays = new Map<ArrayName, { nodes: number; cores: number }>();
  const buckets = new Map<string, ClusterBucket[]>();
  for (const clusterBucket of clusterBuckets) {
    const { array, machineType } = clusterBucket.bucket;
    const ofArray = arrays.get(array) ?? { nodes: 0, cores: 0 };
    arrays.set(array, ofArray);
    for (const usage of [cluster, ofArray]) {
      usage.nodes += clusterBucket.nodes + clusterBucket.waiting;
      usage.cores += clusterBucket.nodeCores + clusterBucket.waiting * clusterBucket.cores;
    }
    const key = bucketKeyOf(array, machineType);
    buckets.set(key, [...(buckets.get(key) ?? []), clusterBucket]);
  }
  return { cluster, arrays, buckets };
}

/** The sum of the amounts of the items. */
export function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((total, item) => total + amount(item), 0);
}
