import type { StatusBucket, Node, NodeArray, Quota, Snapshot } from "../../domain/cluster.ts";
import type { ArrayName } from "../../domain/ids.ts";
import { sameMachineType } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import { catalogueOf } from "../../domain/vm-size-data.ts";
import { familyKey, familyOf } from "../world/quota-family.ts";
import { isActive } from "./room-left.ts";

/** How many cores more of each quota the virtual nodes use than the real ones. May be negative. */
export class QuotaShift {
  readonly #cores = new Map<string, number>();
  readonly #arrays: ReadonlyMap<ArrayName, NodeArray>;
  readonly #policy: Policy;

  constructor({ arrays }: Snapshot, policy: Policy) {
    this.#arrays = new Map(arrays.map((array) => [array.name, array]));
    this.#policy = policy;
  }

  /** Adds (1) or removes (-1) the cores of a node. A node that is not active changes nothing. */
  add(node: Node, sign: 1 | -1): void {
    const array = this.#arrays.get(node.array);
    const bucket = array?.buckets.find(({ machineType }) => sameMachineType(machineType, node.machineType));
    if (array === undefined || bucket === undefined || !isActive(node)) return;
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
