import type { Raise } from "../../domain/remedy.ts";
import { bucketText } from "../../domain/bucket.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { LimitId } from "../../domain/limit.ts";
import type { BucketOffer, SharedLimit } from "../../domain/world.ts";
import type { Budget } from "../constraints/budget.ts";
import type { Capacity, Taken } from "../draft/capacity.ts";
import type { OwnCeiling } from "../draft/caps.ts";
import { isOwnMax, roomOf } from "./raised-world.ts";

/** One way to serve a demand with new nodes. */
export interface Expansion {
  readonly offer: BucketOffer;
  readonly group: PlacementGroup | "new" | undefined;
  /** New nodes come in lots of this size: one node for slots that are packed, all nodes for a gang. */
  readonly lot: number;
  /** What one lot serves, in the demand's own unit. */
  readonly serves: number;
  /** Maximum number of lots. */
  readonly most: number;
}

/** The input of a search for the smallest raise. */
export interface Search {
  readonly budget: Budget;
  readonly capacity: Capacity;
  readonly limits: readonly SharedLimit[];
  readonly ceilings: readonly OwnCeiling[];
  /** In the order in which the allocator tries them. Each is used as far as the limits allow. */
  readonly expansions: readonly Expansion[];
  /** What new nodes must serve: all that is missing, and what `given` serves already. */
  readonly wanted: number;
  /** New nodes that the demand got in this plan. They are given back before anything is tried. */
  readonly given: readonly Taken[];
}

/** If other limits explain how many nodes CycleCloud offers in a bucket, it will offer more when they are raised (raised-world.ts). */
function freeBucket(left: number[], limits: readonly SharedLimit[], offer: BucketOffer): void {
  const at = offer.charges.find(({ limit }) => limits[limit]?.id.kind === "bucket")?.limit;
  const own = at === undefined ? undefined : limits[at];
  if (at === undefined || own === undefined) return;
  const room = roomOf(limits, offer);
  if (room.own < room.shared) return;
  const most = isOwnMax(own, room) ? own.max - own.used : Number.POSITIVE_INFINITY;
  left[at] = (left[at] ?? 0) + most - own.left;
}

/** By how much limits are raised, by their number in {@link TrialLimits}. */
export type Raises = ReadonlyMap<number, number>;

export const NO_RAISE: Raises = new Map();

/**
 * The limits of a search, numbered: the shared limits, then our own ceilings, then the largest group size of each bucket. Tries out how
 * much the expansions serve if some limits are raised.
 */
export class TrialLimits {
  readonly #search: Search;
  /** What is left of limits and of our own ceilings after `given` is given back. */
  readonly #left: readonly number[];
  readonly #offers: readonly BucketOffer[];
  readonly #charges = new Map<BucketOffer, readonly (readonly [at: number, amount: number])[]>();
  /** Limits in the order in which the buckets name them. Their numbers are arbitrary. */
  readonly #order = new Map<number, number>();
  /** What the trial has taken, by limit, and by bucket and group. */
  #taken: number[] = [];
  #grown = new Map<BucketOffer, Map<PlacementGroup | "new", number>>();

