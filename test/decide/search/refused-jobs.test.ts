/** Long queues of equal jobs, most of which find no room. */
import { expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { RankedDemand } from "../../../src/domain/demand.ts";
import { setName } from "../../../src/domain/ids.ts";
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

/** The shortest of five times, so that the collector and other processes do not count. */
function processorTime(work: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...times);
}

test("jobs of twelve sets that take turns are refused like those of one set", () => {
  const { outcomes } = allocate(twoNodes, queueOf(12, 100), policy, now);
  expect(outcomes.filter(({ placed }) => placed > 0).map(({ set, id }) => `${set}/${id}`)).toEqual(
    ["evil-0", "evil-1", "evil-10", "evil-11", "evil-2", "evil-3", "evil-4", "evil-5"].map(
      (set) => `${set}/j0`,
    ),
  );
  expect(outcomes.at(-1)).toEqual({ ...outcomes[8], set: "evil-9", id: "j99" });

  const [turns, alone] = [queueOf(12, 2000), queueOf(1, 24_000)];
  const time = processorTime(() => allocate(twoNodes, turns, policy, now));
  // 2 to 3 times, because the demands are sorted. It was 10 to 12 times when each job was placed and explained by itself.
  expect(time).toBeLessThan(6 * processorTime(() => allocate(twoNodes, alone, policy, now)));
});
