import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/**
 * No process outlives the test run that started it, however the run ends (docs/decisions.md, "A watcher ends what a run of tests leaves
 * behind"): by itself, by Ctrl-C, by `timeout`, or killed. Every process of a run inherits a mark in its environment. A watcher, in a
 * session of its own, holds a pipe from the run. The system closes that pipe when the run ends, and then the watcher kills what has the
 * mark. Where there is no /proc, as on a Mac, nothing is watched.
 */

const VARIABLE = "AUTOSCALER_TEST_RUNS";
const SELF = fileURLToPath(import.meta.url);
/** Looks that must find nothing, one after the other: a process may be starting another one. */
const QUIET_LOOKS = 3;
const BETWEEN_LOOKS_MS = 50;

/** Starts the watcher of this process, vitest's own, and marks what it will start. A run inside a run has both marks. */
export function watchRun(): void {
  if (!existsSync("/proc/self/environ")) return;
  const watcher = spawn(process.execPath, [SELF, String(process.pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  // Neither the watcher nor its pipe keeps the run from ending.
  watcher.unref();
  if (watcher.stdin instanceof Socket) watcher.stdin.unref();
  process.env[VARIABLE] = `${process.env[VARIABLE] ?? ""}${markOf(process.pid)}`;
}

const markOf = (run: number) => `,${run},`;

/** The processes that began in the run of this process id, with all that they have started. */
export function processesOfRun(run: number): readonly number[] {
  return readdirSync("/proc").flatMap((name) => {
    const marks = /^\d+$/.test(name) ? environmentOf(name) : undefined;
    return marks?.includes(markOf(run)) === true ? [Number(name)] : [];
  });
}

/** The marks of a process. Undefined if it has none, has ended, or belongs to another user. */
function environmentOf(process: string): string | undefined {
  try {
    const variables = readFileSync(`/proc/${process}/environ`, "utf8").split("\0");
    return variables.find((variable) => variable.startsWith(`${VARIABLE}=`));
  } catch {
    return undefined;
  }
}

async function watch(run: number): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
  await new Promise((resolve) => process.stdin.resume().once("close", resolve));
  for (let quiet = 0; quiet < QUIET_LOOKS; quiet += 1) {
    for (const pid of processesOfRun(run)) {
      quiet = -1;
      kill(pid);
    }
    await pause(BETWEEN_LOOKS_MS);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

if (process.argv[1] === SELF) await watch(Number(process.argv[2]));
