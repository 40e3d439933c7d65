/**
 * The clusters and jobs of the allocator's vectors in the default preference, by the rules of judge.ts: their expected values are those of
 * `bucket-order`, and none is looked at. A sample in `npm test`, all of them in `npm run test:deep`.
 */
import { describe, expect, test } from "vitest";
import { IS_DEEP, TIMEOUT } from "../property/runs.ts";
import { judge } from "./judge.ts";
import { MODES } from "../support/modes.ts";
import { tryOut } from "./try-out.ts";
import { oneByOne, readVectorTries } from "./vectors.ts";

const all = readVectorTries();

/** `npm test` tries each n-th vector. */
const STRIDE = IS_DEEP ? 1 : 30;

const sample = all.filter((_, i) => i % STRIDE === 0);

describe.each(MODES.filter(({ preference }) => preference === "existing-first"))(
  "vectors among $among",
  (mode) => {
    test(
      `break no rule: ${sample.length} of ${all.length} clusters, with all their jobs and with each alone`,
      () => {
        let placed = 0;
        const faults = sample
          .flatMap((one) => [one, ...oneByOne(one)])
          .flatMap(({ name, cluster, message }) => {
            const tried = tryOut(cluster, mode, message);
            placed += tried.allocation.outcomes.filter((outcome) => outcome.placed > 0).length;
            return judge(tried, mode).map((fault) => `${name}: ${fault}`);
          });
        expect(faults.slice(0, 20), `${faults.length} faults`).toEqual([]);
        // They are not about nothing.
        expect(placed).toBeGreaterThan(2 * sample.length);
      },
      TIMEOUT,
    );
  },
);
