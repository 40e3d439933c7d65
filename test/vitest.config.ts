import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { SlowestFirst } from "./slowest-first.ts";
import { PATIENCE_MS, TIMEOUT_MS } from "./support/patience.ts";

/**
 * They have a process each: those that register functions of their own or load what is deployed, because a process takes one app; and those
 * that compare the moments and requests of one app with literals. All other files share their processes.
 */
const OWN_PROCESS = [
  "test/functions/{idle-operations,newer-state}.test.ts",
  "test/infra/package.test.ts",
  "test/local/host/{http,queue,timer}-trigger.test.ts",
  "test/local/host/{load-package,processes}.test.ts",
  "test/local/main-real-time.test.ts",
];

/** They wait for much of their time: for storage, processes, leases, visibility and boot times. */
const WAITING = [
  "test/adapters/{queue,tables}/**/*.test.ts",
  "test/app/process/lanes.test.ts",
  "test/cli/{check,commands}.test.ts",
  "test/contract/**/*.test.ts",
  "test/docs/{pbs-scripts,quickstart}.test.ts",
  "test/functions/**/!(idle-operations|newer-state).test.ts",
  "test/local/{canary,end-with-run,host-alone,serve,trial}.test.ts",
];

/** While one waits, another one has something to do. */
const SIDE_BY_SIDE = availableParallelism() + 1;

// What Node compiles is kept for the next process: most files, and the programs that tests start, load the same libraries.
process.env["NODE_COMPILE_CACHE"] ??= new URL(
  "../node_modules/.cache/node-compile",
  import.meta.url,
).pathname;

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    globalSetup: "test/support/setup.ts",
    pool: "forks",
    // Node runs this TypeScript as it is. Vite's own module runner transforms each file first, and costs more processor time.
    experimental: { viteModuleRunner: false },
    // Green tests wait for no limit.
    testTimeout: TIMEOUT_MS,
    hookTimeout: TIMEOUT_MS,
    expect: { poll: { timeout: PATIENCE_MS } },
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        extends: true,
        test: { name: "own process", include: OWN_PROCESS, maxWorkers: SIDE_BY_SIDE },
      },
      {
        extends: true,
        test: { name: "waiting", include: WAITING, isolate: false, maxWorkers: SIDE_BY_SIDE },
      },
      {
        extends: true,
        test: {
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: ["test/deep/**", ...OWN_PROCESS, ...WAITING],
          isolate: false,
          sequence: { groupOrder: 1 },
          maxWorkers: availableParallelism(),
        },
      },
    ],
  },
});
