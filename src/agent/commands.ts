import { execFile } from "node:child_process";
import type { Bytes, Milliseconds } from "../domain/units.ts";

/** How a command ended. What it said is known only if it ended well. */
type CommandEnd =
  | { readonly kind: "said"; readonly text: string }
  /** It could not be started, failed, took too long, or said too much. */
  | { readonly kind: "failed"; readonly why: string };

/** Runs one command of the scheduler. Never rejects. */
export type RunCommand = (program: string, words: readonly string[]) => Promise<CommandEnd>;

/** A controller that is busy answers within seconds; one that hangs must not hang the agent. */
const LIMIT_MS: Milliseconds = 10_000;
/** 20,000 nodes of 1 KB are 20 MB. */
const MOST_BYTES: Bytes = 64 * 1024 * 1024;
const SHOWN = 200;

/**
 * Runs commands with a time limit and bounded output, and with the environment of this process but for variables that change what Slurm's commands
 * list (SQUEUE_STATES and the like).
 */
export function openCommands(environment: Readonly<Record<string, string | undefined>>): RunCommand {
  const kept = Object.entries(environment).filter(
    ([name]) =>
      !/^(?:SQUEUE|SINFO|SCONTROL)_/.test(name) && !(name.startsWith("SLURM_") && name !== "SLURM_CONF"),
  );
  const env = { ...Object.fromEntries(kept), LC_ALL: "C" };
  return (program, words) =>
    new Promise((resolve) => {
      execFile(
        program,
        [...words],
        { env, timeout: LIMIT_MS, killSignal: "SIGKILL", maxBuffer: MOST_BYTES },
        (error, text, complaint) => {
          if (error === null) return resolve({ kind: "said", text });
          resolve({
            kind: "failed",
            why: `${program} ${words.slice(0, 2).join(" ")}: ${whyFailed(error, complaint)}`,
          });
        },
      ).stdin?.end();
    });
}

function whyFailed(error: { readonly code?: unknown; readonly killed?: boolean }, complaint: string): string {
  if (error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER")
    return `more than ${MOST_BYTES / 1024 / 1024} MiB of output`;
  if (error.killed === true) return `no end within ${LIMIT_MS / 1000} s`;
  if (error.code === "ENOENT") return "not found";
  const line = complaint.trim().split("\n", 1).join("").slice(0, SHOWN);
  return line === "" ? `exit code ${String(error.code)}` : line;
}
