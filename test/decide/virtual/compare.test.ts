import { describe, expect, test } from "vitest";
import { addObservation } from "../../../src/decide/virtual/compare.ts";
import type { Comparison } from "../../../src/domain/comparison.ts";
import { differenceText } from "../../../src/domain/comparison.ts";
import { setName } from "../../../src/domain/ids.ts";
import { instant, plusSeconds } from "../../../src/domain/units.ts";
import { EXECUTE } from "../../support/build-node.ts";

type FoundBoth = Parameters<typeof addObservation>[1];
type Found = FoundBoth["arrays"][number]["real"];

const MORNING = instant(Date.UTC(2026, 0, 31, 10, 40));
const nodes = (count: number, idle = 0): Found => ({ nodes: count, idle, boots: 0 });
const found = (real: Found, virtual: Found): FoundBoth => ({
  arrays: [{ array: EXECUTE, real, virtual, stoppedAt: MORNING, sets: [setName("slurm")] }],
});

function observe(both: FoundBoth, minutes: number, from = MORNING): Comparison {
  let comparison: Comparison = { days: [] };
  for (let at = from; at < plusSeconds(from, minutes * 60); at = plusSeconds(at, 60))
    comparison = addObservation(comparison, both, at, plusSeconds(at, 60));
  return comparison;
}

const textsOf = ({ days }: Comparison): readonly string[] =>
  days.flatMap(({ arrays }) => arrays.flatMap(({ differences }) => differences.map(differenceText)));

describe("the reasons of differences", () => {
  test.each([
    {
      both: found(nodes(12, 12), nodes(0)),
      text: "12 nodes idle for 5 h from 10:40 (60 node-hours). They would have been stopped at 10:40: no job needed them",
    },
    {
      both: found(nodes(3, 0), nodes(1)),
      text: "2 nodes more for 5 h from 10:40 (10 node-hours), booting or at work. The autoscaler would have done without them",
    },
    {
      both: found(nodes(1), nodes(2)),
      text: "1 node fewer for 5 h from 10:40 (5 node-hours). The autoscaler would have had it for slurm",
    },
  ])("$text", ({ both, text }) => {
    expect(textsOf(observe(both, 300))).toEqual([text]);
  });
});

describe("an observation", () => {
  test("counts on both days where midnight lies between", () => {
    const night = instant(Date.UTC(2026, 0, 31, 23, 59, 30));
    const { days } = observe(found(nodes(4, 1), nodes(2)), 1, night);
    expect(days).toMatchObject([
      { day: "2026-01-31", arrays: [{ seconds: 30, real: { nodeSeconds: 120, idleSeconds: 30 } }] },
      { day: "2026-02-01", arrays: [{ seconds: 30, virtual: { nodeSeconds: 60, peak: 2 } }] },
    ]);
  });

  test("after a gap of more than twenty minutes says nothing of it", () => {
    const both = found(nodes(4), nodes(2));
    expect(addObservation({ days: [] }, both, MORNING, plusSeconds(MORNING, 1201))).toEqual({ days: [] });
    expect(addObservation({ days: [] }, both, MORNING, plusSeconds(MORNING, 1200)).days).toHaveLength(1);
  });

  test("keeps 90 days", () => {
    let comparison: Comparison = { days: [] };
    for (let day = 0; day < 100; day += 1) {
      const at = plusSeconds(MORNING, day * 86_400);
      comparison = addObservation(comparison, found(nodes(1), nodes(1)), at, plusSeconds(at, 60));
    }
    expect(comparison.days).toHaveLength(90);
    expect(comparison.days[0]?.day).toBe("2026-02-10");
  });
});
