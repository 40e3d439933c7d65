import type { Bin, BinColumns } from "./bin-columns.ts";
import { CLAIMED, CLOSED, EMPTY } from "./bin-columns.ts";
import type { RoomSearch } from "./room-search.ts";
import { ALL_BUT } from "./room-search.ts";

// Long: blocks and their summaries change together in every method.

/** Neighbouring bins of a line, with two summaries: of the bins that a demand needs already, and of the others. */
export interface Block {
  /** Blocks stand in the order of these numbers. */
  readonly order: number;
  /** The block was merged into the next one. */
  spent: boolean;
  readonly bins: Bin[];
  /** How often bins have been removed. */
  removals: number;
  /** Free amounts only fall, so an old summary stays an upper bound. It is recomputed after a search that it let pass in vain. */
  readonly claimed: Summary;
  readonly unclaimed: Summary;
}

/** Bins of a new block: about the square root of ten thousand. A block that has grown to more than twice this is cut in two. */
const BLOCK = 96;

/**
 * The bins of a line in their order of use, in blocks. A search skips a block whose summary shows that no bin has room.
 *
 * Blocks drop bins that are full for every job, and small blocks are merged: else the bench row distinct-jobs 100,000 takes 1.5 times as long.
 */
export class LineBlocks {
  readonly list: Block[] = [];
  readonly columns: BinColumns;
  readonly #blockOf = new Map<Bin, Block>();
  /** All bins that were ever put here have lower numbers. Most bins that are claimed have just been planned: they fail this test at once. */
  #end = 0;
  /**
   * By tier: the `order` of the last block that may have a claimed bin of the tier. Without it, 10,000 jobs of which no two are alike take 1.1
   * times as long on 40,000 idle nodes.
   */
  readonly #claimedUpTo = new Map<number, number>();

  constructor(columns: BinColumns, members: readonly Bin[]) {
    this.columns = columns;
    for (let at = 0; at < members.length; at += BLOCK)
      this.#open(members.slice(at, at + BLOCK), this.list.length);
  }

  /** Puts a bin behind all others. */
  append(bin: Bin): void {
    const last = this.list.at(-1);
    if (last === undefined || last.spent || last.bins.length >= BLOCK) {
      this.#open([bin], this.list.length);
      return;
    }
    last.bins.push(bin);
    this.#enter(bin, last);
    this.#raise(last, bin);
  }

  /** Puts a bin right behind another one, if that one is here. */
  insertAfter(other: Bin, bin: Bin): void {
    const block = this.#blockOf.get(other);
    if (block === undefined || block.spent) return;
    const at = block.bins.indexOf(other);
    // The other one was dropped because it is full, and this one is just as full.
    if (at < 0) return;
    block.bins.splice(at + 1, 0, bin);
    this.#enter(bin, block);
    this.#raise(block, bin);
    if (block.bins.length > 2 * BLOCK) this.#cut(block);
  }

  /** Moves a bin that has just been claimed to the summary of the claimed ones. */
  claim(bin: Bin): void {
    if (bin >= this.#end) return;
    const block = this.#blockOf.get(bin);
    if (block !== undefined) this.#raise(block, bin);
  }

  /** The `order` of the last block that may have a claimed bin of the tier. Undefined if there is none. */
  lastClaimedIn(tier: number): number | undefined {
    return this.#claimedUpTo.get(tier);
  }

  /** The position of the first block of at least this order. */
  positionOf(order: number): number {
    let [low, high] = [0, this.list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.list[middle]?.order ?? 0) < order) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Whether a bin of the block may have room. False is certain, true is not. */
  mayHaveRoom(block: Block, search: RoomSearch): boolean {
    return covers(block.claimed, search) || covers(block.unclaimed, search);
  }

  /** Recomputes the summaries of a block. */
  summarise(block: Block): void {
    clear(block);
    for (const bin of block.bins) this.#raise(block, bin);
  }

  /**
   * Drops the bins of a block that are full for every job, and recomputes its summaries. If what is left fits into the next block, the block is
   * merged into that one and removed: then the answer is true. Never into the block before: cursors of searches that have passed that one would
   * miss these bins.
   */
  tidy(at: number): boolean {
    const block = this.list[at];
    if (block === undefined) return false;
    this.#dropFull(block);
    const next = this.list[at + 1];
    // The last block stays, even if it is empty: new bins go into it, and cursors of searches without success point to it.
    if (next === undefined || block.bins.length > BLOCK - next.bins.length) return false;
    if (block.bins.length > 0) {
      next.bins.unshift(...block.bins);
      for (const bin of block.bins) {
        this.#blockOf.set(bin, next);
        this.#raise(next, bin);
      }
    }
    block.spent = true;
    this.list.splice(at, 1);
    return true;
  }

  /** Whether any job of the plan may find room on the bin. */
  isOpen(bin: Bin): boolean {
    const { state, free, width, least } = this.columns;
    if (((state[bin] ?? 0) & CLOSED) !== 0) return false;
    for (let r = 0; r < width; r += 1) {
      const needed = least[r] ?? 0;
      // A resource that the nodes do not have is below 0 here. That only matters if every job takes some of it.
      if (needed > 0 && (free[bin * width + r] ?? 0) < needed * ALL_BUT) return false;
    }
    return true;
  }

  #dropFull(block: Block): void {
    clear(block);
    const { bins } = block;
    let kept = 0;
    for (let i = 0; i < bins.length; i += 1) {
      const bin = bins[i] ?? 0;
      if (!this.isOpen(bin)) continue;
      bins[kept] = bin;
      kept += 1;
      this.#raise(block, bin);
    }
    bins.length = kept;
    block.removals += 1;
  }

