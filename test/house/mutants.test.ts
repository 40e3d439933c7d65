import { expect, test } from "vitest";
import { MUTANTS as OF_THE_DOORS } from "../fuzz/mutants.ts";
import { MUTANTS as OF_THE_MODEL } from "../model/mutants.ts";
import { MUTANTS as OF_CHANGES } from "../scenarios/mutants-changes.ts";
import { MUTANTS as OF_CUT_OFF, TESTED } from "../scenarios/mutants-cut-off.ts";
import { MUTANTS as OF_MESSAGES } from "../scenarios/mutants-messages.ts";
import { MUTANTS as OF_STANDSTILLS } from "../scenarios/mutants-standstill.ts";
import { MUTANTS as OF_THE_SIMULATION } from "../simulation/mutants.ts";
import { KEPT_MUTANTS } from "../simulation/mutants-kept.ts";
import { NAMED_MUTANTS } from "../simulation/mutants-named.ts";
import { DOWN_MUTANTS } from "../simulation/mutants-down.ts";
import { mutate } from "../support/mutate.ts";
import { readProduct } from "../support/product-copy.ts";
import { MUTANTS as OF_THREATS } from "../threats/mutants.ts";

const product = await readProduct();

/** Mutants are played in the deep tests only. This test finds at once if the place of one is gone. */
test.each([
  ...OF_THE_DOORS,
  ...OF_THE_MODEL,
  ...OF_CHANGES,
  ...OF_CUT_OFF,
  TESTED,
  ...OF_MESSAGES,
  ...OF_STANDSTILLS,
  ...OF_THE_SIMULATION,
  ...DOWN_MUTANTS,
  ...KEPT_MUTANTS,
  ...NAMED_MUTANTS,
  ...OF_THREATS,
])("$name: what it replaces is there once", ({ edits }) => {
  expect(mutate(product, edits).size).toBeGreaterThan(0);
});
