import { describe, expect, test } from "vitest";
import { scaledClock } from "../../../src/local/scaled-clock.ts";

describe("now", () => {
  test.each([
    { name: "at speed 1 it is real time", ago: 100_000, speed: 1, ahead: 0 },
    {
      name: "at speed 60, 100 real seconds after the origin, it is 5,900 s ahead of real time",
      ago: 100_000,
      speed: 60,
      ahead: 5_900_000,
    },
    { name: "at speed 0.5 it falls behind", ago: 100_000, speed: 0.5, ahead: -50_000 },
  ])("$name", ({ ago, speed, ahead }) => {
    const real = Date.now();
    const now = scaledClock({ origin: real - ago, speed }).now();
    const slack = Math.max(0, Date.now() - real) * speed + 1;
    expect(Number.isInteger(now)).toBe(true);
    expect(now - real - ahead).toBeGreaterThanOrEqual(-1);
    expect(now - real - ahead).toBeLessThanOrEqual(slack);
  });

  test("two processes that share an origin read the same time", () => {
    const scale = { origin: Date.UTC(2026, 0, 1), speed: 60 };
    const [first, second] = [scaledClock(scale), scaledClock(scale)];
    const [before, between, after] = [first.now(), second.now(), first.now()];
    expect(between).toBeGreaterThanOrEqual(before);
    expect(between).toBeLessThanOrEqual(after);
  });
});

describe("sleep", () => {
  const clock = scaledClock({ origin: Date.now(), speed: 60 });

  // What does not end in time takes longer than a test may.
  test("is divided by the speed: an hour takes 100 ms", async () => {
    const began = performance.now();
    await scaledClock({ origin: Date.now(), speed: 36_000 }).sleep(3_600_000);
    expect(performance.now() - began).toBeGreaterThan(97);
  });

  test("ends early, without an error, when its signal aborts", async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 20);
    await clock.sleep(10 * 365 * 86_400_000, stop.signal);
  });

  test("does not start under a signal that has aborted", async () => {
    await clock.sleep(10 * 365 * 86_400_000, AbortSignal.abort());
  });

  test("of ten years does not end at once, though no timer can be that long", async () => {
    const stop = new AbortController();
    let ended = false;
    const sleep = clock.sleep(10 * 365 * 86_400_000, stop.signal).then(() => (ended = true));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(ended).toBe(false);
    stop.abort();
    await sleep;
    expect(ended).toBe(true);
  });
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("speed %d is refused", (speed) => {
  expect(() => scaledClock({ origin: 0, speed })).toThrow("speed");
});
