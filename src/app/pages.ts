/**
 * An answer shows each of its lists as far as there is room, and says how to ask for the rest: the same request with `page` shows what comes
 * after. Nothing is kept between two requests. A list that changes meanwhile may show an item twice or not at all.
 */

/** Bytes of JSON that the lists of one answer take together: an answer stays below 2 MiB. */
const MOST_BYTES = 1_500_000;
/** A browser has enough with so many rows of one list. */
const MOST_ROWS = 2000;

/** A list of which an answer shows a part: so many items after the first `from`, of `count` in all. */
export interface ListPage {
  readonly list: string;
  readonly from: number;
  readonly shown: number;
  readonly count: number;
}

/** Lists by the path of their member in the answer ("nodes.list"), with how many items were shown before. Others have been shown whole. */
export type PageStart = ReadonlyMap<string, number>;

/** What an answer says of its lists; both are absent if all of them are whole. */
export interface PageEnd {
  readonly pages?: readonly ListPage[];
  readonly next?: string;
}

/** What one answer shows at most: bytes of all lists together, and rows of each. */
export interface PageSize {
  readonly bytes: number;
  readonly rows: number;
}

/** Cuts the lists of one answer. */
export class Pages {
  readonly #start: PageStart | undefined;
  readonly #lists: ListPage[] = [];
  readonly #mostRows: number;
  #room: number;
  #hasMoved = false;

  /** `start`: absent on the first page. */
  constructor(start?: PageStart, { bytes = MOST_BYTES, rows = MOST_ROWS }: Partial<PageSize> = {}) {
    this.#start = start;
    this.#room = bytes;
    this.#mostRows = rows;
  }

  /** The first page's lists begin at 0; on another page a list that is not named has been shown. */
  cut<T, D>(list: string, items: readonly T[], describe: (item: T) => D, share = 1): readonly D[] {
    const count = items.length;
    const from = Math.min(count, this.#start === undefined ? 0 : (this.#start.get(list) ?? count));
    const shown = this.#fill(items, from, describe, this.#room * share);
    if (shown.length > 0) this.#hasMoved = true;
    if (shown.length < count) this.#lists.push({ list, from, shown: shown.length, count });
    return shown;
  }

  /** The first page shows what stands beside the lists; so do all others, as it is little. */
  end(): PageEnd {
    const pages = this.#lists.filter(({ from, shown, count }) => shown > 0 || from < count);
    if (pages.length === 0) return {};
    const left = pages.filter(({ from, shown, count }) => from + shown < count);
    const next = left.map(({ list, from, shown }) => `${list}:${from + shown}`).join(",");
    return { pages, ...(next === "" ? {} : { next }) };
  }

  #fill<T, D>(items: readonly T[], from: number, describe: (item: T) => D, room: number): readonly D[] {
    const shown: D[] = [];
    let bytes = 0;
    for (const item of items.slice(from, from + this.#mostRows)) {
      const described = describe(item);
      const more = bytesOf(described);
      // Each page shows something new, or there would be no end.
      if (bytes + more > room && (this.#hasMoved || shown.length > 0)) break;
      shown.push(described);
      bytes += more;
    }
    this.#room -= bytes;
    return shown;
  }
}

/** The first of a short list inside of another, as far as so many bytes go. */
export function firstBytes<T>(items: readonly T[], most: number): readonly T[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += bytesOf(item);
    return bytes > most;
  });
  return end < 0 ? items : items.slice(0, end);
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "") + 1;

const PAGE = /^[A-Za-z.]{1,40}:\d{1,9}(,[A-Za-z.]{1,40}:\d{1,9}){0,30}$/;

export const PAGE_EXPECTED = "what an answer had as next";

/** Reads `next` of the answer before; undefined: it is none. */
export function readPage(text: string): PageStart | undefined {
  if (!PAGE.test(text)) return undefined;
  return new Map(
    text.split(",").map((part): readonly [string, number] => {
      const at = part.lastIndexOf(":");
      return [part.slice(0, at), Number(part.slice(at + 1))];
    }),
  );
}
