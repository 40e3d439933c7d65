import fc from "fast-check";
import { expect, test } from "vitest";
import { compareText, sortedByText } from "../../src/domain/text.ts";

const plainly = (texts: readonly string[]): readonly string[] => texts.toSorted(compareText);
const same = (text: string): string => text;

test.each([
  { name: "nothing", texts: [] },
  { name: "ids that differ early", texts: ["f3a1", "0b77-1", "f3a0", "9c00"] },
  { name: "ids that begin alike", texts: ["node-12", "node-3", "node-1", "node-"] },
  {
    name: "ids that begin alike, and one that is all of that",
    texts: ["node-12", "node-", "node-3", "node-1"],
  },
  { name: "all the same", texts: ["node-1", "node-1", "node-1"] },
  { name: "the same twice", texts: ["b", "a", "b", "a"] },
  { name: "an end before a first character", texts: ["ab", "a", "a\0", "", "abc"] },
  {
    name: "characters beyond 255, and what follows them",
    texts: ["\u0101a", "\u0100z", "\u00ffz", "\u00fea"],
  },
])("$name: as by comparing", ({ texts }) => {
  expect(sortedByText(texts, same)).toEqual(plainly(texts));
});

test("any texts: as by comparing", () => {
  const letter = fc.constantFrom("\0", "a", "b", "\u00fe", "\u00ff", "\u0100", "\u0101", "\ud83d");
  const text = fc.oneof(fc.string({ unit: letter, maxLength: 6 }), fc.uuid());
  fc.assert(
    fc.property(fc.constantFrom("", "node-"), fc.array(text, { maxLength: 40 }), (prefix, ends) => {
      const texts = ends.map((end) => `${prefix}${end}`);
      expect(sortedByText(texts, same)).toEqual(plainly(texts));
    }),
    { numRuns: 1000 },
  );
});

test("items of equal text stay in their order, the items given are left alone", () => {
  const items = [
    { text: "b", nr: 1 },
    { text: "a", nr: 2 },
    { text: "b", nr: 3 },
    { text: "a", nr: 4 },
  ];
  expect(sortedByText(items, ({ text }) => text).map(({ nr }) => nr)).toEqual([2, 4, 1, 3]);
  expect(items.map(({ nr }) => nr)).toEqual([1, 2, 3, 4]);
});

test("more items than a number has room for beside their text", () => {
  const items = Array.from({ length: 2 ** 21 + 2 }, (_, at) => at);
  const sorted = sortedByText(items, (at) => (at === items.length - 1 ? "a" : "b"));
  expect(sorted.slice(0, 3)).toEqual([items.length - 1, 0, 1]);
  expect(sorted).toHaveLength(items.length);
});
