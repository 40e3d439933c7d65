import type { Bin } from "./bin.ts";
import type { BinTable } from "./bin-table.ts";
import type { Ask } from "./job-ask.ts";
import type { LinesByShape } from "./lines-by-shape.ts";
import type { RoomQuery } from "./room-search.ts";
import type { TriedBins } from "./slot-by-slot.ts";
import { hasRoomIntricate } from "./slot-by-slot.ts";
import type { Takes } from "./takes.ts";

/**
 * Finds bins with room for a unit of a job. The order of use: hosts that only a scheduler reports to the job's set come first, because they
 * cost nothing. Then all other bins by tier; in a tier those that a demand needs already come first.
 *
 * For an intricate job (see slot-by-slot.ts) it does not matter which bins are needed, and all bins are searched.
 */
export class BinSearch {
  readonly #bins: BinTable & TriedBins;
  readonly #lines: LinesByShape;

  constructor(bins: BinTable & TriedBins, lines: LinesByShape) {
    this.#bins = bins;
    this.#lines = lines;
  }

  /** The first bin with room for a unit. */
  first(ask: Ask): Bin | undefined {
    const { shape, takes } = ask.jobClass;
    const hosts = this.#lines.ofHosts(ask.set);
    if (takes === undefined) {
      const query = this.#queryIntricate(ask);
      return hosts?.firstInOrder(query) ?? this.#lines.ofAll().firstInOrder(query);
    }
    const host = hosts?.first(this.#queryOnHosts(ask, takes));
    if (host !== undefined) return host;
    const { lines, accepts } = this.#lines.of(shape);
    const query: RoomQuery = { takes, times: ask.slotsPerUnit, accepts };
    let best: Bin | undefined;
    for (const line of lines) {
      const bin = line.first(query);
      if (bin !== undefined && (best === undefined || this.#bins.compareUse(bin, best) < 0)) best = bin;
    }
    return best;
  }

  /** All bins with room for a unit. Place nothing before this has ended. */
  *each(ask: Ask): Generator<Bin> {
    const { shape, takes } = ask.jobClass;
    const hosts = this.#lines.ofHosts(ask.set);
    if (takes === undefined) {
      const query = this.#queryIntricate(ask);
      if (hosts !== undefined) yield* hosts.inOrder(query);
      yield* this.#lines.ofAll().inOrder(query);
      return;
    }
    const { lines, accepts } = this.#lines.of(shape);
    const [only, ...others] = lines;
    if (hosts !== undefined) yield* hosts.each(this.#queryOnHosts(ask, takes));
    if (only === undefined) return;
    const query: RoomQuery = { takes, times: ask.slotsPerUnit, accepts };
    if (others.length === 0) yield* only.each(query);
    else {
      const found = lines.flatMap((line) => [...line.each(query)]);
      yield* found.sort((a, b) => this.#bins.compareUse(a, b));
    }
  }

  #queryOnHosts({ jobClass, slotsPerUnit }: Ask, takes: Takes): RoomQuery {
    return { takes, times: slotsPerUnit, accepts: (bin) => this.#bins.meets(jobClass.shape, bin) };
  }

  /** Compares the least that a slot takes first. Bins that pass this are tried out slot by slot. */
  #queryIntricate(ask: Ask): RoomQuery {
    const { shape, screen } = ask.jobClass;
    const accepts = (bin: Bin): boolean =>
      this.#bins.serves(bin, ask.set) &&
      this.#bins.meets(shape, bin) &&
      hasRoomIntricate(this.#bins, bin, ask);
    return { takes: screen.least, times: ask.slotsPerUnit, accepts };
  }
}
