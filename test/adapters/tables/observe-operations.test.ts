import { expect, test } from "vitest";
import { operationsIn } from "../../deep/observe-operations.ts";

/** The whole size, 2,000 sets and 10,000 nodes, is in test/deep/observe-operations.deep.ts. */
test("each plan in mode observe costs one storage operation more than in mode act, and no more", async () => {
  const act = await operationsIn("act", 40);
  const observe = await operationsIn("observe", 40);
  expect(act).toHaveLength(10);
  for (const [minute, operations] of act.entries())
    expect(observe[minute]).toBeLessThanOrEqual(operations + 1);
  // At rest it is the one row of the virtual fleet.
  expect(observe[2]).toBe((act[2] ?? 0) + 1);
});
