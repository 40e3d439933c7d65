import { expect, test } from "vitest";
import { playMutant } from "./play-mutant.ts";

/** The mutants are played by test/deep/simulation.deep.ts. */
test("a mutant whose place is no longer in the product is an error, not a success", async () => {
  const edit = { in: "settle", from: "no such text", to: "" };
  const stale = { name: "stale", edits: [edit], moves: "overshoot", seeds: 1 } as const;
  await expect(playMutant(stale)).rejects.toThrow(
    "settle has 0 times what the mutant replaces: no such text",
  );
});
