/**
 * Compiles a shell pattern, case-sensitive and for the whole text: `*`, `?`, `[ab]`, `[a-z]`, `[!ab]`; a bracket that is never closed is
 * just a bracket. Undefined: the text holds no pattern and stands for itself.
 */
export function compilePattern(pattern: string): RegExp | undefined {
  if (!/[*?[]/.test(pattern)) return undefined;
  let source = "";
  let at = 0;
  while (at < pattern.length) {
    const char = pattern[at] ?? "";
    const close = char === "[" ? closingBracket(pattern, at) : -1;
    if (close > 0) {
      source += bracket(pattern.slice(at + 1, close));
      at = close + 1;
      continue;
    }
    // Runs of stars are one: several in a row would only make the match slow.
    if (char === "*") source += source.endsWith(".*") ? "" : ".*";
    else source += char === "?" ? "." : literal(char);
    at += 1;
  }
  return new RegExp(`^(?:${source})$`, "su");
}

/** Where the bracket that opens at `at` is closed; a "]" right after it, or after "!", is one of its characters. */
function closingBracket(pattern: string, at: number): number {
  const first = pattern[at + 1] === "!" ? at + 2 : at + 1;
  return pattern.indexOf("]", first + 1);
}

function bracket(inside: string): string {
  const negated = inside.startsWith("!");
  const chars = negated ? inside.slice(1) : inside;
  const items: string[] = [];
  for (let at = 0; at < chars.length; at += 1) {
    const [from = "", to] = [chars[at], chars[at + 2]];
    if (chars[at + 1] === "-" && to !== undefined) {
      // A range the wrong way round matches nothing.
      if (from <= to) items.push(`${literal(from)}-${literal(to)}`);
      at += 2;
    } else items.push(literal(from));
  }
  if (items.length === 0) return negated ? "." : "(?!)";
  return `[${negated ? "^" : ""}${items.join("")}]`;
}

const literal = (char: string): string =>
  /[\w\s]/.test(char) ? char : `\\u{${char.codePointAt(0)?.toString(16)}}`;
