import { expect, test } from "vitest";
import { faultsIn } from "./asked-together.ts";
import { TIMEOUT } from "./runs.ts";

/** A sample of fixed seed. test/deep/asked-together.deep.ts plays thousands. */
test(
  "whoever does what the remedies of a job say gets it placed, and no remedy blames what a bucket offers",
  () => {
    expect(faultsIn({ seed: 20_261_123, numRuns: 150 }).faults).toEqual([]);
  },
  TIMEOUT,
);
