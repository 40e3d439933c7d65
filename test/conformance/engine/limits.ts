import type { Fields } from "../compare.ts";
import { objectsIn, textOf } from "../compare.ts";
import type { Offer, Status } from "./status.ts";
import { catalogueOf, hasMachine, isAutoscaled } from "./status.ts";
import type { Switches } from "./switches.ts";

/** What is left of something that buckets share, in cores, in nodes or in both (cyclecloud-wire.md A.3). */
export class Limit {
  readonly #cores: number;
  readonly #nodes: number;
  #usedCores = 0;
  #usedNodes = 0;

  constructor(left: { readonly cores?: number; readonly nodes?: number }) {
    this.#cores = left.cores ?? Number.POSITIVE_INFINITY;
    this.#nodes = left.nodes ?? Number.POSITIVE_INFINITY;
  }

  /** Nodes of so many cores that it still allows. */
  room(cores: number): number {
    const byCores = Math.floor((this.#cores - this.#usedCores) / cores);
    return Math.max(0, Math.min(byCores, this.#nodes - this.#usedNodes));
  }

  charge(nodes: number, cores: number): void {
    this.#usedCores += nodes * cores;
    this.#usedNodes += nodes;
  }
}

/** The limits of a bucket, by the names that the vectors have for them. */
export interface BucketLimits {
  readonly bucket: Limit;
  readonly cluster: Limit;
  readonly family: Limit;
  readonly nodearray: Limit;
  readonly regional: Limit;
  readonly group: Limit | undefined;
  /** Nodes of the cluster, which the vectors do not show. */
  readonly nodes: Limit;
}

/** Makes the limits of buckets; those that are shared once. */
export class LimitReader {
  readonly #known = new Map<string, Limit>();
  readonly #status: Status;
  readonly #switches: Switches;

  constructor(status: Status, switches: Switches) {
    this.#status = status;
    this.#switches = switches;
  }

  of(offer: Offer, group: string | undefined): BucketLimits {
    const { array, cores, spot } = offer;
    const { record } = this.#status;
    const used = this.#usedBy(this.#status.nodes.filter((node) => textOf(node["Template"]) === array));
    const nodearray = this.#shared(`array ${array}`, {
      cores: leftOf(offer.element["maxCoreCount"], used.cores),
      nodes: leftOf(offer.element["maxCount"], used.nodes),
    });
    const all = this.#usedBy(this.#status.nodes, this.#switches.has("nodes-without-machine-count"));
    const cluster = this.#shared("cluster", { cores: leftOf(record["maxCoreCount"], all.cores) });
    const nodes = leftOf(record["maxCount"], this.#usedBy(this.#status.nodes).nodes);
    const isCounted = !this.#switches.has("cluster-nodes-are-not-counted");
    const regional = this.#quota(regionKey, offer, "regional");
    const own = { nodes: Math.min(this.#availableIn(offer), nodearray.room(cores)) };
    const isOwn = this.#switches.has("groups-do-not-share");
    return {
      bucket: isOwn ? new Limit(own) : this.#shared(`bucket ${array}/${offer.size}`, own),
      cluster,
      nodes: this.#shared("nodes", isCounted ? { nodes } : {}),
      nodearray,
      regional,
      family: spot ? regional : this.#quota((one) => this.#familyKey(one), offer, "family"),
      group: group === undefined ? undefined : new Limit({ cores: this.#leftInGroup(offer, group) }),
    };
  }

  /** A group that is only generated has nothing in it; in the library it has what its size has at that moment for itself. */
  ofGenerated(offer: Offer, limits: BucketLimits): BucketLimits {
    const size = Number(offer.bucket["maxPlacementGroupSize"] ?? 0);
    const own = new Limit({ nodes: Math.min(size, roomIn(limits, offer.cores)) });
    return {
      ...limits,
      group: new Limit({ nodes: size }),
      bucket: this.#switches.has("groups-do-not-share") ? own : limits.bucket,
    };
  }

  #shared(key: string, left: { readonly cores?: number; readonly nodes?: number }): Limit {
    const limit = this.#known.get(key) ?? new Limit(left);
    this.#known.set(key, limit);
    return limit;
  }

  /** Each bucket tells the quotas that it shares. The one that leaves least counts; in the library the first. */
  #quota(keyOf: (offer: Offer) => string, offer: Offer, kind: "family" | "regional"): Limit {
    const isFirst = this.#switches.has("first-quota-counts");
    const all = isFirst ? this.#status.offers : this.#status.sizes.filter(isAutoscaled);
    const told = all
      .filter((one) => keyOf(one) === keyOf(offer) && (kind === "regional" || !one.spot))
      .map((one) => quotaOf(one.bucket, kind));
    return this.#shared(keyOf(offer), { cores: isFirst ? (told[0] ?? 0) : Math.min(...told) });
  }

  /** As the status says, but no more than the bucket's maximum leaves beside the nodes that are there. */
  #availableIn({ array, size, bucket, cores }: Offer): number {
    const available = Number(bucket["availableCount"]);
    if (this.#switches.has("nodes-do-not-count-in-buckets")) return available;
    const there = this.#status.nodes.filter((node) => isOf(node, array, size) && hasMachine(node)).length;
    const byCores = Math.floor(Number(bucket["maxCoreCount"] ?? Number.POSITIVE_INFINITY) / cores);
    const max = Math.min(Number(bucket["maxCount"] ?? Number.POSITIVE_INFINITY), byCores);
    return Math.max(0, Math.min(available, max - Math.max(there, Number(bucket["activeCount"] ?? 0))));
  }

  #familyKey({ vm, size, region, bucket }: Offer): string {
    const family = vm.family ?? size;
    const place = this.#switches.has("families-have-no-region") ? "" : region;
    const quota = this.#switches.has("families-have-one-quota") ? "" : textOf(bucket["familyQuotaCoreCount"]);
    return ["family", family, place, quota].join(" ");
  }

  #leftInGroup({ array, size, bucket, cores }: Offer, group: string): number {
    const found = objectsIn(bucket["placementGroups"]).find((one) => textOf(one["name"]) === group);
    const inside = this.#status.nodes.filter(
      (node) => isOf(node, array, size) && node["PlacementGroupId"] === group && hasMachine(node),
    ).length;
    const isSeen = !this.#switches.has("unlisted-groups-are-invisible");
    const used = Math.max(Number(found?.["activeCoreCount"] ?? 0), isSeen ? inside * cores : 0);
    return Number(bucket["maxPlacementGroupSize"] ?? 0) * cores - used;
  }

  #usedBy(nodes: readonly Fields[], all = false): { readonly nodes: number; readonly cores: number } {
    const counted = nodes.filter((node) => all || hasMachine(node));
    return { nodes: counted.length, cores: counted.reduce((sum, node) => sum + this.#coresOf(node), 0) };
  }

  #coresOf(node: Fields): number {
    const [array, size] = [textOf(node["Template"]), textOf(node["MachineType"])];
    const { region, cores } =
      this.#status.sizes.find((one) => one.array === array && one.size === size) ?? {};
    const known = catalogueOf(this.#status.vmSizes, region ?? "", size).vcpus;
    return this.#switches.has("unknown-sizes-count-minus-one") ? (known ?? -1) : (cores ?? known ?? 0);
  }
}

/** How many nodes all limits together allow. */
export function roomIn(limits: BucketLimits, cores: number): number {
  const all = Object.values(limits).filter((limit) => limit !== undefined);
  return Math.min(...all.map((limit) => limit.room(cores)));
}

/** Charges nodes to each limit once, though two of the names may stand for one. */
export function charge(limits: BucketLimits, nodes: number, cores: number): void {
  for (const limit of new Set(Object.values(limits))) limit?.charge(nodes, cores);
}

const leftOf = (max: unknown, used: number): number =>
  (typeof max === "number" ? max : Number.POSITIVE_INFINITY) - Math.max(0, used);

const quotaOf = (bucket: Fields, kind: "family" | "regional"): number =>
  leftOf(bucket[`${kind}QuotaCoreCount`], Number(bucket[`${kind}ConsumedCoreCount`] ?? 0));

const regionKey = ({ region, spot }: Offer): string => `region ${region} ${spot}`;

const isOf = (node: Fields, array: string, size: string): boolean =>
  node["Template"] === array && node["MachineType"] === size;
