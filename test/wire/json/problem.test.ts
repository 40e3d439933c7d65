import { describe, expect, test } from "vitest";
import { excerpt, nearest } from "../../../src/wire/json/problem.ts";

describe("an excerpt", () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
  const circular: unknown[] = [];
  circular.push(circular);
  test.each([
    { name: "what is absent", value: undefined, expected: "nothing" },
    {
      name: "an object",
      value: { a: [1, "x", null, true], b: {} },
      expected: '{"a":[1,"x",null,true],"b":{}}',
    },
    { name: "text that just fits", value: "x".repeat(78), expected: `"${"x".repeat(78)}"` },
    { name: "text that just does not", value: "x".repeat(79), expected: `"${"x".repeat(78)}…` },
    {
      name: "a large list",
      value: Array.from({ length: 100_000 }, () => 7),
      expected: `[${"7,".repeat(39)}…`,
    },
    { name: "a deep list", value: nested(5000), expected: `${"[".repeat(79)}…` },
    { name: "a circle", value: circular, expected: `${"[".repeat(79)}…` },
    {
      name: "half of a surrogate pair at the cut",
      value: `${"x".repeat(77)}\u{1F600}`,
      expected: `"${"x".repeat(77)}\uFFFD…`,
    },
  ])("of $name", ({ value, expected }) => {
    expect(excerpt(value)).toBe(expected);
  });
});

describe("the nearest key", () => {
  const known = ["cluster", "requestSet", "node-count", "expirationInterval"];
  test.each([
    { key: "clutser", expected: "cluster" },
    { key: "Cluster", expected: "cluster" },
    { key: "request_set", expected: "requestSet" },
    { key: "nodeCount", expected: "node-count" },
    { key: "expiration", expected: undefined },
    { key: "colour", expected: undefined },
    { key: "", expected: undefined },
    { key: "x".repeat(1_000_000), expected: undefined },
  ])("to $key is $expected", ({ key, expected }) => {
    expect(nearest(key, known)).toBe(expected);
  });
});
