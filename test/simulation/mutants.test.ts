import { expect, test } from "vitest";
import { MUTANTS } from "./mutants.ts";
import { playedIn, playMutant } from "./play-mutant.ts";
import { simulate } from "./simulate.ts";

/** All of them are played by test/deep/simulation.deep.ts; this one shows at once. */
const QUICK = "accepted creates are not counted until they show";

test.each(MUTANTS.filter(({ name }) => name === QUICK))(
  "a product in which $name is found out: $moves",
  async (mutant) => {
    const { seed, totals } = await playMutant(mutant);
    expect(totals[mutant.moves]).toBeGreaterThan(0);
    const { verdict } = await simulate(seed, playedIn(mutant));
    expect(verdict[mutant.moves]).toBe(0);
  },
);

test("a mutant whose text is no longer in the product is an error, not a success", async () => {
  const edit = { file: "src/decide/intents/settle.ts", find: "no such text", put: "" };
  const stale = { name: "stale", edits: [edit], moves: "overshoot", seeds: 1 } as const;
  await expect(playMutant(stale)).rejects.toThrow("holds 0 times what the mutant replaces");
});
