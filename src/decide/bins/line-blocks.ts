// Long: blocks and their summaries change together in every method.
import type { Bin } from "./bin.ts";
import type { BinColumns } from "./bin-columns.ts";
import { CLAIMED, CLOSED } from "./bin-columns.ts";
import type { Summary } from "./block-summary.ts";
import { clearSummary, covers, newSummary, raiseSummary } from "./block-summary.ts";
import type { RoomSearch } from "./room-search.ts";
import { ALL_BUT } from "./room-search.ts";

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
