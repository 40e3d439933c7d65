import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * `npm run test:deep`: what takes too long for every day, and again with more runs, or in larger worlds, what reads DEEP. One file after
 * the other, because several of them measure time.
 */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL("../..", import.meta.url)),
    include: [
      "test/deep/**/*.deep.ts",
      "test/schedulers/*.deep.ts",
      "test/agent/shims.test.ts",
      "test/property/**/*.test.ts",
      "test/adapters/tables/scale.test.ts",
      "test/app/describe/state-size.test.ts",
      "test/app/record/finished-sets.test.ts",
      "test/contract/store-agreement.test.ts",
      "test/conformance/conformance.test.ts",
      "test/conformance/mixed.test.ts",
      "test/conformance/wrong-engines.test.ts",
      "test/first-tries/*.test.ts",
      "test/scenarios/many-sets.test.ts",
      "test/scenarios/steady-stops.test.ts",
      "test/wire/any-input.test.ts",
      "test/wire/policy/config-patch.test.ts",
    ],
    globalSetup: "test/support/setup.ts",
    pool: "forks",
    experimental: { viteModuleRunner: false },
    fileParallelism: false,
    testTimeout: 3_600_000,
    // Of the tests that mostly wait (freezes.deep.ts).
    maxConcurrency: 16,
    hookTimeout: 120_000,
    // The figures that deep tests print belong into the output as they are.
    disableConsoleIntercept: true,
  },
});
