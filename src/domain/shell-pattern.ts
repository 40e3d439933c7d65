/** A compiled shell pattern. */
export interface Pattern {
  /** Whether the whole text matches. Takes time proportional to the length of the text times the length of the pattern. */
  test(text: string): boolean;
}

/** One step of a pattern: any run of characters, or one character that passes the test. */
type Token = "star" | ((char: string) => boolean);

/**
 * Compiles a shell pattern, case-sensitive and for the whole text: `*`, `?`, `[ab]`, `[a-z]`, `[!ab]`. An unclosed bracket is an ordinary
 * character. Undefined if the text contains no pattern and stands for itself. Not a regular expression: that backtracks for each star, and
 * a pattern of ten characters can take half a minute.
 */
export function compilePattern(pattern: string): Pattern | undefined {
  if (!/[*?[]/.test(pattern)) return undefined;
  const tokens = readTokens(pattern);
  return { test: (text) => matches(tokens, text) };
}

function readTokens(pattern: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < pattern.length) {
    const char = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    const close = char === "[" ? closingBracket(pattern, at) : undefined;
    if (close !== undefined) {
      tokens.push(bracket(pattern.slice(at + 1, close)));
      at = close + 1;
      continue;
    }
    // Several stars in a row are one.
    if (char !== "*") tokens.push(char === "?" ? () => true : (other) => other === char);
    else if (tokens.at(-1) !== "star") tokens.push("star");
    at += char.length;
  }
  return tokens;
}

/** The position of the closing bracket. A "]" directly after the opening bracket, or after "!", is an ordinary character. */
function closingBracket(pattern: string, at: number): number | undefined {
  const first = pattern[at + 1] === "!" ? at + 2 : at + 1;
  const close = pattern.indexOf("]", first + 1);
  return close < 0 ? undefined : close;
}

function bracket(inside: string): (char: string) => boolean {
  const negated = inside.startsWith("!");
  const chars = Array.from(negated ? inside.slice(1) : inside);
  const single = new Set<string>();
  const ranges: (readonly [from: number, to: number])[] = [];
  for (let at = 0; at < chars.length; at += 1) {
    const [from = "", dash, to] = chars.slice(at, at + 3);
    if (dash === "-" && to !== undefined) {
      // A range the wrong way round matches nothing.
      ranges.push([pointOf(from), pointOf(to)]);
      at += 2;
    } else single.add(from);
  }
  return (char) => {
    const point = pointOf(char);
    const isListed = single.has(char) || ranges.some(([from, to]) => from <= point && point <= to);
    return isListed !== negated;
  };
}

const pointOf = (char: string): number => char.codePointAt(0) ?? 0;

/**
 * Walks along both at once. On a mismatch the last star takes one more character, and everything after it is tried again. Earlier stars
 * need no retry: the last star can take whatever an earlier one would.
 */
function matches(tokens: readonly Token[], text: string): boolean {
  const chars = Array.from(text);
  let token = 0;
  let at = 0;
  let star: { readonly token: number; at: number } | undefined;
  while (at < chars.length) {
    const next = tokens[token];
    if (next === "star") {
      star = { token, at };
      token += 1;
    } else if (next?.(chars[at] ?? "") === true) {
      token += 1;
      at += 1;
    } else if (star === undefined) return false;
    else {
      star.at += 1;
      token = star.token + 1;
      at = star.at;
    }
  }
  while (tokens[token] === "star") token += 1;
  return token === tokens.length;
}
