import { expect, test } from "vitest";
import { HOSTILE_CLUSTERS } from "../support/hostile-clusters.ts";
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
