import type {
  StatusBucket,
  CountAndCores,
  Node,
  NodeArray,
  NodePhase,
  Snapshot,
} from "../../domain/cluster.ts";
import type { ArrayName } from "../../domain/ids.ts";

/** Whether the node has a VM, gets one, or may still have one (cyclecloud-wire.md A.3, semantics 3). */
export function isActive({ phase, missing }: Pick<Node, "phase" | "missing">): boolean {
  const without: readonly NodePhase[] = ["off", "deallocated"];
  return !without.includes(phase) && missing === undefined;
}

/** Active nodes and their cores. */
interface Use {
  nodes: number;
  cores: number;
}

/** The active nodes of a cluster. */
export interface Uses {
  readonly cluster: Use;
  readonly arrays: ReadonlyMap<ArrayName, Use>;
  /** By array and VM size in lower case. */
  readonly buckets: ReadonlyMap<string, readonly Node[]>;
}

const keyOf = (array: ArrayName, machineType: string): string => `${array}/${machineType.toLowerCase()}`;

/** Counts the active nodes. */
export function countUse({ arrays }: Snapshot, nodes: readonly Node[]): Uses {
  const cores = new Map(
    arrays.flatMap(({ name, buckets }) =>
      buckets.map(({ machineType, machine }) => [keyOf(name, machineType), machine.vcpus] as const),
    ),
  );
  const cluster: Use = { nodes: 0, cores: 0 };
  const byArray = new Map<ArrayName, Use>();
  const buckets = Map.groupBy(nodes.filter(isActive), ({ array, machineType }) => keyOf(array, machineType));
  for (const [key, there] of buckets) {
    const [first] = there;
    if (first === undefined) continue;
    const ofArray = byArray.get(first.array) ?? { nodes: 0, cores: 0 };
    byArray.set(first.array, ofArray);
    for (const use of [cluster, ofArray]) {
      use.nodes += there.length;
      use.cores += there.length * (cores.get(key) ?? first.vcpus ?? 1);
    }
  }
  return { cluster, arrays: byArray, buckets };
}

/** The active nodes of a bucket and of its placement groups. */
export function usedIn({ buckets }: Uses, { name }: NodeArray, { machineType }: StatusBucket) {
  const there = buckets.get(keyOf(name, machineType)) ?? [];
  const groups = Map.groupBy(there, ({ placementGroup }) => placementGroup);
  return {
    nodes: there.length,
    groups: [...groups].flatMap(([group, nodes]) =>
      group === undefined ? [] : [{ name: group, activeCount: nodes.length }],
    ),
  };
}

/** An observation, with the uses of the real nodes and of the virtual ones. */
interface Worlds {
  readonly seen: Snapshot;
  readonly before: Uses;
  readonly after: Uses;
}

/**
 * The number of nodes that CycleCloud would offer in a bucket. If the limits that it shows explain the real number, they give the new one
 * too. Otherwise a hidden limit holds. It leaves what it leaves now, plus the bucket's real nodes, minus all additional virtual nodes.
 */
export function availableIn(
  worlds: Worlds,
  array: NodeArray,
  bucket: StatusBucket,
  shifted: StatusBucket,
): number {
  const { seen, before, after } = worlds;
  const room = roomIn(seen, after, array, shifted);
  if (roomIn(seen, before, array, bucket) <= bucket.availableCount) return Math.max(0, room);
  const own = nodesOf(before, array, bucket) - nodesOf(after, array, bucket);
  const hidden = bucket.availableCount + own - grownElsewhere(worlds, array, bucket);
  return Math.max(0, Math.min(room, hidden));
}

const nodesOf = ({ buckets }: Uses, { name }: NodeArray, { machineType }: StatusBucket): number =>
  buckets.get(keyOf(name, machineType))?.length ?? 0;

/** How much larger other buckets are in the virtual fleet, in nodes of this bucket. */
function grownElsewhere({ seen, before, after }: Worlds, array: NodeArray, bucket: StatusBucket): number {
  let cores = 0;
  for (const other of seen.arrays)
    for (const one of other.buckets) {
      if (other.name === array.name && one.machineType === bucket.machineType) continue;
      const grown = nodesOf(after, other, one) - nodesOf(before, other, one);
      cores += Math.max(0, grown) * one.machine.quotaVcpus;
    }
  return Math.ceil(cores / Math.max(1, bucket.machine.quotaVcpus));
}

/** Number of nodes that the limits shown by CycleCloud still allow. Infinity if it shows none. */
function roomIn({ limit }: Snapshot, uses: Uses, array: NodeArray, bucket: StatusBucket): number {
  const { vcpus, quotaVcpus } = bucket.machine;
  const there = nodesOf(uses, array, bucket);
  const quotas = [bucket.familyQuota, bucket.regionalQuota].map((quota) =>
    quota === undefined
      ? Infinity
      : Math.floor((quota.quotaCores - quota.consumedCores) / Math.max(1, quotaVcpus)),
  );
  return Math.min(
    ...quotas,
    roomOf(limit, uses.cluster, vcpus),
    roomOf(array.limit, uses.arrays.get(array.name) ?? { nodes: 0, cores: 0 }, vcpus),
    (bucket.maxCount ?? Infinity) - there,
    Math.floor(((bucket.maxCoreCount ?? Infinity) - there * vcpus) / Math.max(1, vcpus)),
  );
}

function roomOf({ count = Infinity, cores = Infinity }: CountAndCores, use: Use, vcpus: number): number {
  return Math.min(count - use.nodes, Math.floor((cores - use.cores) / Math.max(1, vcpus)));
}
