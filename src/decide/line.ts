import type { Takes } from "./job-class.ts";
import { TOLERANCE } from "./tolerance.ts";

/** What a line needs to know of its bins. */
export interface LineBins {
  /** Amounts of one bin stand together. */
  readonly free: readonly number[];
  readonly width: number;
  /** Nobody may be put there any more. */
  isClosed(bin: number): boolean;
  isEmpty(bin: number): boolean;
  isClaimed(bin: number): boolean;
  /** Bins of one tier are alike in the order of use. */
  tierOf(bin: number): number;
}

/** What is looked for. */
export interface Sought {
  readonly takes: Takes;
  /** Of each amount so many times. */
  readonly times: number;
  /** Only where nobody has slots. */
  readonly empty: boolean;
}

interface Block {
  /** Blocks stand in the order of these numbers. */
  at: number;
  bins: number[];
  stale: boolean;
  /** For each resource the most that is left on any one bin: of all, of those claimed, and the same of empty ones. */
  readonly most: number[];
  readonly mostClaimed: number[];
  readonly mostEmpty: number[];
}

/** Bins a block, about the square root of ten thousand; one that has grown to twice as many is cut in two. */
const BLOCK = 96;

/**
 * Bins that are right for jobs of some shape, in their order of use, in blocks that know the most that is left on any of their bins: the
 * first with room is found without asking each.
 */
export class Line {
  readonly #bins: LineBins;
  readonly #blocks: Block[] = [];
  readonly #blockOf: (Block | undefined)[] = [];
  /** By class: blocks before this one have no room. What is left only ever gets less. */
  readonly #from = new Map<Takes, Block>();

  constructor(bins: LineBins, members: readonly number[]) {
    this.#bins = bins;
    for (let at = 0; at < members.length; at += BLOCK) this.#open(members.slice(at, at + BLOCK));
  }

  /** Puts a new bin behind all others. */
  append(bin: number): void {
    const last = this.#blocks.at(-1);
    if (last === undefined || last.bins.length >= BLOCK) {
      this.#open([bin]);
      return;
    }
    last.bins.push(bin);
    last.stale = true;
    this.#blockOf[bin] = last;
  }

  /** Puts a bin right behind another, if that is here. */
  insertAfter(other: number, bin: number): void {
    const block = this.#blockOf[other];
    if (block === undefined) return;
    block.bins.splice(block.bins.indexOf(other) + 1, 0, bin);
    block.stale = true;
    this.#blockOf[bin] = block;
    if (block.bins.length > 2 * BLOCK) this.#cut(block);
  }

  /** Something has been put onto the bin, or it was claimed. */
  touch(bin: number): void {
    const block = this.#blockOf[bin];
    if (block !== undefined) block.stale = true;
  }

