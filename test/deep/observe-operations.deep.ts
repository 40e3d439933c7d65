import { expect, test } from "vitest";
import { operationsIn } from "./observe-operations.ts";

/** Alone: DEEP=1 npx vitest run --config test/deep/vitest.config.ts test/deep/observe-operations */
test("10,000 nodes and 2,000 sets: each plan in mode observe costs one storage operation more than in mode act, and no more", async () => {
  const act = await operationsIn("act", 2000);
  const observe = await operationsIn("observe", 2000);
  process.stdout.write(`operations a minute: act ${act.join(" ")}, observe ${observe.join(" ")}\n`);
  for (const [minute, operations] of act.entries())
    expect(observe[minute]).toBeLessThanOrEqual(operations + 1);
});
