/**
 * `among: "cheapest"` against trying everything, on worlds so small that this can be done: 100 in `npm test`, 2,000 in
 * `npm run test:deep`. How to replay a failure stands in runs.ts.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { allocate } from "../../src/decide/search/allocate.ts";
import type { Allocation } from "../../src/domain/allocation.ts";
import type { World } from "../../src/domain/world.ts";
import { cheapestCost } from "./brute-force.ts";
import { offerAt } from "./naive-nodes.ts";
import { findFaults } from "./naive-checker.ts";
import { NOW } from "./small-shapes.ts";
import { runsOf, TIMEOUT } from "./runs.ts";
import type { TinyWorld } from "./tiny-world.ts";
import { anyTinyWorld, buildTiny } from "./tiny-world.ts";
import { LARGEST_MEAN_GAP, LEAST_SHARE_EQUAL, SUPPORTED } from "./supported.ts";

const POLICY = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "existing-first",
  among: "cheapest",
} as const;

const costOf = (world: World, { creates }: Allocation): number =>
  creates.reduce((total, { bucket, count }) => total + (offerAt(world, bucket)?.price ?? 0) * count, 0);

test.each<{ readonly name: string; readonly tiny: TinyWorld; readonly least: number }>([
  {
    name: "one large node is cheaper than two small ones",
    tiny: {
      sizes: [
        { cores: 2, memory: 8, price: 5, spot: false },
        { cores: 4, memory: 8, price: 8, spot: false },
      ],
      nodes: [],
      jobs: [{ cores: 1, memory: 1, slots: 4, exclusive: false, gang: false, spot: "never" }],
    },
    least: 8,
  },
  {
    name: "slots that want nobody beside them, on the node that is there and on one that is new",
    tiny: {
      sizes: [{ cores: 8, memory: 8, price: 5, spot: false }],
      nodes: [0],
      jobs: [{ cores: 1, memory: 1, slots: 2, exclusive: true, gang: false, spot: "never" }],
    },
    least: 5,
  },
  {
    name: "a gang on nodes of one size, though two sizes would be cheaper",
    tiny: {
      sizes: [
        { cores: 1, memory: 8, price: 5, spot: false },
        { cores: 4, memory: 8, price: 20, spot: false },
      ],
      nodes: [1],
      jobs: [{ cores: 1, memory: 1, slots: 2, exclusive: false, gang: true, spot: "never" }],
    },
    least: 10,
  },
  {
    name: "spot only for the job that allows it",
    tiny: {
      sizes: [
        { cores: 2, memory: 8, price: 1, spot: true },
        { cores: 2, memory: 8, price: 7, spot: false },
      ],
      nodes: [],
      jobs: [
        { cores: 2, memory: 1, slots: 2, exclusive: false, gang: false, spot: "allow" },
        { cores: 2, memory: 1, slots: 1, exclusive: false, gang: false, spot: "never" },
      ],
    },
    least: 9,
  },
])("trying everything finds: $name", ({ tiny, least }) => {
  expect(cheapestCost(tiny, 1000)).toBe(least);
});

test(
  "everything is placed, and what it costs more than the least is known",
  () => {
    const { seed, numRuns } = runsOf(20_251_124, { usual: 100, deep: 2000 });
    const gaps: number[] = [];
    let bought = 0;
    for (const tiny of fc.sample(anyTinyWorld, { seed, numRuns })) {
      const { world, demands } = buildTiny(SUPPORTED.spot ? tiny : withoutSpot(tiny));
      const answer = allocate(world, demands, POLICY, NOW);
      expect(findFaults(world, demands, answer, NOW)).toEqual([]);
      expect(answer.outcomes.filter(({ placed, asked }) => placed < asked)).toEqual([]);
      const cost = costOf(world, answer);
      const least = cheapestCost(SUPPORTED.spot ? tiny : withoutSpot(tiny), cost);
      if (least === 0 && cost > 0) bought += 1;
      else gaps.push(least === 0 ? 0 : cost / least - 1);
    }
    const figures = figuresOf(gaps, numRuns);
    process.stdout.write(
      `cheapest: ${JSON.stringify({ seed, worlds: numRuns, ...figures, boughtForNothing: bought })}\n`,
    );
    expect(figures.shareEqual).toBeGreaterThanOrEqual(LEAST_SHARE_EQUAL);
    expect(figures.meanGap).toBeLessThanOrEqual(LARGEST_MEAN_GAP);
  },
  TIMEOUT,
);

const withoutSpot = ({ sizes, nodes, jobs }: TinyWorld): TinyWorld => ({
  sizes: sizes.map((size) => ({ ...size, spot: false })),
  nodes,
  jobs,
});

/** Of the gaps between what was paid and the least, as shares of the least. */
function figuresOf(gaps: readonly number[], worlds: number) {
  const sorted = gaps.toSorted((a, b) => a - b);
  const round = (value: number): number => Math.round(value * 1e4) / 1e4;
  return {
    shareEqual: round(gaps.filter((gap) => gap === 0).length / worlds),
    meanGap: round(gaps.reduce((total, gap) => total + gap, 0) / Math.max(1, gaps.length)),
    gapAt90: round(sorted[Math.floor(sorted.length * 0.9)] ?? 0),
    gapAt99: round(sorted[Math.floor(sorted.length * 0.99)] ?? 0),
    maxGap: round(sorted.at(-1) ?? 0),
  };
}
