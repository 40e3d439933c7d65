/** Long queues of equal jobs, most of which find no room. */
import { expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { RankedDemand } from "../../../src/domain/demand.ts";
import { setName } from "../../../src/domain/ids.ts";
import { compareText } from "../../../src/domain/text.ts";
import { needing } from "../../support/build-constraints.ts";
import { job, limit, now, policy, world } from "../../support/build-world.ts";

/** Room for eight jobs. */
const twoNodes = world({ limits: [limit("cluster", "", "nodes", 0, 2)] });

/** This many jobs of each set. Sets of equal priority take turns, because the positions in their messages are the same. */
const queueOf = (sets: number, each: number): readonly RankedDemand[] =>
  Array.from({ length: sets }, (_, set) => {
    // As in a message that was read: equal jobs share the list.
    const constraints = needing({ ncpus: 1 });
    return Array.from({ length: each }, (__, position) => ({
      ...job(`j${position}`, { position, constraints }),
      set: setName(`evil-${set}`),
    }));
  }).flat();

/** The same by rank: the first job of each set in the order of their names, then the second of each. */
function inTurns(sets: number, each: number): readonly RankedDemand[] {
  const bySet = [...Map.groupBy(queueOf(sets, each), ({ set }) => set)].toSorted(([a], [b]) =>
    compareText(a, b),
  );
  return Array.from({ length: each }, (_, position) =>
    bySet.flatMap(([, jobs]) => jobs[position] ?? []),
  ).flat();
}

function processorTime(demands: readonly RankedDemand[]): number {
  const before = process.cpuUsage();
  allocate(twoNodes, demands, policy, now);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

test("jobs of twelve sets that take turns are refused like those of one set", () => {
  const { outcomes } = allocate(twoNodes, queueOf(12, 100), policy, now);
  expect(outcomes.filter(({ placed }) => placed > 0).map(({ set, id }) => `${set}/${id}`)).toEqual(
    ["evil-0", "evil-1", "evil-10", "evil-11", "evil-2", "evil-3", "evil-4", "evil-5"].map(
      (set) => `${set}/j0`,
    ),
  );
  // Remedies are tried for the first ones only.
  expect(outcomes.at(-1)).toEqual({ ...outcomes[30], set: "evil-9", id: "j99" });
  expect(outcomes.at(-1)?.reasons).toBe(outcomes[8]?.reasons);

  // In the order of rank, so that none is sorted. Twice as long now, and 5 to 8 times when each job was placed and explained by itself.
  const [turns, alone] = [inTurns(12, 8000), queueOf(1, 96_000)];
  const ratios = Array.from({ length: 5 }, () => processorTime(turns) / processorTime(alone));
  expect(Math.min(...ratios)).toBeLessThan(4);
});
