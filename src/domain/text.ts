/** Orders texts by code units: the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A text, mostly an address, without the slashes at its end. */
export function withoutSlashesAtEnd(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === "/") end -= 1;
  return text.slice(0, end);
}

/**
 * Sorted by {@link compareText}. Fast for thousands of items whose texts differ early or soon after a common prefix, such as ids: these
 * characters are sorted as numbers, without a callback.
 */
export function sortedByText<T>(items: readonly T[], textOf: (item: T) => string): readonly T[] {
  if (items.length < 2) return items;
  if (items.length > MOST_KEYS) return items.toSorted((a, b) => compareText(textOf(a), textOf(b)));
  const texts = items.map(textOf);
  const from = lengthShared(texts);
  const keys = new Float64Array(items.length);
  texts.forEach((text, at) => {
    keys[at] = headOf(text, from) * MOST_KEYS + at;
  });
  keys.sort();
  const sorted: T[] = [];
  let run: T[] = [];
  const endRun = (): void => {
    if (run.length > 1) run.sort((a, b) => compareText(textOf(a), textOf(b)));
    run.forEach((item) => sorted.push(item));
  };
  let head: number | undefined;
  keys.forEach((key) => {
    const next = Math.floor(key / MOST_KEYS);
    if (next !== head) {
      endRun();
      run = [];
      head = next;
    }
    const item = items[key % MOST_KEYS];
    if (item !== undefined) run.push(item);
  });
  endRun();
  return sorted;
}

/** A head of 32 bits and a position fit into the 53 bits of a number. */
const MOST_KEYS = 2 ** 21;
const HEAD_LENGTH = 4;
const HIGHEST = 0xff;

/** Length of the common prefix of all texts. */
function lengthShared(texts: readonly string[]): number {
  const [first = ""] = texts;
  let shared = first.length;
  texts.forEach((text) => {
    let at = 0;
    while (at < shared && text.charCodeAt(at) === first.charCodeAt(at)) at += 1;
    shared = at;
  });
  return shared;
}

/**
 * A number for four characters from `from` on, never greater than that of a text which sorts later. A character above 255 is cut to 255,
 * and then the rest does not count.
 */
function headOf(text: string, from: number): number {
  let head = 0;
  let isCut = false;
  for (let at = from; at < from + HEAD_LENGTH; at += 1) {
    const code: number = isCut || at >= text.length ? 0 : Math.min(text.charCodeAt(at), HIGHEST);
    isCut ||= code === HIGHEST;
    head = head * (HIGHEST + 1) + code;
  }
  return head;
}

/** Names in a sentence: "a, b", or with more than `most` names "a, b and 3 more". Empty for no names. */
export function someOf(names: readonly string[], most: number): string {
  const some = names.slice(0, most).join(", ");
  const more = names.length - most;
  return more > 0 ? `${some} and ${more} more` : some;
}
