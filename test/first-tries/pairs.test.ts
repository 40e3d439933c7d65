/**
 * Two kinds of constraints in one job: what neither does alone. In `npm test` every second pair on one cluster in one mode, in
 * `npm run test:deep` all pairs on all in all.
 */
import { expect, test } from "vitest";
import { IS_DEEP, TIMEOUT } from "../property/runs.ts";
import { CLUSTERS } from "./clusters.ts";
import { KINDS, pairTries } from "./inputs.ts";
import { faultsOf, modesAt } from "./try-all.ts";

test.each(Object.keys(KINDS))(
  "a job with one constraint and another: %s",
  (name) => {
    const tried = pairTries(name).filter((_, index) => IS_DEEP || index % 2 === 0);
    const faults = tried.flatMap((one, at) => {
      const clusters = CLUSTERS.filter((_, index) => IS_DEEP || index === at % CLUSTERS.length);
      return clusters.flatMap((cluster) =>
        faultsOf(one, cluster, modesAt(at)).map((fault) => `${one.name}: ${fault}`),
      );
    });
    expect(faults.slice(0, 8), `${faults.length} faults`).toEqual([]);
  },
  TIMEOUT,
);
