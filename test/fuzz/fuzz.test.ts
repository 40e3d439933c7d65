import { expect, test } from "vitest";
import { EDGE_COUNT } from "./bounds.ts";
import { Crew } from "./crew.ts";
import { describe, tryOne } from "./fuzz.ts";
import { inputsOf } from "./generate.ts";
import { DOORS } from "./input.ts";
import { shrink } from "./shrink.ts";

/** The same seed every time, at every door; `npm run test:deep` plays others for minutes. */
const SEED = 2;
/** Every sixth bound is met, each from both sides, all by one app. test/wire/bounds.test.ts reads each, and test/deep meets each. */
const BOUND_SEEDS = Array.from({ length: EDGE_COUNT / 6 }, (_, index) => 6 * index + 1);
/** A thousand mistakes; a long number of a plan; a price of 9e307; rows that an edit made too deep for the next one. */
const ALSO = [
  { door: "plan", seed: 32 },
  { door: "request", seed: 345_328_043 },
  { door: "config", seed: 374_576_718 },
  { door: "rows", seed: 374_576_597 },
] as const;

test("hostile inputs at every door are refused with a reason or planned, and nobody else hears of them", async () => {
  const all = [...DOORS.filter((door) => door !== "bound").map((door) => ({ door, seed: SEED })), ...ALSO];
  const crew = new Crew();
  const failures: string[] = [];
  for (const { door, seed } of all) {
    const failure = await tryOne(crew, door, seed);
    if (failure !== undefined) failures.push(describe(failure));
  }
  const bounds = BOUND_SEEDS.flatMap((seed) => inputsOf("bound", seed));
  const faults = await crew.play(bounds, "tables");
  failures.push(...faults.map(({ kind, what }) => `bound, one of ${BOUND_SEEDS.join()}: ${kind}: ${what}`));
  await crew.end();
  expect(failures).toEqual([]);
});

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
  expect(await shrink(failing, fails, 1000)).toEqual({ jobs: [{ iterations: 15_432 }] });
});
