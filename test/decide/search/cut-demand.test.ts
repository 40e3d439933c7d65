/** The steps of a set run out while a demand is being placed. What must be whole is then placed as a whole or not at all. */
import { expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { Constraint } from "../../../src/domain/constraint.ts";
import type { RankedDemand } from "../../../src/domain/demand.ts";
import { job, limit, node, now, offer, policy, world } from "../../support/build-world.ts";

/** One existing node of four cores, and room for 200 new ones of the same size. */
const cluster = world({
  nodes: [node({ id: "n1" })],
  buckets: [offer("execute/D4", 4, { 0: 1 })],
  limits: [limit("cluster", "", "nodes", 1, 201)],
});

/** One core, in a form in which each node is judged separately. */
const eitherCore: Constraint = {
  kind: "or",
  of: [
    { kind: "amount", resource: "gpus", amount: 1 },
    { kind: "amount", resource: "ncpus", amount: 1 },
  ],
};

const BUDGETS = Array.from({ length: 200 }, (_, i) => 10 + 67 * i);

function planAt(steps: number, demand: RankedDemand) {
  const { creates, outcomes, leftOut } = allocate(cluster, [demand], { ...policy, steps }, now);
  const created = creates.reduce((sum, { count }) => sum + count, 0);
  return { created, placed: outcomes[0]?.placed ?? 0, isLeftOut: leftOut.length > 0 };
}

test("slots keep the nodes that they fill, and there is no node that nothing is put on", () => {
  const slots = job("slots", { iterations: 400, constraints: [eitherCore] });
  const plans = BUDGETS.map((steps) => planAt(steps, slots));
  // Four slots are on the existing node, and four on each new one.
  for (const { created, placed } of plans) expect(created).toBe(Math.ceil(Math.max(0, placed - 4) / 4));
  const cut = plans.filter(({ isLeftOut, created }) => isLeftOut && created > 0);
  expect(cut.length).toBeGreaterThan(50);
});

test("a gang has all of its nodes or none", () => {
  const gang = job("gang", { nodeCount: 60, constraints: [eitherCore] });
  const plans = BUDGETS.map((steps) => planAt(steps, gang));
  expect(new Set(plans.map(({ created, placed }) => `${placed} ${created}`))).toEqual(
    new Set(["0 0", "60 59"]),
  );
});

test("what has all it asked for as the steps run out is not left out", () => {
  const slots = job("slots", { iterations: 400, constraints: [eitherCore] });
  const whole = BUDGETS.map((steps) => planAt(steps, slots)).filter(({ placed }) => placed === 400);
  expect(whole.length).toBeGreaterThan(0);
  expect(whole.filter(({ isLeftOut }) => isLeftOut)).toEqual([]);
});
