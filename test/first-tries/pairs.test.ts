/** Two kinds of constraints in one job: what neither does alone. In `npm test` each pair in one mode, in `npm run test:deep` in all. */
import { expect, test } from "vitest";
import { IS_DEEP, TIMEOUT } from "../property/runs.ts";
import { MODES } from "../support/modes.ts";
import { KINDS, pairTries } from "./inputs.ts";
import { faultsOf } from "./try-all.ts";

test.each(Object.keys(KINDS))(
  "a job with one constraint and another: %s",
  (name) => {
    const faults = pairTries(name).flatMap((one, at) => {
      const modes = MODES.filter((_, mode) => IS_DEEP || mode === at % MODES.length);
      return faultsOf(one, undefined, modes).map((fault) => `${one.name}: ${fault}`);
    });
    expect(faults.slice(0, 8), `${faults.length} faults`).toEqual([]);
  },
  TIMEOUT,
);
