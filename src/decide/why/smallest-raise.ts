import type { BucketOffer, SharedLimit } from "../../domain/world.ts";
import type { Raise } from "../../domain/binding.ts";
import { bucketText } from "../../domain/bucket.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import type { LimitId } from "../../domain/limit.ts";
import type { Budget } from "../constraints/budget.ts";
import type { Capacity, Taken } from "../draft/capacity.ts";
import type { OwnCeiling } from "../draft/caps.ts";

/** Halvings after which a search for the least raise ends: enough for every number that counts by ones. */
const HALVINGS = 64;

/** One way in which new nodes serve a demand; ways are tried in their order, each as far as it goes. */
export interface Step {
  readonly offer: BucketOffer;
  readonly group: PlacementGroup | "new" | undefined;
  /** New nodes come in lots of so many: one for slots that are packed, all of them for a gang. */
  readonly lot: number;
  /** What one lot serves, in the demand's own unit. */
  readonly serves: number;
  /** At most so many lots. */
  readonly most: number;
}

/** What a search for the smallest raise looks at. */
export interface Search {
  readonly budget: Budget;
  readonly capacity: Capacity;
  readonly limits: readonly SharedLimit[];
  readonly ceilings: readonly OwnCeiling[];
  /** In the order in which the allocator tries them. */
  readonly steps: readonly Step[];
  /** What is to be served by new nodes: all that is missing, and what `given` serves. */
  readonly wanted: number;
  /** New nodes that the demand was given in this plan: they are given back before anything is tried. */
  readonly given: readonly Taken[];
}

/** Ways whose raise is worked out in full; the others lack more by a first estimate. */
const WAYS_TRIED = 8;

/** A raise is eaten in part by other buckets that share the limit; it is made up for so many times. */
const ROUNDS = 12;

/**
 * The smallest raises with which the steps serve all that is wanted; undefined: none was found. Each candidate is tried out on the very
 * order in which the allocator goes, so that a raise which another bucket would eat is not taken for enough. Of several that serve, the
 * one with the fewest limits is taken, then the one whose largest raise is smallest in proportion to its limit, then the first in the
 * order of the steps; and no raise of it can be smaller while the others stay as they are.
 */
export function smallestRaise(search: Search): readonly Raise[] | undefined {
  const ledger = new Ledger(search);
  const rest = ledger.serve(NO_RAISE);
  if (rest <= 0) return [];
  const estimates = search.steps
    .map((step) => ({ step, raises: ledger.lacking(step, rest) }))
    .filter(({ raises }) => isFinite(raises))
    .toSorted((a, b) => ledger.compare(a.raises, b.raises));
  let best: ReadonlyMap<number, number> | undefined;
  for (const { step } of estimates.slice(0, WAYS_TRIED)) {
    const raises = enough(ledger, step);
    if (raises !== undefined && (best === undefined || ledger.compare(raises, best) < 0)) best = raises;
  }
  return best === undefined ? undefined : ledger.describe(shrink(ledger, best));
}

type Raises = ReadonlyMap<number, number>;

const NO_RAISE: Raises = new Map();

const isFinite = (raises: Raises): boolean => [...raises.values()].every(Number.isFinite);

/** Raises what one step lacks until everything is served. */
function enough(ledger: Ledger, step: Step): Raises | undefined {
  const raises = new Map<number, number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const rest = ledger.serve(raises);
    if (rest <= 0) return raises;
    const lacking = ledger.lacking(step, rest, raises);
    if (lacking.size === 0 || !isFinite(lacking)) return undefined;
    for (const [at, more] of lacking) raises.set(at, (raises.get(at) ?? 0) + more);
  }
  return undefined;
}

/** Each raise as small as the others allow, until none can be smaller. */
function shrink(ledger: Ledger, raises: Raises): Raises {
  let least = raises;
  for (let round = 0; round < ROUNDS; round += 1) {
    let next = least;
    for (const at of least.keys()) next = shrinkOne(ledger, next, at);
    if (total(next) === total(least)) return next;
    least = next;
  }
  return least;
}

const total = (raises: Raises): number => [...raises.values()].reduce((sum, more) => sum + more, 0);

/** The least of one raise that still serves, the others as they are. */
function shrinkOne(ledger: Ledger, raises: Raises, at: number): Raises {
  let low = 0;
  let high = raises.get(at) ?? 0;
  // Beyond 2^53 a number plus one is the number itself, and the two would never meet. What is found by then serves, if it is not the least.
  for (let round = 0; round < HALVINGS && low < high && !ledger.isSpent; round += 1) {
    const middle = Math.floor((low + high) / 2);
    if (ledger.serve(new Map(raises).set(at, middle)) <= 0) high = middle;
    else low = middle + 1;
  }
  const least = new Map(raises).set(at, high);
  if (high === 0) least.delete(at);
  return least;
}

