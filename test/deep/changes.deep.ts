import { expect, test } from "vitest";
import { playChanges, playTakenOver } from "../scenarios/play-changes.ts";
import { LONGEST_GAP, LONGEST_WAIT, MUTANTS, playScene, SLOW_PLANS } from "../scenarios/mutants-changes.ts";
import { runTestInCopy } from "../support/product-copy.ts";

/** A configuration counts from its answer: many seeds, and a mutant for each rule of docs/protocol.md, Configuration. */
const SEEDS = Array.from({ length: 100 }, (_, index) => index + 1);

test("nothing is committed after observe was answered, with and without deaths of hosts", async () => {
  for (const seed of SEEDS) {
    expect({ seed, ...(await playChanges(seed)) }).toMatchObject({ seed, late: 0, unplanned: 0 });
    expect({ seed, ...(await playChanges(seed, { hosts: 4, deaths: 0.02 })) }).toMatchObject({ late: 0 });
    expect({ seed, ...(await playTakenOver(seed)) }).toEqual({ seed, resent: 0, open: 0 });
  }
}, 1_800_000);

test("plans that take 8 s are saved at least once a minute, and observe never waits for them, whatever the seed", async () => {
  for (const seed of SEEDS) {
    const { gap, waited } = await playChanges(seed, SLOW_PLANS);
    expect(gap, `seed ${seed}`).toBeLessThan(LONGEST_GAP);
    expect(waited, `seed ${seed}`).toBeLessThan(LONGEST_WAIT);
  }
}, 1_800_000);

test.each(MUTANTS)(
  "found out: $name",
  async ({ edits, shows }) => {
    if ("test" in shows) expect(await runTestInCopy(edits, shows.test)).not.toEqual([]);
    else expect(await playScene(edits, shows)).toBeGreaterThan(shows.bound);
  },
  1_800_000,
);
