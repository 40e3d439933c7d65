import { defineConfig } from "vitest/config";

/** What mostly waits in real time, for visibility and processes: two of them at a time, after all others. */
const WAITING = [
  "test/local/host/processes.test.ts",
  "test/local/host/queue-trigger.test.ts",
  "test/scenarios/wrong-password.test.ts",
];

/** What works in real time, against leases and boot times: each of them has the machine to itself, at last. */
const REAL_TIME = [
  "test/crash/**/*.test.ts",
  "test/local/main-real-time.test.ts",
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
          exclude: ["test/deep/**", ...PURE, ...WAITING, ...REAL_TIME],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: "pure", include: PURE, isolate: false, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: { name: "waiting", include: WAITING, maxWorkers: 2, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: "real time", include: REAL_TIME, maxWorkers: 1, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
