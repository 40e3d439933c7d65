/** A shell pattern, ready to be matched. */
export interface Pattern {
  /** Whether the whole text matches. Takes time proportional to the length of the text times the length of the pattern. */
  test(text: string): boolean;
}

/** The condition on one character of the text, and the position of the rest of the pattern. */
interface Single {
  readonly accepts: (point: number) => boolean;
  readonly end: number;
}

const STAR = "*".charCodeAt(0);
const ANY = "?".charCodeAt(0);
const BRACKET = "[".charCodeAt(0);

/**
 * Compiles a shell pattern, case-sensitive and for the whole text: `*`, `?`, `[ab]`, `[a-z]`, `[!ab]`. An unclosed bracket is an ordinary
 * character. Undefined if the text contains no pattern and stands for itself. Not a regular expression: that backtracks for each star, and
 * a pattern of ten characters can take half a minute (docs/decisions.md, "Shell patterns are matched without regular expressions"). Stores
 * nothing for each character of a pattern: a cluster may hold 60 MiB of patterns.
 */
export function compilePattern(pattern: string): Pattern | undefined {
  if (!isPattern(pattern)) return undefined;
  // Searched once. Otherwise each bracket of a pattern of brackets would search the rest of the pattern.
  const lastClose = pattern.lastIndexOf("]");
  const brackets = new Map<number, Single>();
  const singleAt = (at: number): Single => {
    let single = brackets.get(at);
    if (single === undefined) {
      const close = lastClose > at ? closingBracket(pattern, at) : undefined;
      single =
        close === undefined
          ? { accepts: (point) => point === BRACKET, end: at + 1 }
          : { accepts: bracket(pattern.slice(at + 1, close)), end: close + 1 };
      brackets.set(at, single);
    }
    return single;
  };
  return { test: (text) => matches(pattern, singleAt, text) };
}

/** Whether a text may match others than itself. */
export const isPattern = (text: string): boolean => /[*?[]/.test(text);

/** The position of the closing bracket. A "]" directly after the opening bracket, or after "!", is an ordinary character. */
function closingBracket(pattern: string, at: number): number | undefined {
  const first = pattern[at + 1] === "!" ? at + 2 : at + 1;
  const close = pattern.indexOf("]", first + 1);
  return close < 0 ? undefined : close;
}

function bracket(inside: string): (point: number) => boolean {
  const negated = inside.startsWith("!");
  const chars = Array.from(negated ? inside.slice(1) : inside);
  const single = new Set<number>();
  const ranges: (readonly [from: number, to: number])[] = [];
  for (let at = 0; at < chars.length; at += 1) {
    const [from = "", dash, to] = chars.slice(at, at + 3);
    if (dash === "-" && to !== undefined) {
      // A range the wrong way round matches nothing.
      ranges.push([pointOf(from), pointOf(to)]);
      at += 2;
    } else single.add(pointOf(from));
  }
  return (point) => {
    const isListed = single.has(point) || ranges.some(([from, to]) => from <= point && point <= to);
    return isListed !== negated;
  };
}

const pointOf = (text: string, at = 0): number => text.codePointAt(at) ?? 0;

/** Code units of a code point. */
const lengthOf = (point: number): number => (point > 0xffff ? 2 : 1);

/** The position of the rest of the pattern after one character of the text. Undefined if the character does not fit. */
function fits(
  pattern: string,
  at: number,
  singleAt: (at: number) => Single,
  point: number,
): number | undefined {
  const asked = pointOf(pattern, at);
  if (asked === ANY) return at + 1;
  if (asked !== BRACKET) return asked === point ? at + lengthOf(asked) : undefined;
  const { accepts, end } = singleAt(at);
  return accepts(point) ? end : undefined;
}

/**
 * Compares pattern and text from left to right. After a mismatch the last star takes one more character, and the rest is compared again.
 * Earlier stars need no retry, because the last star can take everything that they could.
 */
function matches(pattern: string, singleAt: (at: number) => Single, text: string): boolean {
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
    const next = token < pattern.length ? fits(pattern, token, singleAt, point) : undefined;
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
