import type {
  Bucket,
  CountAndCores,
  Node,
  NodeArray,
  NodePhase,
  Quota,
  Snapshot,
} from "../../domain/cluster.ts";
import type { ArrayName } from "../../domain/ids.ts";
import { sameMachineType } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import { catalogueOf } from "../../domain/vm-size-data.ts";
import { familyKey, familyOf } from "../world/quota-family.ts";

/**
 * What CycleCloud would show if the observed arrays had the virtual nodes instead of the real ones. Their limits are the real ones, plus
 * what the real nodes of the observed arrays use, less what the virtual nodes use. An array in act keeps its nodes, and takes no new ones
 * here: what it gets is for the real plan to say.
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

/** It has a VM, gets one, or may still have one (cyclecloud-wire.md A.3, semantics 3). */
function isActive({ phase, missing }: Pick<Node, "phase" | "missing">): boolean {
  const without: readonly NodePhase[] = ["off", "deallocated"];
  return !without.includes(phase) && missing === undefined;
}

// ---------------------------------------------------------------- quotas

/** By how many cores each quota is used more, or less, by the virtual nodes than by the real ones. */
class QuotaShift {
  readonly #cores = new Map<string, number>();
  readonly #arrays: ReadonlyMap<ArrayName, NodeArray>;
  readonly #policy: Policy;

  constructor({ arrays }: Snapshot, policy: Policy) {
    this.#arrays = new Map(arrays.map((array) => [array.name, array]));
    this.#policy = policy;
  }

  /** A real node without a VM may use its quota, or not: it is not taken off. A virtual one counts like a real one. */
  add(node: Node, sign: 1 | -1): void {
    const array = this.#arrays.get(node.array);
    const bucket = array?.buckets.find(({ machineType }) => sameMachineType(machineType, node.machineType));
    if (array === undefined || bucket === undefined || !isActive(node)) return;
    const spot = node.spot ?? array.spot;
    const cores = sign * bucket.machine.quotaVcpus;
    for (const key of spot === array.spot ? this.#keysOf(array, bucket) : [])
      this.#cores.set(key, (this.#cores.get(key) ?? 0) + cores);
  }

  /** A bucket with the quotas that it would report. */
  shift(array: NodeArray, bucket: Bucket): Bucket {
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

  #keysOf(array: NodeArray, bucket: Bucket): readonly string[] {
    const { familyQuota, regionalQuota } = bucket;
    return [
      ...(familyQuota === undefined ? [] : [this.#familyKey(array, bucket, familyQuota)]),
      ...(regionalQuota === undefined ? [] : [regionKey(array, regionalQuota)]),
    ];
  }

  /** Arrays of other subscriptions have other quotas. They are told apart by their size. */
  #familyKey({ region = "" }: NodeArray, { machineType }: Bucket, { quotaCores }: Quota): string {
    const { name } = familyOf(catalogueOf(this.#policy), region, machineType);
    return `family/${region}/${familyKey(name)}/${quotaCores}`;
  }
}

const regionKey = ({ region = "", spot }: NodeArray, { quotaCores }: Quota): string =>
  `region/${region}/${String(spot)}/${quotaCores}`;

// ---------------------------------------------------------------- counts

interface Use {
  nodes: number;
  cores: number;
}

interface Uses {
  readonly cluster: Use;
  readonly arrays: ReadonlyMap<ArrayName, Use>;
  /** The active nodes of each array and size in lower case. */
  readonly buckets: ReadonlyMap<string, readonly Node[]>;
}

const keyOf = (array: ArrayName, machineType: string): string => `${array}/${machineType.toLowerCase()}`;

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

function usedIn({ buckets }: Uses, { name }: NodeArray, { machineType }: Bucket) {
  const there = buckets.get(keyOf(name, machineType)) ?? [];
  const groups = Map.groupBy(there, ({ placementGroup }) => placementGroup);
  return {
    nodes: there.length,
    groups: [...groups].flatMap(([group, nodes]) =>
      group === undefined ? [] : [{ name: group, activeCount: nodes.length }],
    ),
  };
}

// ---------------------------------------------------------------- what is available

interface Worlds {
  readonly seen: Snapshot;
  readonly before: Uses;
  readonly after: Uses;
}

/**
 * How many more nodes CycleCloud would call available. Where the limits that it shows explain the real number, they say it. Else a limit
 * that it does not show does: of that only as much is free as the bucket's own real nodes use, less all that the virtual fleet has more.
 */
function availableIn(worlds: Worlds, array: NodeArray, bucket: Bucket, shifted: Bucket): number {
  const { seen, before, after } = worlds;
  const room = roomIn(seen, after, array, shifted);
  if (roomIn(seen, before, array, bucket) <= bucket.availableCount) return Math.max(0, room);
  const own = nodesOf(before, array, bucket) - nodesOf(after, array, bucket);
  const hidden = bucket.availableCount + own - grownElsewhere(worlds, array, bucket);
  return Math.max(0, Math.min(room, hidden));
}

const nodesOf = ({ buckets }: Uses, { name }: NodeArray, { machineType }: Bucket): number =>
  buckets.get(keyOf(name, machineType))?.length ?? 0;

/** What other buckets have more in the virtual fleet, in nodes of this bucket. */
function grownElsewhere({ seen, before, after }: Worlds, array: NodeArray, bucket: Bucket): number {
  let cores = 0;
  for (const other of seen.arrays)
    for (const one of other.buckets) {
      if (other.name === array.name && one.machineType === bucket.machineType) continue;
      const grown = nodesOf(after, other, one) - nodesOf(before, other, one);
      cores += Math.max(0, grown) * one.machine.quotaVcpus;
    }
  return Math.ceil(cores / Math.max(1, bucket.machine.quotaVcpus));
}

/** Nodes that the limits still allow that CycleCloud shows; none shown: without end. */
function roomIn({ limit }: Snapshot, uses: Uses, array: NodeArray, bucket: Bucket): number {
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
