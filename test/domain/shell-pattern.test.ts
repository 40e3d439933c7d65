import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
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
  { pattern: "[!z-a]", text: "m", matches: true },
  { pattern: "[]x", text: "[]x", matches: true },
  { pattern: "[a-cb-fx]*[", text: "e[", matches: true },
  { pattern: "[a-cb-fx]*[", text: "g[", matches: false },
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
  expect(compilePattern("[a-\u{1F610}]x")?.test("\u{1F605}x")).toBe(true);
  expect(compilePattern("[a-\u{1F610}]x")?.test("\u{1F611}x")).toBe(false);
  expect(compilePattern("[!\u{1F605}\uD83D]")?.test("\uD83D")).toBe(false);
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

/** What is between brackets, by definition: the first character, or range, or one of the rest. */
function isListed(inside: string, char: string): boolean {
  const [from = "", dash, to] = inside;
  if (from === "") return false;
  if (dash !== "-" || to === undefined) return from === char || isListed(inside.slice(1), char);
  return (from <= char && char <= to) || isListed(inside.slice(3), char);
}

const words = (alphabet: string, length: number): readonly string[] =>
  length === 0
    ? [""]
    : words(alphabet, length - 1).flatMap((word) =>
        word.length < length - 1 ? [word] : [word, ...alphabet.split("").map((letter) => word + letter)],
      );

test("agrees with the definition on all short brackets", () => {
  const insides = words("abd-", 5).filter((inside) => inside !== "");
  const differing = insides.flatMap((inside) =>
    ["a", "b", "c", "d", "-"].filter((char) => {
      const [listed, other] = [`x[${inside}]`, `x[!${inside}]`].map((one) =>
        compilePattern(one)?.test(`x${char}`),
      );
      return listed !== isListed(inside, char) || other === listed;
    }),
  );
  expect(insides).toHaveLength(1364);
  expect(differing).toEqual([]);
});

test("agrees with the definition on all short patterns and texts of two letters", () => {
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

const WEIGHS = fileURLToPath(new URL("../support/weigh-patterns.ts", import.meta.url));
/** Of the texts that a constraint may have, the longest. */
const LONGEST = 4096;
const KEPT = z.object({ patterns: z.number(), bytes: z.number() });

test.each([
  { name: "one character", unit: "[a]", text: "a", most: 2 },
  { name: "not a character", unit: "[!b]", text: "a", most: 2 },
  { name: "2,000 characters", unit: `[${signs(2000)}]`, text: signs(1), most: 4 },
])("900 long patterns keep at most twice their text: $name", ({ unit, text, most }) => {
  const { stdout } = spawnSync(process.execPath, ["--expose-gc", WEIGHS, unit, text], { encoding: "utf8" });
  const { patterns, bytes } = KEPT.parse(JSON.parse(stdout));
  expect(patterns).toBe(900);
  // The objects of a pattern take some hundred bytes.
  expect(bytes).toBeLessThan(most * LONGEST + 500);
});

/** Chinese characters of which no two are neighbours. */
function signs(count: number): string {
  return Array.from({ length: count }, (_, i) => String.fromCharCode(0x4e00 + 2 * i)).join("");
}
