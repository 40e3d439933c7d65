import fc from "fast-check";
import { expect, test } from "vitest";
import { allocate } from "../../src/decide/search/allocate.ts";
import type { AllocationPolicy } from "../../src/domain/allocation.ts";
import type { Cap } from "../../src/domain/world.ts";
import type { RankedDemand } from "../../src/domain/demand.ts";
import { setName } from "../../src/domain/ids.ts";
import { without } from "./features.ts";
import { anyCase } from "./random-world.ts";
import { NOW } from "./small-shapes.ts";
import { runsOf, TIMEOUT } from "./runs.ts";

const runs = runsOf(20_261_122, { usual: 15, deep: 5000 });
const base = { groupPrefix: "pg-", groupFillSeconds: 600, preference: "existing-first" } as const;
const POLICIES: readonly AllocationPolicy[] = [
  { ...base, among: "priority" },
  { ...base, among: "cheapest" },
];

/** Applies to no demand. But with any cap, the search for a place is repeated for each job, whatever it found for the job before. */
const FOR_NOBODY: Cap = { kind: "request-set", name: setName("nobody"), unit: "nodes", max: 0 };

/** Each job four times: two copies right after each other, and two more after those of the others. */
const repeated = (demands: readonly RankedDemand[]): readonly RankedDemand[] =>
  demands.flatMap((one, at) =>
    one.demand.kind === "job" && one.demand.placed.length === 0
      ? [0, 1, 2, 3].map((copy) => ({
          ...one,
          demand: {
            ...one.demand,
            id: `${one.demand.id}.${copy}`,
            position: copy + 4 * at + (copy < 2 ? 0 : 1000),
          },
        }))
      : [{ ...one, demand: { ...one.demand, position: 4 * at } }],
  );

test.each(POLICIES)(
  "jobs alike, $among: one that goes on where the one before it ended is where a search would put it",
  (policy) => {
    fc.assert(
      fc.property(anyCase(without("caps")), (drawn) => {
        const demands = repeated(drawn.demands);
        const [goingOn, searched] = [drawn.world, { ...drawn.world, caps: [FOR_NOBODY] }].map((world) => {
          const { creates, starts, outcomes, groups, needed, loads } = allocate(world, demands, policy, NOW);
          return { creates, starts, outcomes, groups, needed, loads };
        });
        expect(goingOn).toEqual(searched);
      }),
      runs,
    );
  },
  TIMEOUT,
);
