import { expect, test } from "vitest";
import { Pages, readPage } from "../../../src/app/describe/pages.ts";

const same = (item: string): string => item;
/** Each takes 5 bytes in a list: two quotes, two characters, a comma. */
const TEN = Array.from({ length: 10 }, (_, i) => `i${i}`);

test("an answer whose lists are short is whole, and has no pages", () => {
  const pages = new Pages();
  expect(pages.cut("nodes.list", TEN, same)).toEqual(TEN);
  expect(pages.end()).toEqual({});
});

test("page after page shows each item once, as many as the bytes allow, and says how many there are", () => {
  const seen: string[] = [];
  let next: string | undefined;
  const shown: number[] = [];
  do {
    const pages = new Pages(next === undefined ? undefined : readPage(next), { bytes: 20 });
    const items = pages.cut("nodes.list", TEN, same);
    const end = pages.end();
    expect(end.pages).toEqual([{ list: "nodes.list", from: seen.length, shown: items.length, count: 10 }]);
    seen.push(...items);
    shown.push(items.length);
    next = end.next;
  } while (next !== undefined);
  expect(seen).toEqual(TEN);
  expect(shown).toEqual([4, 4, 2]);
});

test("a list that is whole on the first page is not shown again on the second", () => {
  const first = new Pages(undefined, { bytes: 30 });
  expect(first.cut("buckets", ["b0"], same)).toEqual(["b0"]);
  expect(first.cut("nodes.list", TEN, same)).toEqual(TEN.slice(0, 5));
  const { next } = first.end();
  expect(next).toBe("nodes.list:5");
  const second = new Pages(readPage(next ?? ""), { bytes: 30 });
  expect([second.cut("buckets", ["b0"], same), second.cut("nodes.list", TEN, same)]).toEqual([
    [],
    TEN.slice(5),
  ]);
  expect(second.end()).toEqual({ pages: [{ list: "nodes.list", from: 5, shown: 5, count: 10 }] });
});

test("an item that is larger than a page is shown by itself", () => {
  const large = ["x".repeat(100), "y"];
  const first = new Pages(undefined, { bytes: 10 });
  expect(first.cut("outcomes", large, same)).toEqual([large[0]]);
  expect(first.end().next).toBe("outcomes:1");
});

test.each(["", "nodes", "nodes:", "nodes:-1", "nodes:1.5", "a b:1", `${"x".repeat(41)}:1`, "a:1,,b:2"])(
  "%j is no page",
  (text) => expect(readPage(text)).toBeUndefined(),
);