/** The ceilings of a search, numbered: the shared limits, then our own, then the largest group size of each bucket. */
class Ledger {
  readonly #search: Search;
  /** What is left of limits and of our own ceilings once `given` is given back. */
  readonly #left: readonly number[];
  readonly #offers: readonly BucketOffer[];
  readonly #charges = new Map<BucketOffer, readonly (readonly [at: number, amount: number])[]>();
  /** Limits as the buckets name them first; their own numbers mean nothing. */
  readonly #order = new Map<number, number>();
  /** What trying has taken, by limit, and by bucket and group. */
  #taken: number[] = [];
  #grown = new Map<BucketOffer, Map<PlacementGroup | "new", number>>();

  constructor(search: Search) {
    const { capacity, limits, ceilings, steps, given } = search;
    this.#search = search;
    this.#offers = [...new Set(steps.map(({ offer }) => offer))];
    for (const offer of this.#offers) {
      const shared = offer.charges.map(({ limit, amount }) => [limit, amount] as const);
      const own = ceilings.map((one, i) => [limits.length + i, one.amount(offer)] as const);
      const charges = [...shared, ...own].filter(([, amount]) => amount > 0);
      this.#charges.set(offer, charges);
      for (const [at] of charges) if (!this.#order.has(at)) this.#order.set(at, this.#order.size);
    }
    const left = [...limits.map((_, i) => capacity.left(i)), ...ceilings.map((one) => one.left)];
    for (const { offer, nodes } of given)
      for (const [at, amount] of this.#charges.get(offer) ?? []) left[at] = (left[at] ?? 0) + amount * nodes;
    this.#left = left;
  }

  /** Tries the steps with these raises; answers what remains to be served. */
  serve(raises: Raises): number {
    this.#search.budget.spend(this.#left.length + this.#search.steps.length);
    this.#taken = this.#left.map(() => 0);
    this.#grown = new Map();
    let rest = this.#search.wanted;
    for (const step of this.#search.steps) {
      if (rest <= 0) break;
      const wanted = Math.min(step.most, Math.ceil(rest / Math.min(step.serves, rest)));
      const lots = Math.min(wanted, Math.floor(this.#room(step, raises) / step.lot));
      if (lots <= 0) continue;
      this.#take(step, lots * step.lot);
      rest -= lots * step.serves;
    }
    return rest;
  }

  /** What a step lacks to serve so much, after the last {@link serve}; without an entry: nothing. */
  lacking(step: Step, rest: number, raised: Raises = NO_RAISE): Raises {
    const lots = Math.ceil(rest / Math.min(step.serves, rest));
    const nodes = lots > step.most ? Number.POSITIVE_INFINITY : lots * step.lot;
    const raises = new Map<number, number>();
    for (const [at, amount] of this.#charges.get(step.offer) ?? []) {
      const lack = amount * nodes - Math.max(0, this.#leftOf(at) + (raised.get(at) ?? 0));
      if (lack > 0) raises.set(at, Math.ceil(lack));
    }
    const lack = this.#groupNeed(step, nodes) - this.#groupMax(step.offer, raised);
    if (lack > 0) raises.set(this.#groupAt(step.offer), lack);
    return raises;
  }

  get isSpent(): boolean {
    return this.#search.budget.isSpent;
  }

  compare(a: Raises, b: Raises): number {
    return a.size - b.size || this.#relative(a) - this.#relative(b);
  }

  describe(raises: Raises): readonly Raise[] {
    return [...raises]
      .toSorted(([a], [b]) => (this.#order.get(a) ?? a) - (this.#order.get(b) ?? b))
      .map(([at, more]): Raise => ({ of: "limit", limit: this.#limitAt(at), more }));
  }

  #room(step: Step, raises: Raises): number {
    let room = Number.POSITIVE_INFINITY;
    for (const [at, amount] of this.#charges.get(step.offer) ?? [])
      room = Math.min(room, Math.floor((this.#leftOf(at) + (raises.get(at) ?? 0)) / amount));
    if (step.group === undefined) return room;
    const max = this.#groupMax(step.offer, raises);
    // Each lot has a new group of its own.
    if (step.group === "new") return step.lot > max ? 0 : room;
    return Math.min(room, max - this.#groupSize(step));
  }

  #groupMax(offer: BucketOffer, raises: Raises): number {
    return (
      (offer.maxPlacementGroupSize ?? Number.POSITIVE_INFINITY) + (raises.get(this.#groupAt(offer)) ?? 0)
    );
  }

  #groupNeed(step: Step, nodes: number): number {
    if (step.group === undefined) return 0;
    return step.group === "new" ? step.lot : this.#groupSize(step) + nodes;
  }

  #groupSize({ offer, group }: Step): number {
    if (group === undefined || group === "new") return 0;
    const given = this.#search.given
      .filter((one) => one.offer === offer && one.group === group)
      .reduce((sum, { nodes }) => sum + nodes, 0);
    return this.#search.capacity.groupSize(offer, group) - given + (this.#grown.get(offer)?.get(group) ?? 0);
  }

  #take({ offer, group }: Step, nodes: number): void {
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
