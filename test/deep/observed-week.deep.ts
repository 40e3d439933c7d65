import { test } from "vitest";
import { judgeObserved } from "../scenarios/judge-observed.ts";
import { observeFor } from "../scenarios/observed-time.ts";

/** Alone: DEEP=1 npx vitest run --config test/deep/vitest.config.ts test/deep/observed-week */
test.each([1, 19, 2026])(
  "a week beside another autoscaler, with one array switched to act in the middle (seed %i)",
  async (seed) => {
    const observed = await observeFor(7, seed);
    for (const [array, { said, real, virtual }] of Object.entries({
      execute: observed.execute,
      second: observed.second,
    }))
      process.stdout.write(`observed week, ${array}: ${JSON.stringify({ said, real, virtual })}\n`);
    await judgeObserved(observed);
  },
);
