import fc from "fast-check";
import { expect, test } from "vitest";
import { nearest, nearestFew } from "../../src/domain/nearest.ts";
import { processorMs } from "../support/processor-time.ts";

test.each([
  { key: "iteration", known: ["name", "iterations"], meant: "iterations" },
  { key: "Node_Count", known: ["node-count", "node-counts"], meant: "node-count" },
  { key: "ncpu", known: ["ngpus", "ncpus"], meant: "ncpus" },
  { key: "licence", known: ["shift"], meant: undefined },
  { key: "", known: ["a"], meant: "a" },
  { key: "a", known: [""], meant: "" },
  { key: "job-\u{1F600}1", known: ["job-\u{1F600}2"], meant: "job-\u{1F600}2" },
  { key: "k".repeat(64), known: [`${"k".repeat(63)}x`], meant: `${"k".repeat(63)}x` },
  { key: "k".repeat(65), known: ["k".repeat(65)], meant: undefined },
])("of $known, $key was probably meant to be $meant", ({ key, known, meant }) => {
  expect(nearest(key, known)).toBe(meant);
});

/** The table of the textbook, cell by cell. */
function naiveDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    above = row;
  }
  return above[b.length] ?? 0;
}

const word = (maxLength: number) =>
  fc.array(fc.constantFrom("a", "b", "c"), { maxLength }).map((characters) => characters.join(""));

/** A key with some characters replaced, removed or put in. */
const edited = fc
  .tuple(
    word(64),
    fc.array(fc.record({ at: fc.nat(64), put: fc.constantFrom("", "a", "b", "ab", "d") }), { maxLength: 30 }),
  )
  .map(([key, edits]) => ({
    key,
    name: edits.reduce((text, { at, put }) => text.slice(0, at) + put + text.slice(at + 1), key),
  }));

test("a key is near if at most a third of its characters differ, by the distance of the textbook", () => {
  fc.assert(
    fc.property(fc.oneof(fc.record({ key: word(64), name: word(90) }), edited), ({ key, name }) => {
      const isNear = naiveDistance(key, name) <= Math.max(1, Math.floor(key.length / 3));
      expect(nearest(key, [name])).toBe(isNear ? name : undefined);
    }),
    { numRuns: 2000, seed: 1 },
  );
});

test("20,000 known names of 32 characters are compared in less than 2 s", () => {
  const known = Array.from({ length: 20_000 }, (_, at) => `${"job".repeat(8)}${10_000_000 + at}`);
  const before = processorMs();
  expect(nearestFew("jib".repeat(8) + "10000007", known, 1)).toEqual([`${"job".repeat(8)}10000007`]);
  expect(processorMs() - before).toBeLessThan(2000);
});
