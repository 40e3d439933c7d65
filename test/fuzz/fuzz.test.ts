import { expect, test } from "vitest";
import { playUntil } from "./campaign.ts";
import { inputsOf } from "./generate.ts";
import { shrink } from "./shrink.ts";

/** The same seeds every time; `npm run test:deep` plays others. */
const SEEDS = 25;

test(
  `every door meets ${SEEDS} hostile inputs as it should: refused with a reason or planned, and nobody else hears of it`,
  { timeout: 180_000 },
  async () => {
    const { plays, failures } = await playUntil((seed) => seed > SEEDS, 1, 1);
    expect(failures).toEqual([]);
    expect(Object.values(plays)).toEqual(Array.from({ length: 10 }, () => SEEDS));
  },
);

test("one seed always gives the same inputs", () => {
  expect(JSON.stringify(inputsOf("put", 7))).toBe(JSON.stringify(inputsOf("put", 7)));
});

test("a failing input is cut down to what it takes", async () => {
  const failing = {
    version: 1,
    jobs: [
      { name: "a", iterations: 7 },
      { name: "long", iterations: 123_456, constraints: [{ ncpus: 1 }] },
    ],
  };
  const fails = async (value: unknown) => /"iterations":\d{5}/.test(JSON.stringify(value));
  expect(await shrink(failing, fails, 1000)).toEqual({ jobs: [{ iterations: 61_728 }] });
});
