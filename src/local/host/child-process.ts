/**
 * Child processes that end with their parent. The parent holds the child's stdin open. When the parent ends for any reason, the system
 * closes that pipe and the child stops. The child writes one JSON line to stdout when it is ready.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { z } from "zod";

/** A started child process. `ready` is the content of its ready line. */
export type Child<Ready> = {
  readonly ready: Ready;
  readonly pid: number;
  /** Resolves to the exit code, or to the signal's name, when the process has ended. */
  readonly exited: Promise<number | string>;
  /** Lets the child finish its work and end, and resolves like `exited`. Kills it if it has not ended after 15 real seconds. */
  stop(): Promise<number | string>;
  /** Kills it at once, like a crash. */
  kill(): Promise<number | string>;
};

type ChildOptions<Schema extends z.ZodType> = {
  readonly script: string;
  /** The Node that runs it. Absent: this process's own. */
  readonly node?: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly readyLine: Schema;
  /** Called with every other line that the child writes to stdout or stderr. Absent: its stderr goes to this process's stderr. */
  readonly onLine?: (line: string) => void;
};

/** Time limits for stopping, in real milliseconds: first the child ends itself, and then its parent kills it. */
const childPatience = 10_000;
const parentPatience = 15_000;

/** Starts a Node script and resolves when it has printed its ready line. Rejects with its output if it ends before that. */
export async function spawnChild<Schema extends z.ZodType>(
  options: ChildOptions<Schema>,
): Promise<Child<z.output<Schema>>> {
  const child = spawn(options.node ?? process.execPath, [options.script, ...options.args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, ...options.env },
  });
  const said: string[] = [];
  const hear = (line: string) => {
    if (said.length < 50) said.push(line);
    options.onLine?.(line);
  };
  createInterface({ input: child.stderr }).on("line", (line) => {
    hear(line);
    if (options.onLine === undefined) process.stderr.write(`${line}\n`);
  });
  const exited = new Promise<number | string>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  // The child may have ended before its stdin is closed.
  child.stdin.on("error", () => undefined);
  const ready = await new Promise<z.output<Schema>>((resolve, reject) => {
    child.once("error", reject);
    let waiting = true;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const parsed = waiting ? options.readyLine.safeParse(jsonOrUndefined(line)) : undefined;
      if (parsed?.success !== true) return hear(line);
      waiting = false;
      resolve(parsed.data);
    });
    void exited.then((how) => {
      reject(new Error(`${options.script} ended (${how}) before it was ready:\n${said.join("\n")}`));
    });
  });
  const stop = async () => {
    child.stdin.end();
    const killer = setTimeout(() => child.kill("SIGKILL"), parentPatience);
    return exited.finally(() => clearTimeout(killer));
  };
  const kill = () => {
    child.kill("SIGKILL");
    return exited;
  };
  return { ready, pid: child.pid ?? 0, exited, stop, kill };
}

/**
 * For the child: calls `stop` once, when stdin closes or SIGTERM arrives, and then ends the process. Ctrl-C reaches every process of a
 * terminal at once. The child ignores SIGINT, so that the parent decides the order of stopping.
 */
export function liveWithParent(stop: () => Promise<unknown>): void {
  let stopping = false;
  const end = () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), childPatience).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`stopping failed: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", () => undefined);
  process.stdin.on("end", end).on("close", end).on("error", end);
  process.stdin.resume();
}

function jsonOrUndefined(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
