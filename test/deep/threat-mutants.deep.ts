import { expect, test } from "vitest";
import { runTestInCopy } from "../support/product-copy.ts";
import { MUTANTS } from "../threats/mutants.ts";

test.each(MUTANTS)("$name: the test that the threat model names fails", async ({ name, edits, ...proof }) => {
  const failed = await runTestInCopy(edits, proof.file);
  const named = failed.filter((title) => title.includes(proof.test));
  const killed = `killed by ${named[0] ?? "no test that is named"}, and by ${failed.length - named.length} others`;
  process.stdout.write(`mutant: ${name}: ${killed} of ${proof.file}\n`);
  expect(named).not.toEqual([]);
});
