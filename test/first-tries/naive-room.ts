import type { BucketOffer, World } from "../../src/domain/world.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { RankedDemand } from "../../src/domain/demand.ts";
import type { PlacementGroup } from "../../src/domain/ids.ts";
import type { Resources } from "../../src/domain/resources.ts";
import { bytesPer, isSize } from "../../src/domain/size.ts";
import type { EmptyNode, Taking } from "../property/naive-constraints.ts";
import { poolsOf, propertiesOf, textOf } from "../property/naive-nodes.ts";

/** A node while a naive first fit fills it. */
export interface RoomNode extends Omit<EmptyNode, "resources"> {
  readonly cores: number;
  readonly isSpot: boolean;
  readonly hostname?: string;
  /** What is left of it. */
  resources: Resources;
  /** Slots by job. */
  readonly jobs: Map<string, number>;
  /** The job that has it alone. */
  owner?: string;
}

/** What is left of a cluster. Copied where something is only tried. */
export class Room {
  readonly world: World;
  readonly nodes: RoomNode[] = [];
  readonly pools: {
    readonly left: Map<string, number>;
    readonly values: ReturnType<typeof poolsOf>["values"];
  };
  readonly #left: number[];
  readonly #groups = new Map<string, number>();

  /** Nodes that are up or coming, in their order of use; deallocated ones are left alone. */
  constructor(world: World, demands: readonly RankedDemand[]) {
    this.world = world;
    this.#left = world.limits.map(({ left }) => left);
    const { left, values } = poolsOf(world, demands);
    this.pools = { left: new Map(left), values };
    for (const node of world.nodes.toSorted((a, b) => a.order - b.order)) {
      if (node.deallocated === true) continue;
      const properties = propertiesOf(node.bucket, node.properties);
      const isSpot = properties["spot"] === true;
      this.nodes.push({ ...node, properties, isSpot, resources: node.resources, jobs: new Map() });
    }
  }

  fork(): Room {
    const fork = new Room(this.world, []);
    fork.become(this);
    return fork;
  }

  become(other: Room): void {
    this.nodes.splice(
      0,
      this.nodes.length,
      ...other.nodes.map((node) => ({ ...node, jobs: new Map(node.jobs) })),
    );
    this.#left.splice(0, this.#left.length, ...other.#left);
    this.#groups.clear();
    for (const [group, size] of other.#groups) this.#groups.set(group, size);
    this.pools.left.clear();
    for (const [pool, left] of other.pools.left) this.pools.left.set(pool, left);
  }

  /** A new node of the bucket as constraints see it. */
  example(offer: BucketOffer, group: PlacementGroup | undefined): RoomNode {
    const bucket: BucketKey = group === undefined ? offer.bucket : { ...offer.bucket, placementGroup: group };
    const { resources, properties } = (group === undefined ? undefined : offer.inGroup?.(group)) ?? offer;
    const made: RoomNode = {
      bucket,
      properties: propertiesOf(bucket, properties),
      resources,
      cores: offer.cores,
      isSpot: offer.spot === true,
      jobs: new Map(),
    };
    const { capacityFailureSeconds } = offer;
    return capacityFailureSeconds === undefined ? made : { ...made, capacityFailureSeconds };
  }

  /** Whether one more node may be made there. */
  mayMake(offer: BucketOffer, group: PlacementGroup | undefined): boolean {
    if (this.world.closed !== undefined || offer.refusal !== undefined || offer.groupRefusals !== undefined)
      return false;
    const most = offer.maxPlacementGroupSize ?? Number.POSITIVE_INFINITY;
    if (group !== undefined && this.#sizeOf(offer, group) >= most) return false;
    return offer.charges.every(({ limit, amount }) => (this.#left[limit] ?? 0) >= amount);
  }

  /** Adds a node that was made there. */
  add(offer: BucketOffer, node: RoomNode): void {
    for (const { limit, amount } of offer.charges) this.#left[limit] = (this.#left[limit] ?? 0) - amount;
    const group = node.bucket.placementGroup;
    if (group !== undefined) this.#groups.set(textOf(node.bucket), this.#sizeOf(offer, group) + 1);
    this.nodes.push(node);
  }

  #sizeOf(offer: BucketOffer, group: PlacementGroup): number {
    const key = textOf({ ...offer.bucket, placementGroup: group });
    return this.#groups.get(key) ?? offer.groupSizes.get(group) ?? 0;
  }
}

/** Puts one slot of a job on a node. */
export function putSlot({ pools }: Room, node: RoomNode, by: string, taking: Taking): void {
  const resources = { ...node.resources };
  for (const [name, amount] of taking.node) {
    const found = resources[name];
    if (isSize(found)) resources[name] = { ...found, amount: found.amount - amount / bytesPer(found.unit) };
    else if (typeof found === "number") resources[name] = found - amount;
  }
  node.resources = resources;
  for (const [pool, amount] of taking.pools) pools.left.set(pool, (pools.left.get(pool) ?? 0) - amount);
  node.jobs.set(by, (node.jobs.get(by) ?? 0) + 1);
  if (taking.alone !== undefined) node.owner = by;
}
