/** Two kinds of constraints in one job: what neither does alone. */
import { expect, test } from "vitest";
import { KINDS, pairTries } from "./inputs.ts";
import { faultsOf } from "./try-all.ts";

test.each(Object.keys(KINDS))("a job with one constraint and another: %s", (name) => {
  const faults = pairTries(name).flatMap((one) => faultsOf(one).map((fault) => `${one.name}: ${fault}`));
  expect(faults.slice(0, 8), `${faults.length} faults`).toEqual([]);
});
