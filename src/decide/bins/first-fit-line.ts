import type { Budget } from "../constraints/budget.ts";
import { TOLERANCE } from "../../domain/tolerance.ts";
import type { Takes } from "./takes.ts";

/** What a line needs to know of its bins, by bin. */
export interface LineBins {
  /** Searches count their steps here. */
  readonly budget: Budget;
  /** Amounts of one bin stand together. */
  readonly free: ArrayLike<number>;
  readonly width: number;
  /** The least that any job takes of each resource: blocks with less are left out from then on. */
  readonly least: readonly number[];
  /** The two resources that most jobs take. */
  readonly pair: readonly [number, number];
  /** Bits: {@link CLOSED}, {@link EMPTY} and {@link CLAIMED}. */
  readonly state: ArrayLike<number>;
  /** Bins of one tier are alike in the order of use. */
  readonly tier: ArrayLike<number>;
}

/** Nobody may be put there any more: one job has it alone, or it cannot be started. */
export const CLOSED = 1;
/** Nobody has slots there. */
export const EMPTY = 2;
/** Somebody needs it. */
export const CLAIMED = 4;

/** What is looked for. */
export interface Sought {
  readonly takes: Takes;
  /** Of each amount so many times. */
  readonly times: number;
  /** Only these; absent: all bins of the line are right. */
  readonly accepts: ((bin: number) => boolean) | undefined;
}

/** What is looked for, with the least that must be left of each resource that it takes, in its order. */
interface Search {
  takes: Takes;
  times: number;
  accepts: Sought["accepts"];
  readonly least: Float64Array;
}

/** Pairs of amounts of which none is at least as large as another in both: the first fall, the second rise. */
type Stairs = number[];

interface Block {
  /** Blocks stand in the order of these numbers. */
  readonly order: number;
  spent: boolean;
  readonly bins: number[];
  /** How often bins have been taken out. */
  removals: number;
  /**
   * For each resource no bin has more left: of those that somebody needs, and of the others. What is left only gets less, so that figures
   * of the past still hold; they are worked out anew when they have raised hopes in vain. Behind the resources: 1 if there is an empty
   * bin.
   */
  readonly claimed: Float64Array;
  readonly others: Float64Array;
  /** One bin may have much of one resource and another much of another: what can be had of both of the pair at once. */
  readonly claimedPairs: Stairs;
  readonly otherPairs: Stairs;
}

/** No bin of a line has room before this one. */
interface Cursor {
  block: Block;
  /** Position in the block; it holds as long as none has been taken out of it. */
  index: number;
  removals: number;
}

/** Bins a block, about the square root of ten thousand; one that has grown to twice as many is cut in two. */
const BLOCK = 96;
/** A look at each bin of a block costs about as much as this many other looks. */
const STEPS_OF_BLOCK = 8;
const ALL_BUT = 1 - TOLERANCE;

/**
 * Bins that are right for jobs of some shape, in their order of use, in blocks that know the most that is left on any of their bins: the
 * first with room is found without asking each.
 */
export class Line {
  readonly #bins: LineBins;
  readonly #blocks: Block[] = [];
  readonly #blockOf = new Map<number, Block>();
  /** No bin beyond this one has ever stood here: most of what is claimed has just been planned. */
  #highest = -1;
  /** Bins that the plan creates, in its order; those of them that are right come behind all others, once somebody looks. */
  readonly #planned: readonly number[];
  readonly #takes: ((bin: number) => boolean) | undefined;
  /** So many of the planned ones have been looked at. */
  #seen = 0;
  /** By class: how far there is no room. Of a class of one job only as long as nobody else looks. */
  readonly #from = new Map<Takes, Cursor>();
  /** By tier: no block behind this one, by its order, has bins of the tier that somebody needs. */
  readonly #claimedUpTo = new Map<number, number>();
  /** Of `first`, made once. */
  readonly #search: Search;
  #last: Takes | undefined;
  #lastCursor: Cursor | undefined;

  constructor(
    bins: LineBins,
    members: readonly number[],
    planned: readonly number[],
    takes?: (bin: number) => boolean,
  ) {
    this.#bins = bins;
    this.#search = newSearch(bins.width);
    this.#planned = planned;
    this.#takes = takes;
    for (let at = 0; at < members.length; at += BLOCK) this.#open(members.slice(at, at + BLOCK));
  }