  /** The first bin with room; of several in one tier the first that is claimed, if there is one. */
  first(sought: Sought): number | undefined {
    for (let at = this.#from.get(sought.takes)?.at ?? 0; at < this.#blocks.length; at += 1) {
      const block = this.#fresh(at);
      if (!this.#covers(sought.empty ? block.mostEmpty : block.most, sought)) continue;
      const index = block.bins.findIndex((bin) => this.#fits(bin, sought));
      if (index < 0) continue;
      this.#remember(sought, block);
      const bin = block.bins[index] ?? 0;
      return this.#bins.isClaimed(bin) ? bin : (this.#claimedInTier(sought, at, index) ?? bin);
    }
    this.#remember(sought, this.#blocks.at(-1));
    return undefined;
  }

  /** All bins with room, in the order of use, claimed ones first in each tier, as they were when they were reached. */
  *each(sought: Sought): Generator<number> {
    let tier: number | undefined;
    let unclaimed: number[] = [];
    for (let at = 0; at < this.#blocks.length; at += 1) {
      const block = this.#fresh(at);
      if (!this.#covers(sought.empty ? block.mostEmpty : block.most, sought)) continue;
      for (const bin of block.bins.slice()) {
        if (!this.#fits(bin, sought)) continue;
        const own = this.#bins.tierOf(bin);
        if (own !== tier) {
          yield* unclaimed;
          unclaimed = [];
          tier = own;
        }
        if (this.#bins.isClaimed(bin)) yield bin;
        else unclaimed.push(bin);
      }
    }
    yield* unclaimed;
  }

  /** Every bin, in order. */
  *all(): Generator<number> {
    for (const bin of this.#blocks.flatMap(({ bins }) => bins)) yield bin;
  }

  #claimedInTier(sought: Sought, from: number, after: number): number | undefined {
    const tier = this.#bins.tierOf(this.#blocks[from]?.bins[after] ?? 0);
    for (let at = from; at < this.#blocks.length; at += 1) {
      const block = this.#fresh(at);
      if (this.#bins.tierOf(block.bins[0] ?? 0) > tier) return undefined;
      if (!this.#covers(block.mostClaimed, sought)) continue;
      for (let i = at === from ? after + 1 : 0; i < block.bins.length; i += 1) {
        const bin = block.bins[i] ?? 0;
        if (this.#bins.tierOf(bin) > tier) return undefined;
        if (this.#bins.isClaimed(bin) && this.#fits(bin, sought)) return bin;
      }
    }
    return undefined;
  }

  #fits(bin: number, { takes, times, empty }: Sought): boolean {
    if (this.#bins.isClosed(bin) || (empty && !this.#bins.isEmpty(bin))) return false;
    const { free, width } = this.#bins;
    const start = bin * width;
    for (let i = 0; i < takes.resource.length; i += 1) {
      const asked = (takes.amount[i] ?? 0) * times * (1 - TOLERANCE);
      if ((free[start + (takes.resource[i] ?? 0)] ?? 0) < asked) return false;
    }
    return true;
  }

  #covers(most: readonly number[], { takes, times }: Sought): boolean {
    if (most[this.#bins.width] === 0) return false;
    for (let i = 0; i < takes.resource.length; i += 1) {
      const asked = (takes.amount[i] ?? 0) * times * (1 - TOLERANCE);
      if ((most[takes.resource[i] ?? 0] ?? -1) < asked) return false;
    }
    return true;
  }

  /** Nothing before this block has room for such a slot. Larger shares say nothing of single slots. */
  #remember({ takes, times }: Sought, block: Block | undefined): void {
    if (times === 1 && block !== undefined) this.#from.set(takes, block);
  }

  #open(bins: number[], at = this.#blocks.length): void {
    const block = { at, bins, stale: true, most: [], mostClaimed: [], mostEmpty: [] };
    this.#blocks.splice(at, 0, block);
    for (const bin of bins) this.#blockOf[bin] = block;
  }

  #cut(block: Block): void {
    this.#open(block.bins.splice(BLOCK), block.at + 1);
    this.#blocks.forEach((one, at) => {
      one.at = at;
    });
  }

  /** The block at this index, its figures brought up to date. The last figure of each list is how many bins it speaks of. */
  #fresh(at: number): Block {
    const block = this.#blocks[at];
    if (block === undefined) throw new RangeError(`no block ${at}`);
    if (!block.stale) return block;
    const { free, width } = this.#bins;
    for (const most of [block.most, block.mostClaimed, block.mostEmpty]) {
      for (let r = 0; r < width; r += 1) most[r] = -1;
      most[width] = 0;
    }
    for (const bin of block.bins) {
      if (this.#bins.isClosed(bin)) continue;
      raise(block.most, free, bin * width, width);
      if (this.#bins.isClaimed(bin)) raise(block.mostClaimed, free, bin * width, width);
      if (this.#bins.isEmpty(bin)) raise(block.mostEmpty, free, bin * width, width);
    }
    block.stale = false;
    return block;
  }
}

function raise(most: number[], free: readonly number[], start: number, width: number): void {
  for (let r = 0; r < width; r += 1) {
    const left = free[start + r] ?? 0;
    if (left > (most[r] ?? -1)) most[r] = left;
  }
  most[width] = (most[width] ?? 0) + 1;
}
