import type { ArrayName } from "../../domain/ids.ts";
import type { ClusterBucket } from "./cluster-buckets.ts";
import type { Usage } from "./ceilings.ts";

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
