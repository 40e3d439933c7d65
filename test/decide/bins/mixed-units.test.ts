import { expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import { needing, ofSizes } from "../../support/build-constraints.ts";
import { job, node, now, offer, policy, world } from "../../support/build-world.ts";

/** "mem" is a plain number on D4 and a size on E4: a job that asks for a plain number is tried out on each node. */
const inGiB = { ncpus: 4, mem: { amount: 16, unit: "g" as const } };

const two = world({
  buckets: [offer("execute/D4", 4, { 0: 1 }), offer("execute/E4", 4, { 0: 1 }, { resources: inGiB })],
  nodes: [
    { ...node({ id: "full" }), left: { ncpus: 0 } },
    { ...node({ id: "free", at: "execute/E4" }), resources: inGiB },
  ],
});

test("a job that lists two VM sizes uses an existing node of the second one, though its memory has another unit", () => {
  const demands = [job("a", { constraints: [...needing({ ncpus: 1, mem: 1 }), ofSizes("D4", "E4")] })];
  const { creates, outcomes } = allocate(two, demands, policy, now);
  expect(outcomes.map(({ placed }) => placed)).toEqual([1]);
  expect(creates).toEqual([]);
});
