import type { ArrayName } from "../../domain/ids.ts";
import type { ClusterPlace } from "./cluster-buckets.ts";
import type { Usage } from "./ceilings.ts";

/** 1 if the nodes are spot in an array that is not, or the reverse. */
export function isOpposite({ array }: ClusterPlace, spot: boolean): 0 | 1 {
  return array === undefined || array.spot === spot ? 0 : 1;
}

export interface ClusterUsage {
  readonly cluster: Usage;
  readonly arrays: ReadonlyMap<ArrayName, Usage>;
  /** Places by bucket text without the placement group. */
  readonly buckets: ReadonlyMap<string, readonly ClusterPlace[]>;
}

export const bucketKeyOf = (array: ArrayName, machineType: string): string =>
  `${array}/${machineType.toLowerCase()}`;

export function countUsage(places: Iterable<ClusterPlace>): ClusterUsage {
  const cluster = { nodes: 0, cores: 0 };
  const arrays = new Map<ArrayName, { nodes: number; cores: number }>();
  const buckets = new Map<string, ClusterPlace[]>();
  for (const place of places) {
    const { array, machineType } = place.bucket;
    const ofArray = arrays.get(array) ?? { nodes: 0, cores: 0 };
    arrays.set(array, ofArray);
    for (const usage of [cluster, ofArray]) {
      usage.nodes += place.nodes + place.waiting;
      usage.cores += place.nodeCores + place.waiting * place.cores;
    }
    const key = bucketKeyOf(array, machineType);
    buckets.set(key, [...(buckets.get(key) ?? []), place]);
  }
  return { cluster, arrays, buckets };
}

export function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((total, item) => total + amount(item), 0);
}
