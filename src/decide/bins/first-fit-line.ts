import type { Bin, BinColumns } from "./bin-columns.ts";
import { CLAIMED } from "./bin-columns.ts";
import { covers, LineBlocks } from "./line-blocks.ts";
import type { Block } from "./line-blocks.ts";
import type { RoomQuery, RoomSearch } from "./room-search.ts";
import { hasRoom, newSearch, reuseSearch } from "./room-search.ts";
import type { Takes } from "./takes.ts";

/**
 * Bins in their order of use. It answers first fit: which is the first bin with room? Summaries of blocks and cursors of earlier searches spare
 * it from testing each bin.
 */
export class Line {
  readonly #columns: BinColumns;
  readonly #blocks: LineBlocks;
  readonly #cursors = new LineCursors();
  /** The bins that the plan creates, in its order. Those that belong here stand behind all others. */
  readonly #planned: readonly Bin[];
  readonly #belongs: ((bin: Bin) => boolean) | undefined;
  /** Number of planned bins that have been taken in, or found full. */
  #seen = 0;
  /** The search of {@link first}, allocated once. */
  readonly #search: RoomSearch;

  /** `planned` may grow later. `belongs` says which planned bins stand in this line. Undefined: all. */
  constructor(
    columns: BinColumns,
    members: readonly Bin[],
    planned: readonly Bin[],
    belongs?: (bin: Bin) => boolean,
  ) {
    this.#columns = columns;
    this.#search = newSearch(columns.width);
    this.#planned = planned;
    this.#belongs = belongs;
    this.#blocks = new LineBlocks(columns, members);
  }

