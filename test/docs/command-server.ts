import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import packageJson from "../../package.json" with { type: "json" };
import { alone } from "../../src/cli/alone.ts";
import { runCommandLine } from "../../src/cli/command-line.ts";
import type { Environment } from "../../src/cli/environment.ts";
import { signIn } from "../../src/cli/sign-in.ts";

/** A command of a shell: what a process of it would get. */
export interface Asked {
  readonly words: readonly string[];
  readonly folder: string;
  readonly environment: Environment;
  readonly input: string;
}

/** What the command has said, in order: on 1, standard output, or 2, standard error. */
export interface Told {
  readonly code: number;
  readonly said: readonly (readonly [stream: 1 | 2, line: string])[];
}

export interface CommandServer {
  /** A function of bash, in place of the command: each call costs a tenth of a process that loads the command. */
  readonly shellLine: string;
  close(): void;
}

/** Runs command lines of other processes in this one, one at a time. `folder`: where its socket may be. */
export async function serveCommands(folder: string): Promise<CommandServer> {
  const server = createServer({ allowHalfOpen: true }, (connection) => void answer(connection));
  const socket = join(folder, "commands");
  await new Promise<void>((done) => server.listen(socket, done));
  const script = fileURLToPath(new URL("ask-command.ts", import.meta.url));
  return {
    shellLine: `cyclecloud-autoscaler() { '${process.execPath}' '${script}' '${socket}' "$@"; }`,
    close: () => server.close(),
  };
}

/** The library for command lines reads the variables of options from the process's own environment: it is the asker's while a command runs. */
async function answer(connection: Socket): Promise<void> {
  const asked: Asked = JSON.parse(await text(connection));
  const own = process.env;
  process.env = { ...asked.environment };
  try {
    connection.end(JSON.stringify(await run(asked)));
  } finally {
    process.env = own;
  }
}

async function run({ words, folder, environment, input }: Asked): Promise<Told> {
  const said: [1 | 2, string][] = [];
  const code = await runCommandLine(words, {
    say: (line) => said.push([1, line]),
    complain: (line) => said.push([2, line]),
    clear: () => undefined,
    read: (file) => (file === "-" ? Promise.resolve(input) : readFile(resolve(folder, file), "utf8")),
    now: () => Date.now(),
    sleep: (milliseconds) => pause(milliseconds, true),
    alone,
    signIn,
    columns: undefined,
    environment,
    release: packageJson.version,
  });
  return { code, said };
}
