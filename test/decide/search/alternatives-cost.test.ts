import { expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { Allocation } from "../../../src/domain/allocation.ts";
import type { Constraint } from "../../../src/domain/constraint.ts";
import { arrayName } from "../../../src/domain/ids.ts";
import { inArrays, needing } from "../../support/build-constraints.ts";
import { job, limit, now, offer, policy, world } from "../../support/build-world.ts";

/** The cost of planning jobs that accept one node array or else another. It is counted in steps, which do not depend on the machine. */

const cores = limit("nodearray", "hpc", "nodes", 0, 50);
const others = limit("nodearray", "htc", "nodes", 0, 10_000);
const twoArrays = world({
  buckets: [offer("hpc/D4", 4, { 0: 1 }), offer("htc/D4", 4, { 1: 1 })],
  limits: [cores, others],
  arrays: new Map([
    [arrayName("hpc"), "managed"],
    [arrayName("htc"), "managed"],
  ]),
});

/** Different jobs: each asks for another amount. */
const plan = (count: number, constraintsOf: (ncpus: number) => readonly Constraint[]): Allocation =>
  allocate(
    twoArrays,
    Array.from({ length: count }, (_, i) => job(`j${i}`, { constraints: constraintsOf(1 + i / 1e5) })),
    policy,
    now,
  );

const thisElseThat = (ncpus: number): readonly Constraint[] => [
  { kind: "or", of: [{ kind: "and", of: [inArrays("hpc"), ...needing({ ncpus })] }, ...needing({ ncpus })] },
];

test("twice as many jobs with alternatives cost about twice as much", () => {
  const some = plan(500, thisElseThat);
  const many = plan(1000, thisElseThat);
  // Three jobs of a little more than one core fit on a node of four: 50 nodes of hpc, then nodes of htc.
  expect(some.creates.map(({ count }) => count).reduce((sum, count) => sum + count, 0)).toBe(167);
  expect(many.creates.map(({ count }) => count).reduce((sum, count) => sum + count, 0)).toBe(334);
  expect(many.steps / some.steps).toBeLessThan(3);
});

test("a job with two alternatives costs at most fifty times a job with none", () => {
  const plain = plan(1000, (ncpus) => needing({ ncpus }));
  const alternatives = plan(1000, thisElseThat);
  expect(alternatives.steps / plain.steps).toBeLessThan(50);
});

test("many slots of one job cost no more than few: those that go to one alternative are counted at once", () => {
  const slots = (iterations: number): Allocation =>
    allocate(twoArrays, [job("j", { iterations, constraints: thisElseThat(0.001) })], policy, now);
  const few = slots(4000);
  // 4,000 slots fill a node of four cores, so 40,000 fill ten nodes.
  const many = slots(40_000);
  expect(many.outcomes.map(({ placed }) => placed)).toEqual([40_000]);
  expect(many.steps).toBeLessThan(20 * few.steps);
  expect(few.steps).toBeLessThan(2000);
});
