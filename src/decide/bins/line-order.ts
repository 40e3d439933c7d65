import type { Bin } from "./bin.ts";
import { CLAIMED } from "./bin-columns.ts";
import { covers } from "./block-summary.ts";
import type { LineBlocks } from "./line-blocks.ts";
import type { RoomSearch } from "./room-search.ts";
import { hasRoom } from "./room-search.ts";

/*
 * Walks over all bins of a line that have room. The caller must not place anything before the walk has ended.
 */

/** To test each bin of a block costs about as much as this many other steps. */
export const STEPS_OF_BLOCK = 8;
/** To test the summaries of a block costs about as much as this many other steps. */
const STEPS_OF_SUMMARIES = 2;

/** A place in the blocks of a line: the position of the block, and of a bin in it. */
interface Spot {
  readonly at: number;
  readonly index: number;
}

const BEGINNING: Spot = { at: 0, index: 0 };

/** The bins with room in their order. Whether a demand needs them already does not matter. */
export function* walkInOrder(blocks: LineBlocks, search: RoomSearch): Generator<Bin, undefined> {
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
export function* walkByTier(blocks: LineBlocks, search: RoomSearch): Generator<Bin> {
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
