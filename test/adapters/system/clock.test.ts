import { expect, test } from "vitest";
import { scaledClock, systemClock } from "../../../src/adapters/system/clock.ts";
import { systemEntropy } from "../../../src/adapters/system/entropy.ts";

test("the system clock adds its correction, whatever it is at that moment", () => {
  let correction = 5_000;
  const clock = systemClock({ correction: () => correction });
  const [before, ahead, after] = [Date.now(), clock.now(), Date.now()];
  expect(ahead).toBeGreaterThanOrEqual(before + 5_000);
  expect(ahead).toBeLessThanOrEqual(after + 5_000);
  correction = -7_000.4;
  const [earlier, behind, later] = [Date.now(), clock.now(), Date.now()];
  expect(behind).toBeGreaterThanOrEqual(earlier - 7_001);
  expect(behind).toBeLessThanOrEqual(later - 7_000);
  expect(Number.isInteger(clock.now())).toBe(true);
});

test("a scaled clock agrees with the real one at its origin and runs so many times as fast", async () => {
  const origin = Date.now() - 1_000;
  const [one, two] = [scaledClock(origin, 60), scaledClock(origin, 60)];
  const scaled = () => origin + (Date.now() - origin) * 60;
  const [earlier, first, second, third, later] = [scaled(), one.now(), two.now(), one.now(), scaled()];
  expect(first).toBeGreaterThanOrEqual(earlier - 60);
  expect(second).toBeGreaterThanOrEqual(first);
  expect(third).toBeGreaterThanOrEqual(second);
  expect(third).toBeLessThanOrEqual(later + 60);
  // A tenth of a second; in real time it would be longer than a test may take.
  const fast = scaledClock(origin, 36_000);
  const [started, before] = [Date.now(), fast.now()];
  await fast.sleep(3_600_000);
  expect(Date.now() - started).toBeGreaterThanOrEqual(99);
  expect(fast.now() - before).toBeGreaterThanOrEqual(3_540_000);
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("a speed of %s is refused", (speed) => {
  expect(() => scaledClock(0, speed)).toThrow("speed must be a positive number");
});

test("a sleep of nothing or less ends at once", async () => {
  await systemClock().sleep(0);
  await systemClock().sleep(-3_600_000);
});

test.each([
  { name: "the system clock", clock: systemClock() },
  { name: "a scaled clock", clock: scaledClock(0, 60) },
])("a sleep that is ended resolves at once: $name", async ({ clock }) => {
  const ended = new AbortController();
  // Hours, even on the scaled clock: longer than a test may take.
  const sleep = clock.sleep(2_000_000_000, ended.signal);
  ended.abort();
  await sleep;
  await clock.sleep(2_000_000_000, ended.signal);
});

test("entropy does not repeat itself, and fractions are spread over [0, 1)", () => {
  const entropy = systemEntropy();
  expect(new Set(Array.from({ length: 100 }, () => entropy.epoch())).size).toBe(100);
  expect(new Set(Array.from({ length: 100 }, () => entropy.owner())).size).toBe(100);
  const fractions = Array.from({ length: 1000 }, () => entropy.fraction());
  expect(Math.min(...fractions)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...fractions)).toBeLessThan(1);
  expect(Math.max(...fractions) - Math.min(...fractions)).toBeGreaterThan(0.9);
});
