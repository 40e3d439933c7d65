import type { Bin } from "./bin.ts";
import type { BinColumns } from "./bin-columns.ts";
import { CLAIMED } from "./bin-columns.ts";
import { covers } from "./block-summary.ts";
import type { Block } from "./line-blocks.ts";
import { LineBlocks } from "./line-blocks.ts";
import type { Cursor } from "./line-cursors.ts";
import { LineCursors } from "./line-cursors.ts";
import { STEPS_OF_BLOCK, walkByTier, walkInOrder } from "./line-order.ts";
import type { RoomQuery, RoomSearch } from "./room-search.ts";
import { hasRoom, newSearch, reuseSearch } from "./room-search.ts";

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
