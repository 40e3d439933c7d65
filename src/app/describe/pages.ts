import type { PagingShown } from "../../wire/api/parts.ts";
import type { Bytes } from "../../domain/units.ts";

/**
 * An answer shows each of its lists as far as there is room (docs/decisions.md, "Lists of an answer are cut by bytes"). The same request
 * with `page` shows the rest. Nothing is kept between two requests. A list that changes meanwhile may show an item twice or not at all.
 */

/** Bytes of JSON for all lists of one answer together: an answer stays below 2 MiB. */
const MOST_BYTES: Bytes = 1_500_000;
/** Maximum number of rows of one list for a browser. */
const MOST_ROWS = 2000;

/**
 * Lists by the path of their member in the answer ("nodes.list"), with the number of items already shown. All other lists have been shown
 * completely.
 */
export type PageStart = ReadonlyMap<string, number>;

/** A list shown in part: a number of items after the first `from`, of `count` in total. */
type ListPage = NonNullable<PagingShown["pages"]>[number];

/** The limits of one answer: bytes of all lists together, and rows of each. */
interface PageSize {
  readonly bytes: Bytes;
  readonly rows: number;
}

/** Cuts the lists of one answer. */
export class Pages {
  readonly #start: PageStart | undefined;
  readonly #lists: ListPage[] = [];
  readonly #mostRows: number;
  #room: number;
  #hasMoved = false;

  /** `start` is undefined on the first page. */
  constructor(start?: PageStart, { bytes = MOST_BYTES, rows = MOST_ROWS }: Partial<PageSize> = {}) {
    this.#start = start;
    this.#room = bytes;
    this.#mostRows = rows;
  }

  /**
   * The items of a list that this page shows. `list`: the path of its member. `share`: the part of the remaining bytes that it may use. On
   * the first page lists begin at 0. On another page a list that is not named has been shown.
   */
  cut<T, D>(list: string, items: readonly T[], describe: (item: T) => D, share = 1): readonly D[] {
    const count = items.length;
    const from = Math.min(count, this.#start === undefined ? 0 : (this.#start.get(list) ?? count));
    const shown = this.#fill(items, from, describe, this.#room * share);
    if (shown.length > 0) this.#hasMoved = true;
    if (shown.length < count) this.#lists.push({ list, from, shown: shown.length, count });
    return shown;
  }

  /**
   * The paging members of the answer, both undefined if all its lists are complete. Every page shows the members beside the lists, because
   * they are small.
   */
  end(): PagingShown {
    const pages = this.#lists.filter(({ from, shown, count }) => shown > 0 || from < count);
    const left = pages.filter(({ from, shown, count }) => from + shown < count);
    const next = left.map(({ list, from, shown }) => `${list}:${from + shown}`).join(",");
    return { pages: pages.length === 0 ? undefined : pages, next: next === "" ? undefined : next };
  }

  #fill<T, D>(items: readonly T[], from: number, describe: (item: T) => D, room: number): readonly D[] {
    const shown: D[] = [];
    let bytes = 0;
    for (const item of items.slice(from, from + this.#mostRows)) {
      const described = describe(item);
      const more = bytesOf(described);
      // Each page shows at least one new item, so that paging ends.
      if (bytes + more > room && (this.#hasMoved || shown.length > 0)) break;
      shown.push(described);
      bytes += more;
    }
    this.#room -= bytes;
    return shown;
  }
}

/** The first items of a list, up to a number of bytes: without it as many as one answer has. */
export function firstBytes<T>(items: readonly T[], most: Bytes = MOST_BYTES): readonly T[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += bytesOf(item);
    return bytes > most;
  });
  return end < 0 ? items : items.slice(0, end);
}

const bytesOf = (value: unknown): Bytes => Buffer.byteLength(JSON.stringify(value) ?? "") + 1;

const PAGE = /^[A-Za-z.]{1,40}:\d{1,9}(,[A-Za-z.]{1,40}:\d{1,9}){0,30}$/;

export const PAGE_EXPECTED = "the value of next in an answer";

/** Parses `next` of the previous answer. Undefined if it is invalid. */
export function readPage(text: string): PageStart | undefined {
  if (!PAGE.test(text)) return undefined;
  return new Map(
    text.split(",").map((part): readonly [string, number] => {
      const at = part.lastIndexOf(":");
      return [part.slice(0, at), Number(part.slice(at + 1))];
    }),
  );
}
