import type { BucketOffer, SharedLimit } from "../domain/allocation.ts";
import type { Bucket, CountAndCores, NodeArray, Quota } from "../domain/cluster.ts";
import type { LimitId } from "../domain/reason.ts";
import { bucketText } from "../domain/bucket.ts";
import { familyOf } from "./family.ts";

/** Nodes and their vCPUs that count against a limit, by our own count: all that have a VM or wait for one, also those on their way down. */
export interface Usage {
  readonly nodes: number;
  readonly cores: number;
}

/** Where one bucket stands. */
export interface BucketUsage {
  readonly array: Usage;
  /** Nodes of the bucket that the status shows and that count. */
  readonly nodes: number;
  /** Nodes of the bucket that were asked for and that no status shows yet. */
  readonly waiting: number;
}

interface OpenLimit {
  readonly id: LimitId;
  used: number;
  max: number;
  /** Asked for and not shown yet. */
  waiting: number;
  /** What CycleCloud says is available, where it says so. */
  readonly available?: number;
}

type Charge = BucketOffer["charges"][number];

/**
 * The shared ceilings of a cluster, collected while its buckets are read (cyclecloud-wire.md A.3, semantics 1 to 6): cluster and array by
 * our own count, quotas by family and region (spot has a regional quota of its own and no family), and the bucket's own availability.
 * Nodes that were asked for and that no status shows yet are charged to each of them, also to availableCount: whether CycleCloud has
 * already taken them off there is unknown, and too few now is repaired at the next look.
 */
export class Ceilings {
  readonly #cluster: { readonly limit: CountAndCores; readonly usage: Usage };
  readonly #limits: OpenLimit[] = [];
  readonly #index = new Map<string, number>();

  constructor(limit: CountAndCores, usage: Usage) {
    this.#cluster = { limit, usage };
  }

  /** The limits as the charges name them, once all buckets were read. Nothing left where more is used than allowed (semantics 4). */
  limits(): readonly SharedLimit[] {
    return this.#limits.map(({ id, used, max, waiting, available }) => ({
      id,
      used: used + waiting,
      max,
      left: Math.max(0, Math.min(max - used, available ?? Number.POSITIVE_INFINITY) - waiting),
    }));
  }

  /** What one new node of the bucket takes from which limits; quotas first, so that of several exhausted ones the telling one is named. */
  charges(array: NodeArray, bucket: Bucket, usage: BucketUsage): readonly Charge[] {
    const { limit, usage: whole } = this.#cluster;
    return [
      ...this.#quotas(array, bucket, usage.waiting),
      ...this.#counted("nodearray", array.name, array.limit, usage.array, bucket),
      ...this.#counted("cluster", "", limit, whole, bucket),
      { limit: this.#availability(array, bucket, usage), amount: 1 },
    ];
  }

  #quotas(array: NodeArray, bucket: Bucket, waiting: number): Charge[] {
    const region = array.region ?? "";
    const amount = bucket.machine.quotaVcpus;
    const family: LimitId = { kind: "family-quota", name: familyOf(bucket.machineType), unit: "cores" };
    const kind = array.spot ? "regional-spot-quota" : "regional-quota";
    const charges: Charge[] = [];
    // A spot bucket reports 0 of 0 for its family, which means nothing (A.3, semantics 2).
    if (bucket.familyQuota !== undefined && !array.spot) {
      charges.push({ limit: this.#quota(family, region, bucket.familyQuota, waiting * amount), amount });
    }
    if (bucket.regionalQuota !== undefined) {
      const id: LimitId = { kind, name: region, unit: "cores" };
      charges.push({ limit: this.#quota(id, region, bucket.regionalQuota, waiting * amount), amount });
    }
    return charges;
  }

  /**
   * Each bucket reports the quota that it shares; where reports differ in what is used, the one that leaves least counts. Family quotas of
   * different sizes are of different families, though our reading of the sizes' names takes them for one.
   */
  #quota(id: LimitId, region: string, report: Quota, waiting: number): number {
    const size = id.kind === "family-quota" ? report.quotaCores : "";
    const key = `${id.kind}/${region}/${id.name}/${size}`;
    const index = this.#limit(key, id, report.consumedCores, report.quotaCores);
    const limit = this.#limits[index];
    if (limit === undefined) return index;
    if (report.quotaCores - report.consumedCores < limit.max - limit.used) {
      limit.used = report.consumedCores;
      limit.max = report.quotaCores;
    }
    limit.waiting += waiting;
    return index;
  }

  #counted(
    kind: "nodearray" | "cluster",
    name: string,
    limit: CountAndCores,
    usage: Usage,
    bucket: Bucket,
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

  #availability(array: NodeArray, bucket: Bucket, usage: BucketUsage): number {
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
      max: Number.isFinite(max) ? max : used + bucket.availableCount,
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
