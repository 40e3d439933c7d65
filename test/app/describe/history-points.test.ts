import { describe, expect, test } from "vitest";
import { memoryHistory, memoryPlanArchive } from "../../../src/adapters/memory/stores.ts";
import { describeHistory } from "../../../src/app/describe/describe-history.ts";
import { clusterName } from "../../../src/domain/ids.ts";
import { instant } from "../../../src/domain/units.ts";

/** With `points` a long time has as many rows as a plot can show. */

const demo = clusterName("demo");
const START = Date.UTC(2026, 10, 1);
const MINUTE_MS = 60_000;

/** A cluster with a row for each of these minutes; row N has N nodes. */
async function historyOf(minutes: readonly number[]) {
  const ports = { history: memoryHistory(), plans: memoryPlanArchive() };
  for (const minute of minutes)
    await ports.history.append(demo, {
      at: instant(START + minute * MINUTE_MS),
      plan: 1,
      nodes: { ready: minute },
      inFlight: 0,
      liveSets: 1,
      created: 0,
      terminated: 0,
      unmet: 0,
    });
  return async (points: number, until: number) => {
    const range = { from: instant(0), to: instant(START + until * MINUTE_MS), limit: 1, points };
    return (await describeHistory({ ports }, demo, range)).rows.map(({ nodes }) => nodes["ready"]);
  };
}

const upTo = (count: number) => Array.from({ length: count }, (_, minute) => minute);

describe("points", () => {
  test.each([
    { name: "no more rows than points: all of them", rows: [0, 1, 2], points: 3, until: 2, shown: [2, 1, 0] },
    {
      name: "the last row of each step, the newest first",
      rows: upTo(10),
      points: 5,
      until: 9,
      shown: [9, 7, 5, 3, 1],
    },
    { name: "one point: the newest row", rows: upTo(10), points: 1, until: 9, shown: [9] },
    {
      name: "a step without rows is left out",
      rows: [0, 1, 2, 3, 98, 99],
      points: 4,
      until: 99,
      shown: [99, 3],
    },
    {
      name: "a day after the newest row: steps end at the end of the time",
      rows: upTo(10),
      points: 2,
      until: 1449,
      shown: [9],
    },
    { name: "no rows", rows: [], points: 5, until: 9, shown: [] },
  ])("$name", async ({ rows, points, until, shown }) => {
    const ask = await historyOf(rows);
    expect(await ask(points, until)).toEqual(shown);
  });

  test("a month of minutes keeps its first hour and its last row", async () => {
    const ask = await historyOf(upTo(43_200));
    const shown = await ask(600, 43_199);
    expect(shown.length).toBe(600);
    expect([shown[0], shown.at(-1)]).toEqual([43_199, 71]);
  });
});
