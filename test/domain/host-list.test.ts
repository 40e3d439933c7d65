import { describe, expect, test } from "vitest";
import { expandHostList, foldHostList } from "../../src/domain/host-list.ts";

describe("a host list", () => {
  test.each([
    ["htc-1", ["htc-1"]],
    ["htc-[1-3,7],gpu-2", ["htc-1", "htc-2", "htc-3", "htc-7", "gpu-2"]],
    ["n[08-11]", ["n08", "n09", "n10", "n11"]],
    ["r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]],
    ["a[1]b, c", ["a1b", "c"]],
  ])("%s", (text, names) => {
    expect(expandHostList(text, 100)).toEqual(names);
  });

  test.each(["", "a,,b", "a[", "a]1[", "a[]", "a[3-1]", "a[x]", "a[1-2", "[[1]]"])("%j is none", (text) => {
    expect(expandHostList(text, 100)).toHaveProperty("expected");
  });

  test("too many names are not even made", () => {
    for (const text of ["n[1-999999999999999]", "a[1-9]b[1-9]c[1-9]", "a,b,c,d"])
      expect(expandHostList(text, 3)).toMatchObject({ expected: "at most 3 names" });
  });

  test.each([
    [["htc-2", "htc-1", "htc-3", "htc-7"], "htc-[1-3,7]"],
    [["n08", "n09", "n10", "n1"], "n[08-09],n[1,10]"],
    [["login"], "login"],
    [["a-1"], "a-1"],
    [[], ""],
  ])("%j is written short", (names, text) => {
    expect(foldHostList(names)).toBe(text);
  });

  test("what is written short is read again", () => {
    const names = ["htc-1", "htc-2", "n001", "n010", "n1", "login", "r1n1", "r1n2", "x-99999999999999"];
    expect(new Set(expandHostList(foldHostList(names), 100) as readonly string[])).toEqual(new Set(names));
  });
});
