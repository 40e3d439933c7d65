import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The folder of the repository. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The output and the end of a command. */
export interface Ended {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
}

export interface Running {
  readonly ended: Promise<Ended>;
  /** Its output on stdout so far. */
  said(): string;
  /** Sends a signal to the command and everything that it has started, as a terminal does. */
  signal(name: NodeJS.Signals): void;
  /** Whether any process that it has started is still there. */
  anyLeft(): boolean;
}

/** Starts the main job in a process group of its own, as `npm start -- ...args` does but without npm. */
export function startMain(args: readonly string[]): Running {
  return startCommand(process.execPath, ["src/local/main.ts", ...args]);
}

/** Starts the host alone, as `npm run host -- ...args` does but without npm. */
export function startHostAlone(args: readonly string[]): Running {
  return startCommand(process.execPath, ["src/local/host-main.ts", ...args]);
}

/** Starts the main job by `npm start -- ...args`. */
export function npmStart(args: readonly string[]): Running {
  return startCommand("npm", ["start", "--", ...args]);
}

/** Runs the main job to its end. */
export function runMain(...args: readonly string[]): Promise<Ended> {
  return startMain(args).ended;
}

function startCommand(command: string, args: readonly string[]): Running {
  const began = performance.now();
  const child = spawn(command, args, { cwd: ROOT, detached: true });
  const { pid } = child;
  const said = listen(child);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) =>
      resolve({
        code: code ?? signal ?? "unknown",
        ...said(),
        seconds: (performance.now() - began) / 1000,
      }),
    );
  });
  const signal = (name: NodeJS.Signals | 0) => {
    // Without a pid the command was not found: `ended` rejects. A detached child leads a group, and -pid names the whole group.
    if (pid !== undefined) process.kill(-pid, name);
  };
  return {
    ended,
    said: () => said().stdout,
    signal,
    anyLeft() {
      try {
        signal(0);
        return true;
      } catch {
        return false;
      }
    },
  };
}

function listen(child: ChildProcessWithoutNullStreams) {
  let stdout = "";
  let stderr = "";
  child.stdin.end();
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return () => ({ stdout, stderr });
}

/** The last line of stdout, parsed. With `--json` this is the result. */
export function lastLine({ stdout }: Pick<Ended, "stdout">): Readonly<Record<string, unknown>> {
  const parsed: unknown = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
  if (typeof parsed !== "object" || parsed === null) throw new Error(`not an object: ${stdout}`);
  return Object.fromEntries(Object.entries(parsed));
}

/** The auditor's counts in the last line, for a run without fault. */
export const NOTHING_FOUND = {
  busyNodesStopped: 0,
  limitsExceeded: 0,
  nodesBeyondDemand: 0,
  messagesRejected: 0,
};
