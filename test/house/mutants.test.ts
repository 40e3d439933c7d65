import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { MUTANTS as OF_THE_DOORS } from "../fuzz/mutants.ts";
import { MUTANTS as OF_THE_MODEL } from "../model/mutants.ts";
import { MUTANTS as OF_CHANGES } from "../scenarios/mutants-changes.ts";
import { MUTANTS as OF_THE_SIMULATION } from "../simulation/mutants.ts";
import { DOWN_MUTANTS } from "../simulation/mutants-down.ts";
import { MUTANTS as OF_THREATS } from "../threats/mutants.ts";

/** Mutants are played in the deep tests only. This test finds at once if the text that a mutant replaces has changed. */
test.each([
  ...OF_THE_DOORS,
  ...OF_THE_MODEL,
  ...OF_CHANGES,
  ...OF_THE_SIMULATION,
  ...DOWN_MUTANTS,
  ...OF_THREATS,
])("$name: what it replaces is there once", async ({ edits }) => {
  for (const { file, find } of edits) {
    const text = await readFile(new URL(`../../${file}`, import.meta.url), "utf8");
    expect(text.split(find), file).toHaveLength(2);
  }
});