  constructor(search: Search) {
    const { capacity, limits, ceilings, expansions, given } = search;
    this.#search = search;
    this.#offers = [...new Set(expansions.map(({ offer }) => offer))];
    for (const offer of this.#offers) {
      const shared = offer.charges.map(({ limit, amount }) => [limit, amount] as const);
      const own = ceilings.map((one, i) => [limits.length + i, one.amount(offer)] as const);
      const charges = [...shared, ...own].filter(([, amount]) => amount > 0);
      this.#charges.set(offer, charges);
      for (const [at] of charges) if (!this.#order.has(at)) this.#order.set(at, this.#order.size);
    }
    // Where more is used than allowed, that comes first.
    const left = limits.map(({ used, max }, i) => capacity.left(i) - Math.max(0, used - max));
    for (const offer of this.#offers) freeBucket(left, limits, offer);
    left.push(...ceilings.map((one) => one.left));
    for (const { offer, nodes } of given)
      for (const [at, amount] of this.#charges.get(offer) ?? []) left[at] = (left[at] ?? 0) + amount * nodes;
    this.#left = left;
  }

  /** Tries the expansions with these raises. Returns what remains to be served. */
  serve(raises: Raises): number {
    this.#search.budget.spend(this.#left.length + this.#search.expansions.length);
    this.#taken = this.#left.map(() => 0);
    this.#grown = new Map();
    let rest = this.#search.wanted;
    for (const expansion of this.#search.expansions) {
      if (rest <= 0) break;
      const wanted = Math.min(expansion.most, Math.ceil(rest / Math.min(expansion.serves, rest)));
      const lots = Math.min(wanted, Math.floor(this.#room(expansion, raises) / expansion.lot));
      if (lots <= 0) continue;
      this.#take(expansion, lots * expansion.lot);
      rest -= lots * expansion.serves;
    }
    return rest;
  }

  /** What an expansion lacks to serve `rest`, after the last {@link serve}. A limit without an entry lacks nothing. */
  lacking(expansion: Expansion, rest: number, raised: Raises = NO_RAISE): Raises {
    const lots = Math.ceil(rest / Math.min(expansion.serves, rest));
    const nodes = lots > expansion.most ? Number.POSITIVE_INFINITY : lots * expansion.lot;
    const raises = new Map<number, number>();
    for (const [at, amount] of this.#charges.get(expansion.offer) ?? []) {
      const lack = amount * nodes - Math.max(0, this.#leftOf(at) + (raised.get(at) ?? 0));
      if (lack > 0) raises.set(at, Math.ceil(lack));
    }
    const lack = this.#groupNeed(expansion, nodes) - this.#groupMax(expansion.offer, raised);
    if (lack > 0) raises.set(this.#groupAt(expansion.offer), lack);
    return raises;
  }

  get isSpent(): boolean {
    return this.#search.budget.isSpent;
  }

  /** Fewer limits first, then the smaller largest raise in proportion to its limit. */
  compare(a: Raises, b: Raises): number {
    return a.size - b.size || this.#relative(a) - this.#relative(b);
  }

  describe(raises: Raises): readonly Raise[] {
    return [...raises]
      .toSorted(([a], [b]) => (this.#order.get(a) ?? a) - (this.#order.get(b) ?? b))
      .map(([at, more]): Raise => ({ of: "limit", limit: this.#limitAt(at), more }));
  }

  #room(expansion: Expansion, raises: Raises): number {
    let room = Number.POSITIVE_INFINITY;
    for (const [at, amount] of this.#charges.get(expansion.offer) ?? [])
      room = Math.min(room, Math.floor((this.#leftOf(at) + (raises.get(at) ?? 0)) / amount));
    if (expansion.group === undefined) return room;
    const max = this.#groupMax(expansion.offer, raises);
    // Each lot has a new group of its own.
    if (expansion.group === "new") return expansion.lot > max ? 0 : room;
    return Math.min(room, max - this.#groupSize(expansion));
  }

  #groupMax(offer: BucketOffer, raises: Raises): number {
    return (
      (offer.maxPlacementGroupSize ?? Number.POSITIVE_INFINITY) + (raises.get(this.#groupAt(offer)) ?? 0)
    );
  }

  #groupNeed(expansion: Expansion, nodes: number): number {
    if (expansion.group === undefined) return 0;
    return expansion.group === "new" ? expansion.lot : this.#groupSize(expansion) + nodes;
  }

  #groupSize({ offer, group }: Expansion): number {
    if (group === undefined || group === "new") return 0;
    const given = this.#search.given
      .filter((one) => one.offer === offer && one.group === group)
      .reduce((sum, { nodes }) => sum + nodes, 0);
    return this.#search.capacity.groupSize(offer, group) - given + (this.#grown.get(offer)?.get(group) ?? 0);
  }

  #take({ offer, group }: Expansion, nodes: number): void {
    for (const [at, amount] of this.#charges.get(offer) ?? [])
      this.#taken[at] = (this.#taken[at] ?? 0) + amount * nodes;
    if (group === undefined) return;
    const grown = this.#grown.get(offer) ?? new Map<PlacementGroup | "new", number>();
    this.#grown.set(offer, grown.set(group, (grown.get(group) ?? 0) + nodes));
  }

  #leftOf(at: number): number {
    return (this.#left[at] ?? 0) - (this.#taken[at] ?? 0);
  }

  #groupAt(offer: BucketOffer): number {
    return this.#left.length + this.#offers.indexOf(offer);
  }

  #relative(raises: Raises): number {
    let largest = 0;
    for (const [at, more] of raises) largest = Math.max(largest, more / Math.max(1, this.#maxOf(at)));
    return largest;
  }

  #ceiling(at: number): SharedLimit | undefined {
    const { limits, ceilings } = this.#search;
    return limits[at] ?? ceilings[at - limits.length];
  }

  #maxOf(at: number): number {
    return this.#ceiling(at)?.max ?? this.#offers[at - this.#left.length]?.maxPlacementGroupSize ?? 0;
  }

  #limitAt(at: number): LimitId {
    const offer = this.#offers[at - this.#left.length];
    const name = offer === undefined ? "" : bucketText(offer.bucket);
    return this.#ceiling(at)?.id ?? { kind: "placement-group", name, unit: "nodes" };
  }
}
