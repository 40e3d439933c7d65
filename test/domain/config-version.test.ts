import { expect, test } from "vitest";
import { withHeld, withVersion } from "../../src/domain/config-version.ts";
import { instant } from "../../src/domain/units.ts";

const at = instant(1000);

test("what was written in storage itself is a version of its own, without time or name", () => {
  expect(withVersion([], "old", "new", { at })).toEqual([
    { number: 2, at, text: "new" },
    { number: 1, text: "old" },
  ]);
  expect(withHeld([{ number: 4, at, text: "ours" }], "theirs")).toEqual([
    { number: 5, text: "theirs" },
    { number: 4, at, text: "ours" },
  ]);
});

test("a change to the same text is no change", () => {
  const versions = withVersion([], undefined, "a", { at });
  expect(withVersion(versions, "a", "a", { at: instant(2000) })).toBe(versions);
});

test("at most a hundred are kept, and the numbers go on", () => {
  let versions = withVersion([], undefined, "0", { at });
  for (let i = 1; i < 130; i++) versions = withVersion(versions, String(i - 1), String(i), { at });
  expect(versions).toHaveLength(100);
  expect(versions[0]).toEqual({ number: 130, at, text: "129" });
  expect(versions.at(-1)).toEqual({ number: 31, at, text: "30" });
});
