import type {
  Node,
  NodeArray,
  Snapshot,
  StatusBucket,
  Quota,
  CountAndCores,
  NodePhase,
} from "../../domain/cluster.ts";
import type { ArrayName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import { sameMachineType } from "../../domain/ids.ts";
import { catalogueOf } from "../../domain/vm-size-data.ts";
import { familyKey, familyOf } from "../world/quota-family.ts";

/**
 * What CycleCloud would show if the observed arrays had the virtual nodes instead of the real ones. What their limits leave is what the real
 * ones leave, plus what the real nodes of these arrays use, minus what the virtual nodes use. An array in act keeps its nodes and takes no
 * new ones here, because only the real plan creates its nodes.
 */
export function virtualObservation(
  seen: Snapshot,
  observed: ReadonlySet<ArrayName>,
  virtual: readonly Node[],
  policy: Policy,
): Snapshot {
  const real = seen.nodes.filter(({ array }) => observed.has(array));
  const others = seen.nodes.filter(({ array }) => !observed.has(array));
  const nodes = [...others, ...virtual];
  const quotas = new QuotaShift(seen, policy);
  for (const node of real) quotas.add(node, -1);
  for (const node of virtual) quotas.add(node, 1);
  const before = countUse(seen, seen.nodes);
  const after = countUse(seen, nodes);
  const arrays = seen.arrays.map((array): NodeArray => {
    const isObserved = observed.has(array.name);
    const buckets = array.buckets.map((bucket) => {
      const shifted = quotas.shift(array, bucket);
      if (!isObserved) return { ...shifted, valid: false, invalidReason: NOT_HERE };
      const there = usedIn(after, array, bucket);
      const room = availableIn({ seen, before, after }, array, bucket, shifted);
      return { ...shifted, availableCount: room, activeCount: there.nodes, placementGroups: there.groups };
    });
    return { ...array, buckets };
  });
  const { unlisted, ...rest } = seen;
  const named = unlisted?.filter(({ array }) => !observed.has(array)) ?? [];
  return { ...rest, arrays, nodes, ...(named.length === 0 ? {} : { unlisted: named }) };
}

const NOT_HERE = "the array is in act: the virtual fleet makes no nodes in it";

/** How many cores more of each quota the virtual nodes use than the real ones. May be negative. */
class QuotaShift {
  readonly #cores = new Map<string, number>();
  readonly #arrays: ReadonlyMap<ArrayName, NodeArray>;
  readonly #policy: Policy;

  constructor({ arrays }: Snapshot, policy: Policy) {
    this.#arrays = new Map(arrays.map((array) => [array.name, array]));
    this.#policy = policy;
  }

  /** Adds (1) or removes (-1) the cores of a node. A deallocated one still uses its quota; another one that is not active changes nothing. */
  add(node: Node, sign: 1 | -1): void {
    const array = this.#arrays.get(node.array);
    const bucket = array?.buckets.find(({ machineType }) => sameMachineType(machineType, node.machineType));
    if (array === undefined || bucket === undefined || !usesQuota(node)) return;
    const spot = node.spot ?? array.spot;
    const cores = sign * bucket.machine.quotaVcpus;
    for (const key of spot === array.spot ? this.#keysOf(array, bucket) : [])
      this.#cores.set(key, (this.#cores.get(key) ?? 0) + cores);
  }

  /** The bucket with the quotas that it would report. */
  shift(array: NodeArray, bucket: StatusBucket): StatusBucket {
    const { familyQuota, regionalQuota } = bucket;
    return {
      ...bucket,
      ...(familyQuota === undefined
        ? {}
        : { familyQuota: this.#shifted(familyQuota, this.#familyKey(array, bucket, familyQuota)) }),
      ...(regionalQuota === undefined
        ? {}
        : { regionalQuota: this.#shifted(regionalQuota, regionKey(array, regionalQuota)) }),
    };
  }

  #shifted({ quotaCores, consumedCores }: Quota, key: string): Quota {
    return { quotaCores, consumedCores: Math.max(0, consumedCores + (this.#cores.get(key) ?? 0)) };
  }

  #keysOf(array: NodeArray, bucket: StatusBucket): readonly string[] {
    const { familyQuota, regionalQuota } = bucket;
    return [
      ...(familyQuota === undefined ? [] : [this.#familyKey(array, bucket, familyQuota)]),
      ...(regionalQuota === undefined ? [] : [regionKey(array, regionalQuota)]),
    ];
  }

  /** Arrays of other subscriptions have other quotas. The amount of the quota distinguishes them. */
  #familyKey({ region }: NodeArray, { machineType }: StatusBucket, { quotaCores }: Quota): string {
    const { name } = familyOf(catalogueOf(this.#policy), region, machineType);
    return ["family", region, familyKey(name), quotaCores].join("/");
  }
}

const regionKey = ({ region, spot }: NodeArray, { quotaCores }: Quota): string =>
  ["region", region, spot, quotaCores].join("/");

/** Whether the node has a VM, gets one, or may still have one (cyclecloud-wire.md A.3, semantics 3). */
function isActive({ phase, missing }: Pick<Node, "phase" | "missing">): boolean {
  const without: readonly NodePhase[] = ["off", "deallocated"];
  return !without.includes(phase) && missing === undefined;
}

const usesQuota = (node: Node): boolean => isActive(node) || node.phase === "deallocated";

/** Active nodes and their cores. */
interface Use {
  nodes: number;
  cores: number;
}

/** The active nodes of a cluster. */
interface Uses {
  readonly cluster: Use;
  readonly arrays: ReadonlyMap<ArrayName, Use>;
  /** By array and VM size in lower case. */
  readonly buckets: ReadonlyMap<string, readonly Node[]>;
}

const keyOf = (array: ArrayName, machineType: string): string => `${array}/${machineType.toLowerCase()}`;

/** Counts the active nodes. */
function countUse({ arrays }: Snapshot, nodes: readonly Node[]): Uses {
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
function usedIn({ buckets }: Uses, { name }: NodeArray, { machineType }: StatusBucket) {
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
function availableIn(worlds: Worlds, array: NodeArray, bucket: StatusBucket, shifted: StatusBucket): number {
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