  /**
   * Puts what has been planned since the last search behind all others. Most of it is full by then and need not be looked at again: so a
   * new node costs next to nothing in the lines of others.
   */
  #catchUp(): void {
    for (; this.#seen < this.#planned.length; this.#seen += 1) {
      const bin = this.#planned[this.#seen] ?? 0;
      if (this.#isOpen(bin) && this.#takes?.(bin) !== false) this.#append(bin);
    }
  }

  #append(bin: number): void {
    const last = this.#blocks.at(-1);
    if (last === undefined || last.spent || last.bins.length >= BLOCK) {
      this.#open([bin]);
      return;
    }
    last.bins.push(bin);
    this.#stand(bin, last);
    this.#raise(last, bin);
  }

  /** Puts a bin right behind another, if that is here; `position` is its own among the planned ones. */
  insertAfter(other: number, bin: number, position: number | undefined): void {
    if (position !== undefined) {
      // Its turn comes yet.
      if (position > this.#seen) return;
      this.#seen += 1;
    }
    const block = this.#blockOf.get(other);
    if (block === undefined || block.spent) return;
    const at = block.bins.indexOf(other);
    // It was full, and so is this one.
    if (at < 0) return;
    block.bins.splice(at + 1, 0, bin);
    this.#stand(bin, block);
    this.#raise(block, bin);
    if (block.bins.length > 2 * BLOCK) this.#cut(block);
  }

  /** Somebody needs the bin from now on. */
  claim(bin: number): void {
    if (bin > this.#highest) return;
    const block = this.#blockOf.get(bin);
    if (block !== undefined) this.#raise(block, bin);
  }

  /** The first bin with room; of several in one tier the first that is needed already, if there is one. */
  first(wanted: Sought): number | undefined {
    this.#catchUp();
    const sought = lookFor(this.#search, wanted);
    const from = this.#cursorOf(sought);
    const { budget } = this.#bins;
    for (let at = this.#start(from); at < this.#blocks.length; at += 1) {
      const block = this.#blocks[at];
      if (block === undefined) break;
      budget.spend(1);
      if (!this.#covers(block, true, sought) && !this.#covers(block, false, sought)) continue;
      const isAtCursor = from?.block === block && from.removals === block.removals;
      const index = this.#find(block, sought, isAtCursor ? from.index : 0);
      if (index < 0) {
        if (sought.accepts === undefined && this.#tidy(at)) at -= 1;
        continue;
      }
      this.#remember(sought, from, block, index);
      const bin = block.bins[index] ?? 0;
      return this.#isClaimed(bin) ? bin : (this.#claimedInTier(sought, at, index) ?? bin);
    }
    const end = this.#blocks.at(-1);
    if (end !== undefined) this.#remember(sought, from, end, end.bins.length);
    return undefined;
  }

  /**
   * All bins with room, in the order of use; in each tier first those that somebody needs. Nothing may be put anywhere while this goes on.
   */
  *each(wanted: Sought): Generator<number> {
    this.#catchUp();
    const sought = lookFor(newSearch(this.#bins.width), wanted);
    let at = 0;
    let from = 0;
    for (;;) {
      const start = this.#next(sought, at, from);
      if (start === undefined) return;
      const own = this.#bins.tier[start.bin] ?? 0;
      const end = yield* this.#eachInTier(sought, start.at, start.index, own, true);
      yield* this.#eachInTier(sought, start.at, start.index, own, false);
      ({ at, from } = end);
    }
  }

  /** The first bin with room, whether somebody needs it or not: tiers do not matter. */
  firstInOrder(wanted: Sought): number | undefined {
    this.#catchUp();
    return this.#inOrder(lookFor(this.#search, wanted)).next().value;
  }

  /** All bins with room, whether somebody needs them or not. Nothing may be put anywhere while this goes on. */
  *inOrder(wanted: Sought): Generator<number, undefined> {
    this.#catchUp();
    return yield* this.#inOrder(lookFor(newSearch(this.#bins.width), wanted));
  }

  *#inOrder(sought: Search): Generator<number, undefined> {
    const { budget } = this.#bins;
    for (const block of this.#blocks) {
      budget.spend(1);
      if (!this.#covers(block, true, sought) && !this.#covers(block, false, sought)) continue;
      budget.spend(STEPS_OF_BLOCK);
      let found = false;
      for (const bin of block.bins) {
        if (budget.isSpent) return undefined;
        if (!this.#fits(bin, sought)) continue;
        found = true;
        budget.spend(1);
        yield bin;
      }
      if (!found) this.#workOut(block);
    }
    return undefined;
  }

  /** The first bin with room from there on. */
  #next(
    sought: Search,
    at: number,
    from: number,
  ): { readonly at: number; readonly index: number; readonly bin: number } | undefined {
    for (let i = at; i < this.#blocks.length; i += 1) {
      const block = this.#blocks[i];
      if (block === undefined) break;
      if (!this.#covers(block, true, sought) && !this.#covers(block, false, sought)) continue;
      const index = this.#find(block, sought, i === at ? from : 0);
      if (index >= 0) return { at: i, index, bin: block.bins[index] ?? 0 };
    }
    return undefined;
  }

  /** Those of one tier that are needed, or those that are not; answers where the tier ends. */
  *#eachInTier(
    sought: Search,
    at: number,
    from: number,
    tier: number,
    claimed: boolean,
  ): Generator<number, { at: number; from: number }> {
    const bins = this.#bins;
    for (let i = at; i < this.#blocks.length; i += 1) {
      const block = this.#blocks[i];
      if (block === undefined) break;
      bins.budget.spend(1);
      if ((bins.tier[block.bins[0] ?? 0] ?? 0) > tier) return { at: i, from: 0 };
      const isLast = (bins.tier[block.bins.at(-1) ?? 0] ?? 0) > tier;
      if (!isLast && !this.#covers(block, claimed, sought)) continue;
      bins.budget.spend(STEPS_OF_BLOCK);
      for (let j = i === at ? from : 0; j < block.bins.length; j += 1) {
        const bin = block.bins[j] ?? 0;
        if ((bins.tier[bin] ?? 0) > tier) return { at: i, from: j };
        if (this.#isClaimed(bin) !== claimed || !this.#fits(bin, sought)) continue;
        bins.budget.spend(1);
        yield bin;
      }
    }
    return { at: this.#blocks.length, from: 0 };
  }

  #claimedInTier(sought: Search, from: number, after: number): number | undefined {
    const bins = this.#bins;
    const tier = bins.tier[this.#blocks[from]?.bins[after] ?? 0] ?? 0;
    const last = this.#claimedUpTo.get(tier);
    if (last === undefined) return undefined;
    for (let at = from; at < this.#blocks.length; at += 1) {
      const block = this.#blocks[at];
      if (block === undefined || block.order > last) return undefined;
      bins.budget.spend(1);
      if (!this.#covers(block, true, sought)) continue;
      bins.budget.spend(STEPS_OF_BLOCK);
      const members = block.bins;
      for (let i = at === from ? after + 1 : 0; i < members.length; i += 1) {
        const bin = members[i] ?? 0;
        if ((bins.tier[bin] ?? 0) > tier) return undefined;
        if (this.#isClaimed(bin) && this.#fits(bin, sought)) return bin;
      }
      if (at > from && sought.accepts === undefined) this.#workOut(block);
    }
    return undefined;
  }

  #find(block: Block, sought: Search, from: number): number {
    const { bins } = block;
    this.#bins.budget.spend(STEPS_OF_BLOCK);
    for (let i = from; i < bins.length; i += 1) if (this.#fits(bins[i] ?? 0, sought)) return i;
    return -1;
  }

  #fits(bin: number, sought: Search): boolean {
    const bins = this.#bins;
    const state = bins.state[bin] ?? 0;
    if ((state & CLOSED) !== 0 || (sought.takes.alone && (state & EMPTY) === 0)) return false;
    const { resource } = sought.takes;
    const { free } = bins;
    const { least } = sought;
    const start = bin * bins.width;
    for (let i = 0; i < resource.length; i += 1)
      if ((free[start + (resource[i] ?? 0)] ?? 0) < (least[i] ?? 0)) return false;
    return sought.accepts === undefined || sought.accepts(bin);
  }

  /** Whether some bin of the block may have room: of those that are needed, or of the others. */
  #covers(block: Block, claimed: boolean, sought: Search): boolean {
    const most = claimed ? block.claimed : block.others;
    if ((most[this.#bins.width] ?? -1) < (sought.takes.alone ? 1 : 0)) return false;
    const { resource, pair } = sought.takes;
    const { least } = sought;
    for (let i = 0; i < resource.length; i += 1)
      if ((most[resource[i] ?? 0] ?? -1) < (least[i] ?? 0)) return false;
    if (pair === undefined) return true;
    return reaches(claimed ? block.claimedPairs : block.otherPairs, least[pair[0]] ?? 0, least[pair[1]] ?? 0);
  }

  /** Nothing before this bin has room for such a slot. Larger shares say nothing of single slots. */
  #remember({ takes, times }: Sought, before: Cursor | undefined, block: Block, index: number): void {
    if (times !== 1) return;
    if (before !== undefined) {
      before.block = block;
      before.index = index;
      before.removals = block.removals;
      return;
    }
    if (takes.isCommon) {
      this.#from.set(takes, { block, index, removals: block.removals });
      return;
    }
    this.#last = takes;
    // One for all of them: it is forgotten as soon as another class is looked for.
    this.#lastCursor ??= { block, index, removals: block.removals };
    this.#lastCursor.block = block;
    this.#lastCursor.index = index;
    this.#lastCursor.removals = block.removals;
  }

  #cursorOf({ takes }: Sought): Cursor | undefined {
    if (takes.isCommon) return this.#from.get(takes);
    return this.#last === takes ? this.#lastCursor : undefined;
  }

  /** The first block that comes into question. */
  #start(from: Cursor | undefined): number {
    if (from === undefined) return 0;
    const { order } = from.block;
    let [low, high] = [0, this.#blocks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#blocks[middle]?.order ?? 0) < order) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #stand(bin: number, block: Block): void {
    this.#blockOf.set(bin, block);
    if (bin > this.#highest) this.#highest = bin;
  }

  #open(bins: number[], at = this.#blocks.length): void {
    const before = this.#blocks[at - 1]?.order ?? 0;
    const after = this.#blocks[at]?.order;
    const order = after === undefined ? before + 1 : (before + after) / 2;
    const block: Block = {
      order,
      spent: false,
      bins,
      removals: 0,
      claimed: new Float64Array(this.#bins.width + 1),
      others: new Float64Array(this.#bins.width + 1),
      claimedPairs: [],
      otherPairs: [],
    };
    this.#blocks.splice(at, 0, block);
    for (const bin of bins) this.#stand(bin, block);
    this.#workOut(block);
  }

  #cut(block: Block): void {
    this.#open(block.bins.splice(BLOCK), this.#blocks.indexOf(block) + 1);
    this.#workOut(block);
  }

  /**
   * Works the figures of a block out anew, without bins on which no job of this plan fits any more. What little is left of a block goes into
   * the next one; true: so this one is gone. (Into the next, as whoever has found no room up to here does not look back.)
   */
  #tidy(at: number): boolean {
    const block = this.#blocks[at];
    if (block === undefined) return false;
    clear(block);
    const { bins } = block;
    let kept = 0;
    for (let i = 0; i < bins.length; i += 1) {
      const bin = bins[i] ?? 0;
      if (!this.#isOpen(bin)) continue;
      bins[kept] = bin;
      kept += 1;
      this.#raise(block, bin);
    }
    bins.length = kept;
    block.removals += 1;
    const next = this.#blocks[at + 1];
    // The last one stays, even empty: what is planned later goes into it, and whoever has found no room so far looks from there on.
    if (next === undefined || kept > BLOCK - next.bins.length) return false;
    if (kept > 0) {
      next.bins.unshift(...bins);
      for (const bin of bins) {
        this.#blockOf.set(bin, next);
        this.#raise(next, bin);
      }
    }
    block.spent = true;
    this.#blocks.splice(at, 1);
    return true;
  }

  #isOpen(bin: number): boolean {
    const { state, free, width, least } = this.#bins;
    if (((state[bin] ?? 0) & CLOSED) !== 0) return false;
    for (let r = 0; r < width; r += 1) {
      const needed = least[r] ?? 0;
      // What a bin does not have is below 0 here. That matters only if every job takes some of it.
      if (needed > 0 && (free[bin * width + r] ?? 0) < needed * ALL_BUT) return false;
    }
    return true;
  }

  #isClaimed(bin: number): boolean {
    return ((this.#bins.state[bin] ?? 0) & CLAIMED) !== 0;
  }

  #workOut(block: Block): void {
    clear(block);
    for (const bin of block.bins) this.#raise(block, bin);
  }

  #raise(block: Block, bin: number): void {
    const { free, width, pair, tier } = this.#bins;
    const state = this.#bins.state[bin] ?? 0;
    if ((state & CLOSED) !== 0) return;
    const isClaimed = (state & CLAIMED) !== 0;
    const most = isClaimed ? block.claimed : block.others;
    if (isClaimed) {
      const own = tier[bin] ?? 0;
      if (block.order > (this.#claimedUpTo.get(own) ?? 0)) this.#claimedUpTo.set(own, block.order);
    }
    const start = bin * width;
    for (let r = 0; r < width; r += 1) {
      const left = free[start + r] ?? 0;
      if (left > (most[r] ?? -1)) most[r] = left;
    }
    const isEmpty = (state & EMPTY) === 0 ? 0 : 1;
    if (isEmpty > (most[width] ?? -1)) most[width] = isEmpty;
    const [a, b] = pair;
    if (a === b) return;
    const stairs = isClaimed ? block.claimedPairs : block.otherPairs;
    addStep(stairs, free[start + a] ?? 0, free[start + b] ?? 0);
  }
}

/** Forgets the figures of a block. */
function clear({ claimed, others, claimedPairs, otherPairs }: Block): void {
  claimedPairs.length = 0;
  otherPairs.length = 0;
  claimed.fill(-1);
  others.fill(-1);
}

/** Looks for something else with the same search. */
function lookFor(search: Search, { takes, times, accepts }: Sought): Search {
  if (search.takes !== takes || search.times !== times) {
    const { amount } = takes;
    for (let i = 0; i < amount.length; i += 1) search.least[i] = (amount[i] ?? 0) * times * ALL_BUT;
  }
  search.takes = takes;
  search.times = times;
  search.accepts = accepts;
  return search;
}

const NOTHING: Takes = {
  resource: [],
  amount: [],
  pair: undefined,
  alone: false,
  nothing: true,
  isCommon: false,
};

const newSearch = (width: number): Search => ({
  takes: NOTHING,
  times: 0,
  accepts: undefined,
  least: new Float64Array(width),
});

/** Whether there is a step at least as large in both. */
function reaches(stairs: Stairs, first: number, second: number): boolean {
  for (let i = 0; i < stairs.length; i += 2) {
    if ((stairs[i] ?? 0) < first) return false;
    if ((stairs[i + 1] ?? 0) >= second) return true;
  }
  return false;
}

function addStep(stairs: Stairs, first: number, second: number): void {
  let at = 0;
  while (at < stairs.length && (stairs[at] ?? 0) > first) at += 2;
  // A larger one stands before it, or an equal one here.
  if (at > 0 && (stairs[at - 1] ?? 0) >= second) return;
  if (stairs[at] === first && (stairs[at + 1] ?? 0) >= second) return;
  let end = at;
  while (end < stairs.length && (stairs[end + 1] ?? 0) <= second) end += 2;
  replaceSteps(stairs, at, end, first, second);
}

/** Puts one step in the place of those from `at` up to `end`: what `splice` does, without an array of what is gone for each of millions. */
function replaceSteps(stairs: Stairs, at: number, end: number, first: number, second: number): void {
  if (end === at) {
    stairs.push(0, 0);
    for (let i = stairs.length - 1; i > at + 1; i -= 1) stairs[i] = stairs[i - 2] ?? 0;
  } else if (end > at + 2) {
    const shorter = stairs.length - (end - at - 2);
    for (let i = at + 2; i < shorter; i += 1) stairs[i] = stairs[i + (end - at - 2)] ?? 0;
    stairs.length = shorter;
  }
  stairs[at] = first;
  stairs[at + 1] = second;
}