  #enter(bin: Bin, block: Block): void {
    this.#blockOf.set(bin, block);
    if (bin >= this.#end) this.#end = bin + 1;
  }

  #open(bins: Bin[], at: number): void {
    const before = this.list[at - 1]?.order ?? 0;
    const after = this.list[at]?.order;
    const order = after === undefined ? before + 1 : (before + after) / 2;
    const block: Block = {
      order,
      spent: false,
      bins,
      removals: 0,
      claimed: newSummary(this.columns.width),
      unclaimed: newSummary(this.columns.width),
    };
    this.list.splice(at, 0, block);
    for (const bin of bins) this.#enter(bin, block);
    this.summarise(block);
  }

  #cut(block: Block): void {
    this.#open(block.bins.splice(BLOCK), this.list.indexOf(block) + 1);
    this.summarise(block);
  }

  /** Raises the summary of a block that a bin belongs to. */
  #raise(block: Block, bin: Bin): void {
    const state = this.columns.state[bin] ?? 0;
    if ((state & CLOSED) !== 0) return;
    if ((state & CLAIMED) === 0) {
      raiseSummary(block.unclaimed, this.columns, bin);
      return;
    }
    const tier = this.columns.tier[bin] ?? 0;
    if (block.order > (this.#claimedUpTo.get(tier) ?? 0)) this.#claimedUpTo.set(tier, block.order);
    raiseSummary(block.claimed, this.columns, bin);
  }
}

function clear({ claimed, unclaimed }: Block): void {
  clearSummary(claimed);
  clearSummary(unclaimed);
}

/**
 * An upper bound of what is free on each of several bins. Free amounts only fall while a plan is made, so it stays one. It is recomputed when it
 * has let a search pass that found nothing.
 *
 * Bench row: karpenter-pods 20,000 takes 1.25 times as long without summaries.
 */
interface Summary {
  /** The largest free amount of each resource. Behind the resources: 1 if one of the bins is empty, else 0. Without bins all are -1. */
  readonly most: Float64Array;
  /** The free amounts of the two most used resources. */
  readonly front: ParetoFront;
}

const newSummary = (width: number): Summary => ({ most: new Float64Array(width + 1), front: [] });

/** Makes it the summary of no bins. */
function clearSummary({ most, front }: Summary): void {
  front.length = 0;
  most.fill(-1);
}

/** Raises the summary to what is free on a bin. */
function raiseSummary({ most, front }: Summary, columns: BinColumns, bin: Bin): void {
  const { free, width, pair } = columns;
  const start = bin * width;
  for (let r = 0; r < width; r += 1) {
    const left = free[start + r] ?? 0;
    if (left > (most[r] ?? 0)) most[r] = left;
  }
  const isEmpty = ((columns.state[bin] ?? 0) & EMPTY) === 0 ? 0 : 1;
  if (isEmpty > (most[width] ?? 0)) most[width] = isEmpty;
  const [a, b] = pair;
  if (a !== b) addPair(front, free[start + a] ?? 0, free[start + b] ?? 0);
}

/** Whether one of the bins may have room. False is certain, true is not. */
export function covers({ most, front }: Summary, { takes, least }: RoomSearch): boolean {
  if ((most[most.length - 1] ?? 0) < (takes.alone ? 1 : 0)) return false;
  const { resource, pair } = takes;
  for (let i = 0; i < resource.length; i += 1)
    if ((most[resource[i] ?? 0] ?? 0) < (least[i] ?? 0)) return false;
  return pair === undefined || reaches(front, least[pair[0]] ?? 0, least[pair[1]] ?? 0);
}

/**
 * A Pareto front: of all pairs of amounts that were added, those that no other pair equals or exceeds in both amounts. It is stored flat
 * (first, second, first, second, ...), with falling first amounts and rising second amounts.
 *
 * A block of bins keeps one for the two most used resources. The largest free amount of each resource alone is not enough: one bin may have
 * much free memory and another one many free cores, and no bin has both.
 *
 * Bench row: karpenter-pods 20,000 takes 1.2 times as long without it.
 */
type ParetoFront = number[];

/** Whether the front has a pair that is at least as large in both amounts. */
export function reaches(front: ParetoFront, first: number, second: number): boolean {
  for (let i = 0; i < front.length; i += 2) {
    if ((front[i] ?? 0) < first) return false;
    if ((front[i + 1] ?? 0) >= second) return true;
  }
  return false;
}

/** Adds a pair, and removes the pairs that it equals or exceeds. Nothing changes if the front already reaches the pair. */
export function addPair(front: ParetoFront, first: number, second: number): void {
  let at = 0;
  while (at < front.length && (front[at] ?? 0) > first) at += 2;
  // The pair before has a larger first amount. The pair at this place has at most the same one.
  if (at > 0 && (front[at - 1] ?? 0) >= second) return;
  if (front[at] === first && (front[at + 1] ?? 0) >= second) return;
  let end = at;
  while (end < front.length && (front[end + 1] ?? 0) <= second) end += 2;
  replacePairs(front, at, end, first, second);
}

/** Replaces the pairs from `at` up to `end` by one pair. Unlike `splice` it allocates nothing: a plan may add millions of pairs. */
function replacePairs(front: ParetoFront, at: number, end: number, first: number, second: number): void {
  if (end === at) {
    front.push(0, 0);
    for (let i = front.length - 1; i > at + 1; i -= 1) front[i] = front[i - 2] ?? 0;
  } else if (end > at + 2) {
    const shorter = front.length - (end - at - 2);
    for (let i = at + 2; i < shorter; i += 1) front[i] = front[i + (end - at - 2)] ?? 0;
    front.length = shorter;
  }
  front[at] = first;
  front[at + 1] = second;
}