  /** Puts a bin right behind another, if that one is here. `position` is the bin's own among the planned ones, if it is planned. */
  insertAfter(other: Bin, bin: Bin, position: number | undefined): void {
    if (position !== undefined) {
      // The next search will take it in.
      if (position > this.#seen) return;
      this.#seen += 1;
    }
    this.#blocks.insertAfter(other, bin);
  }

  /** A demand needs the bin from now on. */
  claim(bin: Bin): void {
    this.#blocks.claim(bin);
  }

  /** The first bin with room. If claimed bins of its tier have room, the first of these. */
  first(query: RoomQuery): Bin | undefined {
    this.#takeInPlanned();
    const search = reuseSearch(this.#search, query);
    const cursor = this.#cursors.of(query);
    const blocks = this.#blocks;
    const { budget } = this.#columns;
    for (
      let at = cursor === undefined ? 0 : blocks.positionOf(cursor.block.order);
      at < blocks.list.length;
      at += 1
    ) {
      const block = blocks.list[at];
      if (block === undefined) break;
      budget.spend(1);
      if (!blocks.mayHaveRoom(block, search)) continue;
      const index = this.#find(block, search, startIn(block, cursor));
      if (index === undefined) {
        if (search.accepts === undefined && blocks.tidy(at)) at -= 1;
        continue;
      }
      this.#cursors.note(query, cursor, block, index);
      const bin = block.bins[index] ?? 0;
      return this.#isClaimed(bin) ? bin : (this.#claimedInTier(search, at, index) ?? bin);
    }
    const end = blocks.list.at(-1);
    if (end !== undefined) this.#cursors.note(query, cursor, end, end.bins.length);
    return undefined;
  }

  /** All bins with room, in the order of use: in each tier the claimed ones come first. Place nothing before this has ended. */
  *each(query: RoomQuery): Generator<Bin> {
    this.#takeInPlanned();
    yield* walkByTier(this.#blocks, reuseSearch(newSearch(this.#columns.width), query));
  }

  /** The first bin with room, claimed or not. */
  firstInOrder(query: RoomQuery): Bin | undefined {
    this.#takeInPlanned();
    return walkInOrder(this.#blocks, reuseSearch(this.#search, query)).next().value;
  }

  /** All bins with room, claimed or not. Place nothing before this has ended. */
  *inOrder(query: RoomQuery): Generator<Bin, undefined> {
    this.#takeInPlanned();
    return yield* walkInOrder(this.#blocks, reuseSearch(newSearch(this.#columns.width), query));
  }

  /**
   * Takes in the bins that were planned since the last search. Most of them are full by then and are left out. So a new node costs next to
   * nothing in the lines of other jobs.
   */
  #takeInPlanned(): void {
    for (; this.#seen < this.#planned.length; this.#seen += 1) {
      const bin = this.#planned[this.#seen] ?? 0;
      if (this.#blocks.isOpen(bin) && this.#belongs?.(bin) !== false) this.#blocks.append(bin);
    }
  }

  /** The first claimed bin with room behind a bin, in the tier of that bin. */
  #claimedInTier(search: RoomSearch, from: number, after: number): Bin | undefined {
    const columns = this.#columns;
    const { list } = this.#blocks;
    const tier = columns.tier[list[from]?.bins[after] ?? 0] ?? 0;
    const last = this.#blocks.lastClaimedIn(tier);
    if (last === undefined) return undefined;
    for (let at = from; at < list.length; at += 1) {
      const block = list[at];
      if (block === undefined || block.order > last) return undefined;
      columns.budget.spend(1);
      if (!covers(block.claimed, search)) continue;
      columns.budget.spend(STEPS_OF_BLOCK);
      const members = block.bins;
      for (let i = at === from ? after + 1 : 0; i < members.length; i += 1) {
        const bin = members[i] ?? 0;
        if ((columns.tier[bin] ?? 0) > tier) return undefined;
        if (this.#isClaimed(bin) && hasRoom(columns, bin, search)) return bin;
      }
      if (at > from && search.accepts === undefined) this.#blocks.summarise(block);
    }
    return undefined;
  }

  #find({ bins }: Block, search: RoomSearch, from: number): number | undefined {
    this.#columns.budget.spend(STEPS_OF_BLOCK);
    for (let i = from; i < bins.length; i += 1) if (hasRoom(this.#columns, bins[i] ?? 0, search)) return i;
    return undefined;
  }

  #isClaimed(bin: Bin): boolean {
    return ((this.#columns.state[bin] ?? 0) & CLAIMED) !== 0;
  }
}

/** The position in a block at which a search begins. */
function startIn(block: Block, cursor: Cursor | undefined): number {
  return cursor?.block === block && cursor.removals === block.removals ? cursor.index : 0;
}

/** The place in a line up to which no bin has room. */
interface Cursor {
  block: Block;
  /** Position in the block. Valid while the block's `removals` is unchanged: removing bins shifts the others. */
  index: number;
  removals: number;
}

/**
 * Remembers where the last search of each kind of slot ended. Bins only fill up while a plan is made, and new bins come at the end. So the next
 * search for the same amounts starts there.
 *
 * Amounts that only one job takes share a single cursor. It is forgotten when another job searches.
 *
 * Bench row: mixed-jobs 100,000 takes 1.2 times as long without it.
 */
class LineCursors {
  readonly #common = new Map<Takes, Cursor>();
  #last: Takes | undefined;
  #lastCursor: Cursor | undefined;

  of({ takes }: RoomQuery): Cursor | undefined {
    if (takes.isCommon) return this.#common.get(takes);
    return this.#last === takes ? this.#lastCursor : undefined;
  }

  /**
   * Notes that no bin before this one has room. `before` is the cursor that the search began with. A search for several slots at once notes
   * nothing, because bins that it passed may still have room for one.
   */
  note({ takes, times }: RoomQuery, before: Cursor | undefined, block: Block, index: number): void {
    if (times !== 1) return;
    if (before !== undefined) moveTo(before, block, index);
    else if (takes.isCommon) this.#common.set(takes, { block, index, removals: block.removals });
    else {
      this.#last = takes;
      this.#lastCursor ??= { block, index, removals: block.removals };
      moveTo(this.#lastCursor, block, index);
    }
  }
}

function moveTo(cursor: Cursor, block: Block, index: number): void {
  cursor.block = block;
  cursor.index = index;
  cursor.removals = block.removals;
}

/*
 * Walks over all bins of a line that have room. The caller must not place anything before the walk has ended.
 */

/** To test each bin of a block costs about as much as this many other steps. */
const STEPS_OF_BLOCK = 8;
/** To test the summaries of a block costs about as much as this many other steps. */
const STEPS_OF_SUMMARIES = 2;

/** A place in the blocks of a line: the position of the block, and of a bin in it. */
interface Spot {
  readonly at: number;
  readonly index: number;
}

const BEGINNING: Spot = { at: 0, index: 0 };

/** The bins with room in their order. Whether a demand needs them already does not matter. */
function* walkInOrder(blocks: LineBlocks, search: RoomSearch): Generator<Bin, undefined> {
  const { columns } = blocks;
  const { budget } = columns;
  for (const block of blocks.list) {
    budget.spend(1);
    if (!blocks.mayHaveRoom(block, search)) continue;
    budget.spend(STEPS_OF_BLOCK);
    let found = false;
    for (const bin of block.bins) {
      if (budget.isSpent) return undefined;
      if (!hasRoom(columns, bin, search)) continue;
      found = true;
      budget.spend(1);
      yield bin;
    }
    if (!found) blocks.summarise(block);
  }
  return undefined;
}

/** The bins with room, tier by tier: in each tier first those that a demand needs already. */
function* walkByTier(blocks: LineBlocks, search: RoomSearch): Generator<Bin> {
  let from = BEGINNING;
  for (;;) {
    const start = findNext(blocks, search, from);
    if (start === undefined) return;
    const first = blocks.list[start.at]?.bins[start.index] ?? 0;
    const tier = blocks.columns.tier[first] ?? 0;
    from = yield* walkTier(blocks, search, start, tier, "claimed");
    yield* walkTier(blocks, search, start, tier, "unclaimed");
  }
}

/** The first bin with room from a place on. */
function findNext(blocks: LineBlocks, search: RoomSearch, from: Spot): Spot | undefined {
  for (let at = from.at; at < blocks.list.length; at += 1) {
    const block = blocks.list[at];
    if (block === undefined) break;
    const { columns } = blocks;
    columns.budget.spend(STEPS_OF_SUMMARIES);
    if (!blocks.mayHaveRoom(block, search)) continue;
    columns.budget.spend(STEPS_OF_BLOCK);
    for (let index = at === from.at ? from.index : 0; index < block.bins.length; index += 1)
      if (hasRoom(columns, block.bins[index] ?? 0, search)) return { at, index };
  }
  return undefined;
}

/** The claimed bins with room of one tier, or the unclaimed ones. Returns where the next tier begins. */
function* walkTier(
  blocks: LineBlocks,
  search: RoomSearch,
  from: Spot,
  tier: number,
  which: "claimed" | "unclaimed",
): Generator<Bin, Spot> {
  const { columns } = blocks;
  const wanted = which === "claimed" ? CLAIMED : 0;
  for (let at = from.at; at < blocks.list.length; at += 1) {
    const block = blocks.list[at];
    if (block === undefined) break;
    columns.budget.spend(STEPS_OF_SUMMARIES);
    if ((columns.tier[block.bins[0] ?? 0] ?? 0) > tier) return { at, index: 0 };
    const isLast = (columns.tier[block.bins.at(-1) ?? 0] ?? 0) > tier;
    if (!isLast && !covers(block[which], search)) continue;
    columns.budget.spend(STEPS_OF_BLOCK);
    for (let index = at === from.at ? from.index : 0; index < block.bins.length; index += 1) {
      const bin = block.bins[index] ?? 0;
      if ((columns.tier[bin] ?? 0) > tier) return { at, index };
      if (((columns.state[bin] ?? 0) & CLAIMED) !== wanted || !hasRoom(columns, bin, search)) continue;
      columns.budget.spend(1);
      yield bin;
    }
  }
  return { at: blocks.list.length, index: 0 };
}
