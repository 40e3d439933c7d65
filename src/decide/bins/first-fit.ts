import { TOLERANCE } from "../../domain/resources.ts";
import type { Bin, BinColumns } from "./bin-columns.ts";
import { CLAIMED, CLOSED, EMPTY } from "./bin-columns.ts";
import type { Takes } from "./takes.ts";

/** What is searched for: a bin with room for `times` slots at once. */
export interface RoomQuery {
  /** What one slot takes. */
  readonly takes: Takes;
  readonly times: number;
  /** A further condition on the bin. Undefined if every bin of the line qualifies. */
  readonly accepts: ((bin: Bin) => boolean) | undefined;
}

/** Free amounts are differences of floating point numbers. A threshold a little below the exact sum absorbs their rounding. */
export const ALL_BUT = 1 - TOLERANCE;

/** Numbers of neighbouring bins with one upper bound of what is free on them: in a block, and in a run of blocks. */
const BLOCK = 16;
const RUN = 16 * BLOCK;
/** A bound that was not worked out yet. */
const UNKNOWN = Number.POSITIVE_INFINITY;
/** Blocks that cost one step together: those that a search passes, and those of which it tests each bin. */
const PASSED_PER_STEP = 8;
const TESTED_PER_STEP = 2;

/**
 * Bins in their order of use. It answers first fit: which is the first bin with room? Two memories shorten the walk; both hold because bins
 * only fill up while a plan is made: a cursor for what a slot takes, and for each block the most that is free on its bins
 * (docs/architecture.md, What is remembered).
 */
export class Line {
  readonly #columns: BinColumns;
  readonly #bins: Bin[];
  /** No bin before this position has room for one slot that takes this. */
  readonly #cursors = new Map<Takes, number>();
  /** Of each block, for each resource, an upper bound of what is free on its bins. Worked out again after a search that it let pass in vain. */
  readonly #most: number[] = [];
  /** The same of the claimed bins of each block. */
  readonly #mostClaimed: number[] = [];
  /** The same of all bins of each run of blocks. */
  readonly #mostInRun: number[] = [];
  /** Blocks with a bin that was found since their bounds were worked out: it has less by now. */
  readonly #stale = new Set<number>();
  /** By tier: the last position in the order of use that a claimed bin has. */
  readonly #lastClaimed = new Map<number, number>();

