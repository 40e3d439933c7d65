import { describe, expect, test } from "vitest";
import { openRandomStream } from "../../../src/local/workload/random.ts";

function describeSample(draw: () => number): { readonly mean: number; readonly variance: number } {
  const values = Array.from({ length: 40_000 }, draw);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length };
}

test("a seed names its stream, neighbouring seeds others", () => {
  const take = (seed: number): readonly number[] => {
    const { uniform } = openRandomStream(seed);
    return [uniform(), uniform(), uniform()];
  };
  expect(take(1)).toEqual(take(1));
  expect(new Set([...take(0), ...take(1), ...take(2), ...take(2 ** 32 + 1)]).size).toBe(12);
});

describe("moments", () => {
  const random = openRandomStream(42);
  test.each([
    { name: "uniform", draw: random.uniform, mean: 0.5, variance: 1 / 12 },
    { name: "normal", draw: random.normal, mean: 0, variance: 1 },
    { name: "gamma(4.2, 0.94)", draw: () => random.gamma(4.2, 0.94), mean: 3.948, variance: 3.71112 },
    { name: "gamma(312, 0.03)", draw: () => random.gamma(312, 0.03), mean: 9.36, variance: 0.2808 },
    { name: "gamma(1, 2)", draw: () => random.gamma(1, 2), mean: 2, variance: 4 },
  ])("$name", ({ draw, mean, variance }) => {
    const found = describeSample(draw);
    // Five standard errors of a mean of 40,000.
    expect(Math.abs(found.mean - mean)).toBeLessThan(5 * Math.sqrt(variance / 40_000));
    expect(Math.abs(found.variance / variance - 1)).toBeLessThan(0.08);
  });

  test("a gamma shape below 1 is refused", () => {
    expect(() => random.gamma(0.5, 1)).toThrow("gamma shape must be at least 1, got 0.5");
  });
});
