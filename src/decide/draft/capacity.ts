import type { BucketOffer, SharedLimit } from "../../domain/world.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import { bucketText } from "../../domain/bucket.ts";
import { ownOffer } from "../world/counterparts.ts";

/** New nodes that a demand got. */
export interface Taken {
  readonly offer: BucketOffer;
  readonly group: PlacementGroup | undefined;
  readonly nodes: number;
}

/**
 * What is left of every limit while a plan is being made. Buckets share limits: a node taken in one bucket leaves less for every bucket that
 * names the same limit (cyclecloud-wire.md A.3, semantics 1). `room` checks all limits of a bucket at once. So `take` after a sufficient
 * `room` cannot fail, and nothing is ever undone half-way.
 */
export class Capacity {
  readonly #limits: readonly SharedLimit[];
  readonly #left: number[];
  /**
   * Number of nodes in each placement group in which this plan has new nodes. For others the offer's own numbers hold. Nodes of a dynamic
   * node array are in the groups of the array that it extends.
   */
  readonly #groupSizes = new Map<BucketOffer, Map<PlacementGroup, number>>();

  /** Changes whenever something is taken. */
  version = 0;
  /** New nodes taken since the last {@link mark}. */
  #taken: Taken[] = [];

  constructor(limits: readonly SharedLimit[]) {
    this.#limits = limits;
    this.#left = limits.map((limit) => limit.left);
  }

  /** Call it before a demand is placed. Then {@link takenSinceMark} returns what that demand took. */
  mark(): void {
    if (this.#taken.length > 0) this.#taken = [];
  }

  takenSinceMark(): readonly Taken[] {
    return this.#taken;
  }

  /** What is left of a limit, in its unit. */
  left(limit: number): number {
    return this.#left[limit] ?? 0;
  }

  /** Number of nodes that the limits still allow in the bucket, and in the placement group if there is one. */
  room(offer: BucketOffer, group: PlacementGroup | undefined, charges = offer.charges): number {
    let room = group === undefined ? Number.POSITIVE_INFINITY : this.#groupRoom(offer, group);
    for (const { limit, amount } of charges) {
      if (amount > 0) room = Math.min(room, Math.floor((this.#left[limit] ?? 0) / amount));
    }
    return Math.max(0, room);
  }

  /** Takes nodes from all limits of the bucket. The caller has checked `room`. */
  take(offer: BucketOffer, group: PlacementGroup | undefined, nodes: number, charges = offer.charges): void {
    if (charges === offer.charges) this.#taken.push({ offer, group, nodes });
    this.version += 1;
    for (const { limit, amount } of charges) {
      this.#left[limit] = (this.#left[limit] ?? 0) - amount * nodes;
    }
    if (group === undefined) return;
    const home = homeOf(offer);
    const sizes = this.#groupSizes.get(home) ?? new Map<PlacementGroup, number>();
    sizes.set(group, this.groupSize(offer, group) + nodes);
    this.#groupSizes.set(home, sizes);
  }

  /** Takes nodes of one bucket in the place of as many of another one. Neither are in a placement group. The caller has checked `room`. */
  exchange(from: BucketOffer, to: BucketOffer, nodes: number): void {
    this.take(from, undefined, -nodes);
    this.take(to, undefined, nodes);
  }

  /** A copy without nodes that were taken before, to see what could be taken instead. */
  without(offer: BucketOffer, nodes: number): Capacity {
    const fork = this.fork();
    fork.take(offer, undefined, -nodes);
    return fork;
  }

  /** A copy for a trial. */
  fork(): Capacity {
    const fork = new Capacity(this.#limits);
    this.#left.forEach((left, limit) => {
      fork.#left[limit] = left;
    });
    for (const [offer, sizes] of this.#groupSizes) fork.#groupSizes.set(offer, new Map(sizes));
    return fork;
  }

  /**
   * The limit that allows the fewest nodes here, with its numbers. Of several, the first in the order of `charges`. Undefined if this number
   * of nodes is allowed. `charges`: what each takes, if it is no new node.
   */
  refusal(
    offer: BucketOffer,
    group: PlacementGroup | undefined,
    nodes: number,
    charges = offer.charges,
  ): Reason | undefined {
    const room = this.room(offer, group, charges);
    if (room >= nodes) return undefined;
    const charge = charges.find(
      ({ limit, amount }) =>
        amount > 0 && Math.max(0, Math.floor((this.#left[limit] ?? 0) / amount)) === room,
    );
    const limit = charge === undefined ? undefined : this.#limits[charge.limit];
    if (charge === undefined || limit === undefined) return this.#groupFull(offer, group, nodes);
    const left = Math.max(0, this.#left[charge.limit] ?? 0);
    const used = limit.used + (limit.left - left);
    return {
      code: "limit-reached",
      limit: charge.guessed === true ? { ...limit.id, guessed: true } : limit.id,
      used,
      max: limit.max,
      left,
      asked: nodes * charge.amount,
      bucket: offer.bucket,
      ...(limit.id.kind === "bucket" ? capacityFailureOf(offer) : {}),
    };
  }

  #groupFull(offer: BucketOffer, group: PlacementGroup | undefined, nodes: number): Reason {
    if (group === undefined) return { code: "no-placement-group", bucket: offer.bucket };
    const used = this.groupSize(offer, group);
    const max = offer.maxPlacementGroupSize ?? used;
    return {
      code: "limit-reached",
      limit: {
        kind: "placement-group",
        name: bucketText({ ...offer.bucket, placementGroup: group }),
        unit: "nodes",
      },
      used,
      max,
      left: Math.max(0, max - used),
      asked: nodes,
      bucket: offer.bucket,
    };
  }

  #groupRoom(offer: BucketOffer, group: PlacementGroup): number {
    return (offer.maxPlacementGroupSize ?? Number.POSITIVE_INFINITY) - this.groupSize(offer, group);
  }

  /** Number of nodes in a placement group, including those of this plan. */
  groupSize(offer: BucketOffer, group: PlacementGroup): number {
    return this.#groupSizes.get(homeOf(offer))?.get(group) ?? offer.groupSizes.get(group) ?? 0;
  }
}

/** For reasons: seconds from the last lack of capacity in Azure to the last observation. */
function capacityFailureOf({
  capacityFailureSeconds,
}: Pick<BucketOffer, "capacityFailureSeconds">): Pick<BucketOffer, "capacityFailureSeconds"> {
  return capacityFailureSeconds === undefined ? {} : { capacityFailureSeconds };
}

/** The bucket of the cluster in which nodes of an offer are created, and whose placement groups they are in. */
function homeOf(offer: BucketOffer): BucketOffer {
  const own = ownOffer(offer);
  return own.parent ?? own;
}
