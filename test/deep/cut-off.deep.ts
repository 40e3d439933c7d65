import { expect, test } from "vitest";
import { BOUNDS, MUTANTS, playMutant, playWorst, TESTED } from "../scenarios/mutants-cut-off.ts";
import { runTestInCopy } from "../support/product-copy.ts";

/** One of two hosts is cut off from CycleCloud for ten minutes (docs/protocol.md, Instances that are cut off), and a mutant for each rule. */

const SEEDS = Array.from({ length: 30 }, (_, index) => index + 1);
const HOWS = ["hangs", "refused", "old password"] as const;
const SCENES = ["put", "queue", "idle"] as const;

test.each(HOWS.flatMap((how) => SCENES.map((scene) => ({ how, scene }))))(
  "$how, $scene: every bound is kept",
  async ({ how, scene }) => {
    for (const seed of SEEDS) {
      const worst = await playWorst({ how, scene, seed });
      for (const [name, bound] of Object.entries(BOUNDS))
        expect(worst[name] ?? 0, `${name} of seed ${seed}`).toBeLessThanOrEqual(bound);
    }
  },
  1_800_000,
);

test.each(MUTANTS)(
  "found out: $name",
  async (mutant) => {
    expect(await playMutant(mutant)).toBeGreaterThan(BOUNDS[mutant.shows]);
  },
  1_800_000,
);

test(`found out: ${TESTED.name}`, async () => {
  expect(await runTestInCopy(TESTED.edits, TESTED.test)).not.toEqual([]);
}, 1_800_000);
