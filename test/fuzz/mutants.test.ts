import { expect, test } from "vitest";
import { MUTANTS, playMutant } from "./mutants.ts";

/** test/deep plays all of them; this one shows at once. */
const QUICK = ["a message that cannot be read is dropped"];

test.each(MUTANTS.filter(({ name }) => QUICK.includes(name)))(
  "a product in which $name is found out by its seed",
  async (mutant) => {
    const { stdout, code } = await playMutant(mutant);
    expect(stdout).toMatch(mutant.shows);
    expect(code).toBe(1);
  },
);
