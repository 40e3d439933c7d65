import { defineConfig } from "vitest/config";

/** Each file runs in a process of its own: a functions app is registered once per process. */
export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["test/**/*.test.ts"],
    exclude: ["test/deep/**"],
    setupFiles: ["test/support/setup.ts"],
    pool: "forks",
    // Half of the tests wait more than they compute: by default vitest leaves one core unused.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