  constructor(columns: BinColumns, bins: readonly Bin[]) {
    this.#columns = columns;
    this.#bins = [...bins];
    this.#forget(0);
    for (const bin of bins) if (this.#isClaimed(bin)) this.claim(bin);
  }

  /** Puts a bin behind all others. */
  append(bin: Bin): void {
    this.#bins.push(bin);
    this.#forget(this.#bins.length - 1);
  }

  /** Puts a bin right behind another one that is in the same state, if that one is here. */
  insertAfter(other: Bin, bin: Bin): void {
    const at = this.#bins.lastIndexOf(other);
    if (at < 0) return;
    this.#bins.splice(at + 1, 0, bin);
    this.#forget(at);
  }

  /** A demand needs the bin from now on. */
  claim(bin: Bin): void {
    const { tier, position } = this.#columns;
    const at = position[bin] ?? 0;
    if (at > (this.#lastClaimed.get(tier[bin] ?? 0) ?? -1)) this.#lastClaimed.set(tier[bin] ?? 0, at);
    this.#forgetClaimed(bin);
  }

  /** The first bin with room. If claimed bins of its tier have room, the first of these. */
  first(query: RoomQuery): Bin | undefined {
    const { takes, times } = query;
    const at = this.#find(query, this.#cursors.get(takes) ?? 0);
    // Bins that have no room for several slots may have room for one.
    if (times === 1 && !this.#columns.budget.isSpent) this.#cursors.set(takes, at);
    const bin = this.#bins[at];
    if (bin === undefined || this.#isClaimed(bin)) return bin;
    const claimed = this.#inTier(query, at, "claimed").next();
    return claimed.done === true ? bin : claimed.value;
  }

  /** All bins with room, in the order of use: in each tier the claimed ones come first. Place nothing before this has ended. */
  *each(query: RoomQuery): Generator<Bin> {
    for (let at = this.#find(query, 0); at < this.#bins.length;) {
      yield* this.#inTier(query, at, "claimed");
      const end: number = yield* this.#inTier(query, at, "unclaimed");
      at = this.#find(query, end);
    }
  }

  /** All bins with room, claimed or not. Place nothing before this has ended. */
  *inOrder(query: RoomQuery): Generator<Bin, undefined> {
    const { budget } = this.#columns;
    for (let at = this.#find(query, 0); at < this.#bins.length; at = this.#find(query, at + 1)) {
      if (budget.isSpent) return undefined;
      budget.spend(1);
      yield this.#bins[at] ?? 0;
    }
    return undefined;
  }

  /** The claimed bins with room, or the unclaimed ones, in the tier of the bin at a position, from there on. Returns where the next tier begins. */
  *#inTier(query: RoomQuery, from: number, which: "claimed" | "unclaimed"): Generator<Bin, number> {
    const { budget, tier, position } = this.#columns;
    const own = tier[this.#bins[from] ?? 0] ?? 0;
    const wanted = which === "claimed";
    const last = wanted ? (this.#lastClaimed.get(own) ?? -1) : Number.POSITIVE_INFINITY;
    let at = from;
    for (; at < this.#bins.length; at += 1) {
      const bin = this.#bins[at] ?? 0;
      if ((tier[bin] ?? 0) > own || (position[bin] ?? 0) > last) break;
      if (at % BLOCK === 0) {
        budget.spend(1);
        if (!this.#mayHaveRoomNow(wanted ? this.#mostClaimed : this.#most, at / BLOCK, query)) {
          at += BLOCK - 1;
          continue;
        }
      }
      if (this.#isClaimed(bin) !== wanted || !hasRoom(this.#columns, bin, query)) continue;
      if (query.accepts?.(bin) === false) continue;
      budget.spend(1);
      this.#stale.add(Math.floor(at / BLOCK));
      yield bin;
    }
    return Math.min(at, this.#bins.length);
  }

  /** The position of the first bin with room, from a position on. The number of bins if there is none. */
  #find(query: RoomQuery, from: number): number {
    const { budget } = this.#columns;
    const end = this.#bins.length;
    let at = from;
    let passed = 0;
    let tested = 0;
    let found: number | undefined;
    while (found === undefined && at < end && !budget.isSpent) {
      passed += 1;
      const block = Math.floor(at / BLOCK);
      if (at % RUN === 0 && !this.#mayHaveRoom(this.#mostInRun, at / RUN, query)) {
        at += RUN;
        continue;
      }
      if (this.#mayHaveRoom(this.#most, block, query)) {
        tested += 1;
        found = this.#findIn(block, at, query);
      }
      at = (block + 1) * BLOCK;
      if (found === undefined && at % RUN === 0) this.#surveyRun(at / RUN - 1);
    }
    budget.spend(1 + Math.floor(passed / PASSED_PER_STEP) + Math.floor(tested / TESTED_PER_STEP));
    return found ?? end;
  }

  /** The position of the first bin of a block with room, from a position on. Undefined if there is none. */
  #findIn(block: number, from: number, query: RoomQuery): number | undefined {
    const end = Math.min(this.#bins.length, (block + 1) * BLOCK);
    let refused = false;
    for (let at = from; at < end; at += 1) {
      const bin = this.#bins[at] ?? 0;
      if (!hasRoom(this.#columns, bin, query)) continue;
      if (query.accepts === undefined || query.accepts(bin)) {
        this.#stale.add(block);
        return at;
      }
      if (this.#columns.budget.isSpent) return undefined;
      refused = true;
    }
    if (refused) return undefined;
    if (this.#stale.delete(block) || this.#most[block * this.#columns.width] === UNKNOWN) this.#survey(block);
    return undefined;
  }

  /** The bins behind a position have changed places. */
  #forget(from: number): void {
    const { width } = this.#columns;
    const sizes = [
      [this.#most, BLOCK],
      [this.#mostClaimed, BLOCK],
      [this.#mostInRun, RUN],
    ] as const;
    for (const [most, size] of sizes) {
      const end = Math.ceil(this.#bins.length / size) * width;
      for (let i = Math.floor(from / size) * width; i < end; i += 1) most[i] = UNKNOWN;
    }
  }

  /** The block of a bin has one more that is claimed. */
  #forgetClaimed(bin: Bin): void {
    const { tier, position, width } = this.#columns;
    const behind = (at: number): number => {
      const other = this.#bins[at] ?? 0;
      return (tier[other] ?? 0) - (tier[bin] ?? 0) || (position[other] ?? 0) - (position[bin] ?? 0);
    };
    let from = 0;
    for (let end = this.#bins.length; from < end;) {
      const middle = (from + end) >>> 1;
      if (behind(middle) < 0) from = middle + 1;
      else end = middle;
    }
    // Parts of one bin that was split have one position.
    for (let at = from; at < this.#bins.length && behind(at) === 0; at += 1)
      this.#mostClaimed.fill(UNKNOWN, Math.floor(at / BLOCK) * width, (Math.floor(at / BLOCK) + 1) * width);
  }

  /** False is certain, true is not. */
  #mayHaveRoom(
    most: readonly number[],
    at: number,
    { takes: { resource, amount }, times }: RoomQuery,
  ): boolean {
    const start = at * this.#columns.width;
    for (let i = 0; i < resource.length; i += 1)
      if ((most[start + (resource[i] ?? 0)] ?? UNKNOWN) < (amount[i] ?? 0) * times * ALL_BUT) return false;
    return true;
  }

  /** As {@link #mayHaveRoom}, of a block whose bounds are worked out again first if they are old. */
  #mayHaveRoomNow(most: readonly number[], block: number, query: RoomQuery): boolean {
    if (!this.#mayHaveRoom(most, block, query)) return false;
    if (!this.#stale.delete(block) && most[block * this.#columns.width] !== UNKNOWN) return true;
    this.#survey(block);
    return this.#mayHaveRoom(most, block, query);
  }

  #survey(block: number): void {
    const { free, width } = this.#columns;
    const end = Math.min(this.#bins.length, (block + 1) * BLOCK);
    const open = this.#bins.slice(block * BLOCK, end).filter((bin) => this.#isOpen(bin));
    for (let r = 0; r < width; r += 1) {
      let most = Number.NEGATIVE_INFINITY;
      let mostClaimed = Number.NEGATIVE_INFINITY;
      for (const bin of open) {
        const amount = free[bin * width + r] ?? 0;
        if (amount > most) most = amount;
        if (amount > mostClaimed && this.#isClaimed(bin)) mostClaimed = amount;
      }
      this.#most[block * width + r] = most;
      this.#mostClaimed[block * width + r] = mostClaimed;
    }
  }

  /** Whether any job of the plan may find room on the bin. */
  #isOpen(bin: Bin): boolean {
    const { free, state, width, least } = this.#columns;
    if (((state[bin] ?? 0) & CLOSED) !== 0) return false;
    for (let r = 0; r < width; r += 1) {
      const needed = least[r] ?? 0;
      // A resource that the nodes do not have is below 0. That matters only if every job takes some of it.
      if (needed > 0 && (free[bin * width + r] ?? 0) < needed * ALL_BUT) return false;
    }
    return true;
  }

  #surveyRun(run: number): void {
    const { width } = this.#columns;
    for (let r = 0; r < width; r += 1) {
      let most = Number.NEGATIVE_INFINITY;
      for (let block = run * (RUN / BLOCK); block < (run + 1) * (RUN / BLOCK); block += 1)
        most = Math.max(most, this.#most[block * width + r] ?? UNKNOWN);
      this.#mostInRun[run * width + r] = most;
    }
  }

  #isClaimed(bin: Bin): boolean {
    return ((this.#columns.state[bin] ?? 0) & CLAIMED) !== 0;
  }
}

/** Whether the bin has room. What else the query accepts does not matter. */
function hasRoom({ state, free, width }: BinColumns, bin: Bin, { takes, times }: RoomQuery): boolean {
  const { resource, amount, alone } = takes;
  const its = state[bin] ?? 0;
  if ((its & CLOSED) !== 0 || (alone && (its & EMPTY) === 0)) return false;
  for (let i = 0; i < resource.length; i += 1)
    if ((free[bin * width + (resource[i] ?? 0)] ?? 0) < (amount[i] ?? 0) * times * ALL_BUT) return false;
  return true;
}
