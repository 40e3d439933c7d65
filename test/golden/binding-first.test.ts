import { describe, expect, test } from "vitest";
import { describeOutcomes, describeWaiting } from "../../src/app/describe/describe-outcomes.ts";
import { allocate } from "../../src/decide/search/allocate.ts";
import type { BucketOffer, World } from "../../src/domain/world.ts";
import type { RankedDemand } from "../../src/domain/demand.ts";
import type { Plan } from "../../src/domain/plan.ts";
import { renderReason } from "../../src/domain/reason-text.ts";
import { plusSeconds } from "../../src/domain/units.ts";
import { needing } from "../support/build-constraints.ts";
import { bucket, job, limit, NOW, offer, world } from "./small-world.ts";

/** The reason that the remedy names is shown first, however many other buckets the job cannot use. */

const policy = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "existing-first",
  among: "priority",
} as const;

/** Twelve VM sizes of eight cores, which a job of 44 cores cannot use, come before the one that it can use. */
const small = Array.from({ length: 12 }, (_, i) => offer(`execute/F${i + 1}`, 8, [1]));
const hpc = (more: Partial<BucketOffer> = {}) => offer("hpc/HC44rs", 44, [1, 1], more);

function planOf(on: World, demand: RankedDemand): Plan {
  const { outcomes } = allocate(on, [demand], policy, NOW);
  return { number: 1, at: NOW, creates: [], terminates: [], demands: outcomes, nodes: new Map() };
}

/** The first reason, as a summary shows it. */
function shownFirst(on: World, demand: RankedDemand): string | undefined {
  const plan = planOf(on, demand);
  const [summary] = describeWaiting(plan).reasons;
  const [row] = describeOutcomes({ plan });
  expect(row?.why).toBe(summary?.text);
  return summary?.text;
}

const full = limit("nodearray", "hpc", "nodes", 5, 5);
const wide = job({ constraints: needing({ ncpus: 44 }), iterations: 2 });

describe("a job of 44 cores, and twelve VM sizes of 8 before the one of 44", () => {
  test("its array is at its limit", () => {
    expect(shownFirst(world([...small, hpc()], [limit("cluster", "", "nodes", 0, 100), full]), wide)).toBe(
      "node array hpc: 5 of 5 nodes used, 2 more needed, 0 left",
    );
  });

  test("part of it has a place, and the rest meets the limit", () => {
    const one = limit("nodearray", "hpc", "nodes", 4, 5);
    expect(shownFirst(world([...small, hpc()], [limit("cluster", "", "nodes", 0, 100), one]), wide)).toBe(
      "node array hpc: 5 of 5 nodes used, 1 more needed, 0 left",
    );
  });

  test("its bucket pauses after a capacity failure: until when, and how long ago that was", () => {
    const paused = hpc({
      capacityFailureSeconds: 125,
      refusal: {
        code: "backing-off",
        bucket: bucket("hpc/HC44rs"),
        until: plusSeconds(NOW, 300),
        message: "4 of 4 nodes were not added",
        capacityFailureSeconds: 125,
      },
    });
    const free = limit("nodearray", "hpc", "nodes", 0, 5);
    expect(shownFirst(world([...small, paused], [limit("cluster", "", "nodes", 0, 100), free]), wide)).toBe(
      "hpc/HC44rs: pausing until 2025-11-20T11:05:00.000Z after: 4 of 4 nodes were not added; Azure lacked capacity 125 s before the last observation",
    );
  });

  test("CycleCloud has no room there after a capacity failure: the limit names it", () => {
    const failed = hpc({ capacityFailureSeconds: 125 });
    const none = { ...limit("bucket", "hpc/HC44rs", "nodes", 0, 5), left: 0 };
    expect(shownFirst(world([...small, failed], [limit("cluster", "", "nodes", 0, 100), none]), wide)).toBe(
      "bucket hpc/HC44rs: 0 of 5 nodes used, 2 more needed, 0 left; Azure lacked capacity 125 s before the last observation",
    );
  });

  test("the group is too large", () => {
    const grouped = hpc({ maxPlacementGroupSize: 1 });
    const gang = job({ constraints: needing({ ncpus: 44 }), nodeCount: 2, colocated: true });
    const limits = [limit("cluster", "", "nodes", 0, 100), limit("nodearray", "hpc", "nodes", 0, 5)];
    expect(shownFirst(world([...small, grouped], limits), gang)).toBe(
      "hpc/HC44rs: 2 nodes in one placement group asked, at most 1 possible",
    );
  });

  test("a pause of a bucket that is too small for the job is not why it waits", () => {
    const paused = small.map((one) => ({
      ...one,
      refusal: {
        code: "backing-off" as const,
        bucket: one.bucket,
        until: plusSeconds(NOW, 300),
        message: "no capacity",
      },
    }));
    expect(shownFirst(world([...paused, hpc()], [limit("cluster", "", "nodes", 0, 100), full]), wide)).toBe(
      "node array hpc: 5 of 5 nodes used, 2 more needed, 0 left",
    );
  });
});

test("what a gang asks of a node is told in one unit: all its slots there, and of the buckets that lack it", () => {
  // Four slots of 44 cores on each of two nodes are 176 cores on one node.
  const gang = job({ constraints: needing({ ncpus: 44 }), nodeCount: 2, iterations: 4 });
  const limits = [limit("cluster", "", "nodes", 0, 100), limit("nodearray", "hpc", "nodes", 0, 5)];
  const [outcome] = planOf(world([...small.slice(0, 2), hpc()], limits), gang).demands;
  expect(outcome?.reasons.map(renderReason)).toEqual([
    "execute/F1, execute/F2, hpc/HC44rs: ncpus 176 asked of one node, at most 44 offered",
  ]);
});
