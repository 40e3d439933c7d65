import { expect, test } from "vitest";
import { compareConfigs } from "../../../src/wire/policy/config-diff.ts";

test("values that differ, by path; a list is one value", () => {
  const before = { idleTimeout: 300, prices: { currency: "USD" }, nodearrays: ["a"], same: { x: [1] } };
  const after = { idleTimeout: { default: 300, hpc: 60 }, prices: { currency: "EUR" }, same: { x: [1] } };
  expect(compareConfigs(before, after)).toEqual({
    differences: [
      { path: "idleTimeout", before: "300", after: '{"default":300,"hpc":60}' },
      { path: "prices.currency", before: '"USD"', after: '"EUR"' },
      { path: "nodearrays", before: '["a"]' },
    ],
    more: 0,
  });
});

test("a hundred differences are listed, and a long value is cut", () => {
  const many = Object.fromEntries(Array.from({ length: 130 }, (_, index) => [`k${index}`, index]));
  const { differences, more } = compareConfigs({}, many);
  expect([differences.length, more]).toEqual([100, 30]);
  const [cut] = compareConfigs({}, { k: "x".repeat(300) }).differences;
  expect(cut?.after).toBe(`"${"x".repeat(199)}...`);
});
