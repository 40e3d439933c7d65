import { expect, test } from "vitest";
import { HOSTILE_CLUSTERS } from "../support/hostile-clusters.ts";
import { hostileCluster } from "../support/open-hostile.ts";
import { planHostile } from "../support/plan-hostile.ts";

test.each([50, 1000])(
  "demand within the bounds of the doors, in a cluster of %d nodes: each plan takes less than 5 s of processor time",
  (nodeCount) => {
    for (const hostile of HOSTILE_CLUSTERS) {
      const { plan, processorSeconds, mebibytes } = planHostile(hostile, nodeCount);
      const left = plan.leftOut?.map(({ why }) => why).join("; ") ?? "nothing";
      console.log(
        `${processorSeconds.toFixed(2)} s, ${mebibytes.toFixed(0)} MiB: ${hostile.name}; left out: ${left.slice(0, 100)}`,
      );
      expect.soft(processorSeconds, hostile.name).toBeLessThan(5);
      expect
        .soft(
          plan.demands.filter(({ set }) => set === "honest"),
          hostile.name,
        )
        .toMatchObject([{ placed: 5 }]);
    }
  },
);

test("20,000 jobs whose amounts differ far behind the point are told apart as quickly as others", () => {
  const { plan, processorSeconds } = planHostile(
    hostileCluster("20,000 jobs of which each runs on 50 hosts"),
    50,
  );
  expect(plan.demands.filter(({ set }) => set === "evil").every(({ placed }) => placed === 100)).toBe(true);
  expect(processorSeconds).toBeLessThan(10);
});

test("100 sets that each cost too much: each is named of which something is left out, and the set of little demand gets all", () => {
  const { plan, processorSeconds } = planHostile(
    hostileCluster("100 sets, each of 40 jobs with 100 alternatives"),
    50,
  );
  expect(plan.demands.filter(({ set }) => set === "honest")).toMatchObject([{ placed: 5, asked: 5 }]);
  const named = new Set(plan.leftOut?.map(({ set }) => set));
  const leftOut = plan.demands.filter(({ reasons }) => reasons.some(({ code }) => code === "left-out"));
  expect(leftOut.length).toBeGreaterThan(0);
  expect(new Set(leftOut.map(({ set }) => set))).toEqual(named);
  expect(processorSeconds).toBeLessThan(10);
});

test("5,000 sets of twenty jobs each, of which no two are alike: none is left out", () => {
  const { plan, processorSeconds } = planHostile(
    hostileCluster("5,000 sets, each of twenty jobs of which no two are alike"),
    50,
  );
  expect(plan.leftOut ?? []).toEqual([]);
  expect(plan.demands).toHaveLength(100_001);
  expect(processorSeconds).toBeLessThan(10);
});
