import { expect, test } from "vitest";
import { boundRefusal } from "../../src/domain/bound-refusal.ts";
import type { Refusal } from "../../src/domain/refusal.ts";
import { renderRefusal } from "../../src/domain/refusal.ts";

const short = (asked: number): Refusal => ({
  code: "insufficient-resource",
  resource: "ncpus",
  asked,
  offered: 4,
});

test("a few alternatives are told as they are", () => {
  const few: Refusal = { code: "no-alternative", refusals: [short(8), short(9)] };
  expect(boundRefusal(few)).toEqual(few);
  expect(renderRefusal(boundRefusal(few))).toBe(
    "meets none of the alternatives (ncpus: 8 asked of one node, 4 offered; ncpus: 9 asked of one node, 4 offered)",
  );
});

test("of 100 alternatives ten are told, and the others counted", () => {
  const many: Refusal = { code: "no-alternative", refusals: Array.from({ length: 100 }, (_, i) => short(i)) };
  const text = renderRefusal(boundRefusal(many));
  expect(text).toContain("ncpus: 9 asked of one node, 4 offered; and 90 more alternatives)");
  expect(text).not.toContain("ncpus: 10 asked");
});

test("alternatives inside alternatives are told four levels deep", () => {
  let deep: Refusal = short(99);
  for (let level = 0; level < 64; level += 1)
    deep = { code: "no-alternative", refusals: [short(level), deep] };
  const text = renderRefusal(boundRefusal(deep));
  expect(text).toMatch(
    /^meets none of the alternatives \(ncpus: 63 .*ncpus: 60 .*meets none of 2 alternatives\)/,
  );
  expect(text).not.toContain("ncpus: 59");
});

test("wide and deep alternatives of long values take little more than a thousand characters", () => {
  const long: Refusal = {
    code: "invalid-option",
    what: "node.nodearray",
    found: "f".repeat(4096),
    options: Array.from({ length: 10_000 }, (_, i) => `${i}${"x".repeat(400)}`),
  };
  const level = (left: number): Refusal =>
    left === 0
      ? long
      : { code: "no-alternative", refusals: Array.from({ length: 5 }, () => level(left - 1)) };
  const bounded = boundRefusal(level(4));
  expect(JSON.stringify(bounded).length).toBeLessThan(2500);
  expect(renderRefusal(bounded).length).toBeLessThan(1600);
  expect(renderRefusal(boundRefusal(long))).toMatch(/xx… or 99\d\d more$/);
});

test("of the jobs on a node twenty are named", () => {
  const jobs = Array.from({ length: 500 }, (_, i) => `j${i}`);
  expect(renderRefusal(boundRefusal({ code: "not-exclusive", jobs }))).toMatch(/ j18, j19 and 480 more$/);
});
