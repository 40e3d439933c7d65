import { expect, test } from "vitest";
import { compilePattern } from "../../src/domain/shell-pattern.ts";
import { processorMs } from "../support/processor-time.ts";

test.each([
  { pattern: "Standard_F*", text: "Standard_F16", matches: true },
  { pattern: "Standard_F*", text: "standard_F16", matches: false },
  { pattern: "h?", text: "h1", matches: true },
  { pattern: "h?", text: "h10", matches: false },
  { pattern: "[!a-c]x", text: "dx", matches: true },
  { pattern: "[!a-c]x", text: "bx", matches: false },
  { pattern: "[]]", text: "]", matches: true },
  { pattern: "[z-a]", text: "m", matches: false },
  { pattern: "*[", text: "open[", matches: true },
  { pattern: "a.*", text: "a.b", matches: true },
  { pattern: "a.*", text: "axb", matches: false },
])("the pattern $pattern and $text", ({ pattern, text, matches }) => {
  expect(compilePattern(pattern)?.test(text)).toBe(matches);
});

test("no star, question mark or bracket: not a pattern", () => {
  expect(compilePattern("Standard_F16")).toBeUndefined();
});

test("a character outside the basic plane is one character", () => {
  expect(compilePattern("a?b")?.test("a\u{1F600}b")).toBe(true);
  expect(compilePattern("[\u{1F600}-\u{1F610}]")?.test("\u{1F605}")).toBe(true);
});

test.each([
  { pattern: "*a*a*a*a*b", text: "a".repeat(200) },
  { pattern: `${"*a".repeat(50)}b`, text: "a".repeat(200) },
  { pattern: `${"[ab]*".repeat(100)}c`, text: "ab".repeat(1000) },
])("the pattern $pattern gives up in time", ({ pattern, text }) => {
  const compiled = compilePattern(pattern);
  const begun = processorMs();
  expect(compiled?.test(text)).toBe(false);
  // This takes milliseconds. As a regular expression it takes at least half a minute.
  expect(processorMs() - begun).toBeLessThan(500);
});

/** Matches by definition: the first token is tried with every length. */
function naive(pattern: string, text: string): boolean {
  const [first, rest] = [pattern[0], pattern.slice(1)];
  if (first === undefined) return text === "";
  if (first === "*") return naive(rest, text) || (text !== "" && naive(pattern, text.slice(1)));
  return text !== "" && (first === "?" || first === text[0]) && naive(rest, text.slice(1));
}

test("agrees with the definition on all short patterns and texts of two letters", () => {
  const words = (alphabet: string, length: number): readonly string[] =>
    length === 0
      ? [""]
      : words(alphabet, length - 1).flatMap((word) =>
          word.length < length - 1 ? [word] : [word, ...alphabet.split("").map((letter) => word + letter)],
        );
  const texts = words("ab", 5);
  const differing = words("ab*?", 5)
    .filter((pattern) => /[*?]/.test(pattern))
    .flatMap((pattern) => {
      const compiled = compilePattern(pattern);
      return texts
        .filter((text) => compiled?.test(text) !== naive(pattern, text))
        .map((text) => [pattern, text]);
    });
  expect(differing).toEqual([]);
});
