import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { processesOfRun } from "../support/end-with-run.ts";
import { ROOT } from "../support/run-main.ts";

/** A run of tests that is ended from outside leaves no process behind. */

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
};

test.skipIf(!existsSync("/proc/self/environ")).each<{
  readonly signal: NodeJS.Signals;
  readonly file: string;
  readonly starts: readonly string[];
}>([
  {
    signal: "SIGKILL",
    file: "test/local/host/processes.test.ts",
    starts: ["test/support/azurite-main.ts", "src/local/host/main.ts"],
  },
  {
    signal: "SIGTERM",
    file: "test/docs/quickstart.test.ts",
    starts: ["src/local/main.ts\0--serve", "src/local/host/main.ts"],
  },
])("$signal during $file", async ({ signal, file, starts }) => {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const run = spawn(process.execPath, [vitest, "run", "--config", "test/vitest.config.ts", file], {
    cwd: ROOT,
    stdio: "ignore",
  });
  onTestFinished(() => void run.kill("SIGKILL"));
  const started = (): readonly string[] => {
    const commands = processesOfRun(run.pid ?? 0).map(commandOf);
    return starts.filter((start) => commands.some((command) => command.includes(start)));
  };
  await expect.poll(started).toEqual(starts);
  run.kill(signal);
  await expect.poll(() => processesOfRun(run.pid ?? 0)).toEqual([]);
});
