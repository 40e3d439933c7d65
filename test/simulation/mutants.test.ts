import { expect, test } from "vitest";
import { playMutant } from "./play-mutant.ts";

/** The mutants are played by test/deep/simulation.deep.ts. */
test("a mutant whose text is no longer in the product is an error, not a success", async () => {
  const edit = { file: "src/decide/intents/settle.ts", find: "no such text", put: "" };
  const stale = { name: "stale", edits: [edit], moves: "overshoot", seeds: 1 } as const;
  await expect(playMutant(stale)).rejects.toThrow("holds 0 times what the mutant replaces");
});
