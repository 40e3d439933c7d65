import { defineConfig } from "vitest/config";

/** What waits in real time for leases, visibility and processes: each of them has the machine to itself, after all others. */
const REAL_TIME = [
  "test/crash/**/*.test.ts",
  "test/local/main.test.ts",
  "test/local/host/processes.test.ts",
  "test/local/host/queue-trigger.test.ts",
  "test/scenarios/wrong-password.test.ts",
  "test/scenarios/four-hosts.test.ts",
];

/** What only computes: its files share two processes. Every other file has one of its own: a functions app is registered once per process. */
const PURE = [
  "test/decide/**/*.test.ts",
  "test/domain/**/*.test.ts",
  "test/wire/**/*.test.ts",
  "test/property/**/*.test.ts",
];

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    setupFiles: "test/support/setup.ts",
    pool: "forks",
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Half of the tests wait more than they compute: by default vitest leaves one core unused.
    maxWorkers: "100%",
    projects: [
      {
        extends: true,
        test: {
          name: "all",
          include: ["test/**/*.test.ts"],
          exclude: ["test/deep/**", ...PURE, ...REAL_TIME],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: "pure", include: PURE, isolate: false, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: { name: "real time", include: REAL_TIME, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
