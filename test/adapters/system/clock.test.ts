import { expect, test } from "vitest";
import { scaledClock, systemClock } from "../../../src/adapters/system/clock.ts";
import { systemEntropy } from "../../../src/adapters/system/entropy.ts";

/** Allowance for a busy machine. */
const SLACK_MS = 400;

test("the system clock adds its correction, whatever it is at that moment", () => {
  let correction = 5_000;
  const clock = systemClock({ correction: () => correction });
  expect(Math.abs(clock.now() - Date.now() - 5_000)).toBeLessThan(SLACK_MS);
  correction = -7_000.4;
  expect(Math.abs(clock.now() - Date.now() + 7_000)).toBeLessThan(SLACK_MS);
  expect(Number.isInteger(clock.now())).toBe(true);
});

test("a scaled clock agrees with the real one at its origin and runs so many times as fast", async () => {
  const origin = Date.now() - 1_000;
  const [one, two] = [scaledClock(origin, 60), scaledClock(origin, 60)];
  expect(Math.abs(one.now() - (origin + 60_000))).toBeLessThan(60 * SLACK_MS);
  expect(Math.abs(one.now() - two.now())).toBeLessThan(60 * SLACK_MS);
  const [started, before] = [Date.now(), one.now()];
  await one.sleep(6_000);
  expect(Date.now() - started).toBeGreaterThanOrEqual(99);
  expect(Date.now() - started).toBeLessThan(100 + SLACK_MS);
  expect(one.now() - before).toBeGreaterThanOrEqual(5_900);
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("a speed of %s is refused", (speed) => {
  expect(() => scaledClock(0, speed)).toThrow("speed must be a positive number");
});

test("a sleep of nothing or less ends at once", async () => {
  const started = Date.now();
  await systemClock().sleep(0);
  await systemClock().sleep(-1_000_000);
  expect(Date.now() - started).toBeLessThan(SLACK_MS);
});

test.each([
  { name: "the system clock", clock: systemClock() },
  { name: "a scaled clock", clock: scaledClock(0, 60) },
])("a sleep that is ended resolves at once: $name", async ({ clock }) => {
  const started = Date.now();
  const ended = new AbortController();
  const sleep = clock.sleep(3_600_000, ended.signal);
  ended.abort();
  await sleep;
  await clock.sleep(3_600_000, ended.signal);
  expect(Date.now() - started).toBeLessThan(SLACK_MS);
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
