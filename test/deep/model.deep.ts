import { expect, test } from "vitest";
import { MUTANTS, playMutant } from "../model/mutants.ts";

test.each(MUTANTS)("a product in which $name is found out by the model", async (mutant) => {
  const { stdout, code } = await playMutant(mutant, ["--sequences", String(mutant.sequences)]);
  const [first = ""] = stdout.split("\n");
  process.stdout.write(`mutant: ${mutant.name}: ${first.slice(0, 200)}\n`);
  expect(code).toBe(1);
  expect(first).toMatch(/^seed \d+: /);
});
