/** A shell pattern, ready to be matched. */
export interface Pattern {
  /** Whether the whole text matches. Takes time proportional to the length of the text times the length of the pattern. */
  test(text: string): boolean;
}

/** A pattern as it is matched: after an opening bracket follow a sign, two counts, and ranges, which are searched where they stand. */
interface Program {
  readonly text: string;
  /** From here on an opening bracket is an ordinary character. */
  readonly plainFrom: number;
}

const STAR = "*".charCodeAt(0);
const ANY = "?".charCodeAt(0);
const BRACKET = "[".charCodeAt(0);
const NOT = "!".charCodeAt(0);

/**
 * Compiles a shell pattern, case-sensitive and for the whole text: `*`, `?`, `[ab]`, `[a-z]`, `[!ab]`. An unclosed bracket is an ordinary
 * character. Undefined if the text contains no pattern and stands for itself. Not a regular expression: that backtracks for each star, and
 * a pattern of ten characters can take half a minute (docs/decisions.md, "Shell patterns are matched without regular expressions"). Keeps
 * no object for a character or a bracket, but one text, of at most twice the length: a cluster may hold 60 MiB of patterns.
 */
export function compilePattern(pattern: string): Pattern | undefined {
  if (!isPattern(pattern)) return undefined;
  let program: Program | undefined;
  return {
    test(text) {
      program ??= programOf(pattern);
      return matches(program, text);
    },
  };
}

/** Whether a text may match others than itself. */
export const isPattern = (text: string): boolean => /[*?[]/.test(text);

/** Ends at the first bracket without an end: those behind it have none either. */
function programOf(pattern: string): Program {
  const parts: string[] = [];
  let [at, plainFrom] = [0, 0];
  for (;;) {
    const open = pattern.indexOf("[", at);
    const close = open < 0 ? undefined : closingBracket(pattern, open);
    if (close === undefined) break;
    const part = `${pattern.slice(at, open)}[${rangesOf(pattern.slice(open + 1, close))}`;
    parts.push(part);
    plainFrom += part.length;
    at = close + 1;
  }
  return { text: at === 0 ? pattern : [...parts, pattern.slice(at)].join(""), plainFrom };
}

/** The position of the closing bracket. A "]" directly after the opening bracket, or after "!", is an ordinary character. */
function closingBracket(pattern: string, at: number): number | undefined {
  const first = pattern[at + 1] === "!" ? at + 2 : at + 1;
  const close = pattern.indexOf("]", first + 1);
  return close < 0 ? undefined : close;
}

/** The last code point that takes one code unit. */
const LAST_OF_ONE = 0xffff;

/** What stands for a bracket: its sign, how many ranges are of one code unit and how many of two, and these ranges in order. */
function rangesOf(bracket: string): string {
  const isNegated = bracket.startsWith("!");
  let [ones, twos, text] = [0, 0, ""];
  for (const [from, to] of inOrder(readRanges(isNegated ? bracket.slice(1) : bracket))) {
    if (to > LAST_OF_ONE) twos += 1;
    else ones += 1;
    text += String.fromCodePoint(from, to);
  }
  return `${isNegated ? "!" : "="}${String.fromCharCode(ones, twos)}${text}`;
}

/** One number for each range, which sorts as its beginning does. No range has characters of one code unit and of two. */
function readRanges(inside: string): ReadonlySet<number> {
  const ranges = new Set<number>();
  for (let at = 0; at < inside.length;) {
    const from = pointOf(inside, at);
    at += lengthOf(from);
    const isRange = inside.charCodeAt(at) === DASH && at + 1 < inside.length;
    const to = isRange ? pointOf(inside, at + 1) : from;
    if (isRange) at += 1 + lengthOf(to);
    // A range the wrong way round matches nothing.
    if (from > to) continue;
    if (from <= LAST_OF_ONE) ranges.add(from * POINTS + Math.min(to, LAST_OF_ONE));
    if (to > LAST_OF_ONE) ranges.add(Math.max(from, LAST_OF_ONE + 1) * POINTS + to);
  }
  return ranges;
}

const DASH = "-".charCodeAt(0);
/** More than there are code points. */
const POINTS = 2 ** 21;

/** Ranges that do not overlap. Those that touch are one, if both are of as many code units. */
function inOrder(ranges: ReadonlySet<number>): readonly (readonly [from: number, to: number])[] {
  const apart: [from: number, to: number][] = [];
  // One alone, as in most brackets, is in order: sorting costs as much as all else.
  for (const range of ranges.size < 2 ? ranges : Float64Array.from(ranges).toSorted()) {
    const [from, to] = [Math.floor(range / POINTS), range % POINTS];
    const last = apart.at(-1);
    if (last === undefined || from > last[1] + 1 || lengthOf(from) > lengthOf(last[1]))
      apart.push([from, to]);
    else last[1] = Math.max(last[1], to);
  }
  return apart;
}

const pointOf = (text: string, at = 0): number => text.codePointAt(at) ?? 0;

/** Code units of a code point. */
const lengthOf = (point: number): number => (point > LAST_OF_ONE ? 2 : 1);

/** The position of the rest of the pattern after one character of the text. Undefined if the character does not fit. */
function fits({ text, plainFrom }: Program, at: number, point: number): number | undefined {
  const asked = pointOf(text, at);
  if (asked === ANY) return at + 1;
  if (asked !== BRACKET || at >= plainFrom) return asked === point ? at + lengthOf(asked) : undefined;
  const isNegated = text.charCodeAt(at + 1) === NOT;
  const [ones, twos] = [text.charCodeAt(at + 2), text.charCodeAt(at + 3)];
  const [first, second] = [at + 4, at + 4 + 2 * ones];
  const isListed =
    point > LAST_OF_ONE ? isIn(text, second, twos, 2, point) : isIn(text, first, ones, 1, point);
  return isListed === isNegated ? undefined : second + 4 * twos;
}

/** Whether one of these ranges has the point. `size`: code units of each end of a range. */
function isIn(text: string, start: number, count: number, size: 1 | 2, point: number): boolean {
  const end = (at: number): number => (size === 1 ? text.charCodeAt(at) : pointOf(text, at));
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end(start + (2 * middle + 1) * size) < point) low = middle + 1;
    else high = middle;
  }
  return low < count && end(start + 2 * low * size) <= point;
}

/**
 * Compares pattern and text from left to right. After a mismatch the last star takes one more character, and the rest is compared again.
 * Earlier stars need no retry, because the last star can take everything that they could.
 */
function matches(program: Program, text: string): boolean {
  const pattern = program.text;
  let token = 0;
  let at = 0;
  let star: { readonly token: number; at: number } | undefined;
  while (at < text.length) {
    if (pattern.charCodeAt(token) === STAR) {
      token += 1;
      star = { token, at };
      continue;
    }
    const point = pointOf(text, at);
    const next = token < pattern.length ? fits(program, token, point) : undefined;
    if (next !== undefined) {
      token = next;
      at += lengthOf(point);
    } else if (star === undefined) return false;
    else {
      star.at += lengthOf(pointOf(text, star.at));
      token = star.token;
      at = star.at;
    }
  }
  while (pattern.charCodeAt(token) === STAR) token += 1;
  return token === pattern.length;
}
