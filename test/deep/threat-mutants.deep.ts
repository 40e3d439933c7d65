import { expect, test } from "vitest";
import { runTestInCopy } from "../support/product-copy.ts";
import { MUTANTS } from "../threats/mutants.ts";

test.each(MUTANTS)("$name: the test that the threat model names fails", async ({ name, edits, ...proof }) => {
  const failed = await runTestInCopy(edits, proof.file);
  process.stdout.write(`mutant: ${name}: ${failed.length} failed: ${failed[0] ?? "none"}\n`);
  expect(failed.filter((title) => title.includes(proof.test))).not.toEqual([]);
});
