/** Long queues of equal jobs, most of which find no room. */
import { expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import { needing } from "../../support/build-constraints.ts";
import type { RankedDemand } from "../../../src/domain/demand.ts";
import { setName } from "../../../src/domain/ids.ts";
import { job, limit, now, policy, world } from "../../support/build-world.ts";

/** Room for eight jobs. */
const twoNodes = world({ limits: [limit("cluster", "", "nodes", 0, 2)] });

/** This many jobs of each of twelve sets. Sets of equal priority take turns, as their messages have the same positions. */
const inTurns = (each: number): readonly RankedDemand[] =>
  Array.from({ length: 12 }, (_, set) => {
    // As in a message that was read: equal jobs share the list.
    const constraints = needing({ ncpus: 1 });
    return Array.from({ length: each }, (__, position) => ({
      ...job(`j${position}`, { position, constraints }),
      set: setName(`evil-${set}`),
    }));
  }).flat();

test("jobs of sets that take turns are refused for two steps each, as those of one set are", () => {
  const few = allocate(twoNodes, inTurns(100), policy, now);
  const many = allocate(twoNodes, inTurns(1100), policy, now);
  expect(many.outcomes.filter(({ placed }) => placed > 0).map(({ set, id }) => `${set}/${id}`)).toEqual(
    ["evil-0", "evil-1", "evil-10", "evil-11", "evil-2", "evil-3", "evil-4", "evil-5"].map(
      (set) => `${set}/j0`,
    ),
  );
  expect(many.outcomes.at(-1)).toEqual({ ...few.outcomes.at(-1), id: "j1099" });
  // 12,000 jobs more. One step reads the constraint, one finds the answer.
  expect(many.steps - few.steps).toBe(24_000);
});
