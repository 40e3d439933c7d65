import { runCommandLine } from "../../src/cli/command-line.ts";
import type { Terminal } from "../../src/cli/terminal.ts";

const SLEEP_MS = 50;

/** What a command line has printed, and how it ends. */
export interface CommandEnd {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What commands of this test process keep from run to run. */
const KEPT = new Map<string, string>();

/** Files that a command may read, by name; "-" is standard input. What is not here does not exist. */
export type Files = Readonly<Record<string, unknown>>;

/** Runs a command line in this process. A file that is an error cannot be read; one that is no text is read as the JSON of what it is. */
export async function runCommand(
  words: readonly string[],
  files: Files = {},
  terminal: Partial<Terminal> = {},
): Promise<CommandEnd> {
  const out: string[] = [];
  const err: string[] = [];
  // What is slept through is a moment for the test, and counts as slept for the command.
  let slept = 0;
  const code = await runCommandLine(words, {
    say: (line) => out.push(line),
    complain: (line) => err.push(line),
    clear: () => out.push("\u001B[H\u001B[J"),
    read: (name) => {
      const file = files[name];
      if (file === undefined) return Promise.reject(new Error("no such file"));
      if (file instanceof Error) return Promise.reject(file);
      return Promise.resolve(typeof file === "string" ? file : JSON.stringify(file));
    },
    now: () => Date.now() + slept,
    sleep: async (milliseconds) => {
      slept += milliseconds;
      await new Promise((resolve) => setTimeout(resolve, SLEEP_MS));
      return true;
    },
    alone: async (name, work) =>
      work(KEPT.get(name), async (text) => {
        if (text === undefined) KEPT.delete(name);
        else KEPT.set(name, text);
      }),
    signIn: () => Promise.reject(new Error("nobody is signed in")),
    open: () => Promise.reject(new Error("no browser can be opened here: there is none in tests")),
    columns: undefined,
    rows: undefined,
    environment: process.env,
    release: "1.2.3",
    ...terminal,
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}
