import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import packageJson from "../../package.json" with { type: "json" };
import { alone } from "../../src/cli/alone.ts";
import { runCommandLine } from "../../src/cli/command-line.ts";
import type { Environment } from "../../src/cli/environment.ts";
import { signIn } from "../../src/cli/sign-in.ts";

/** A command of a shell: what a process of it would get. */
interface Asked {
  readonly folder: string;
  readonly words: readonly string[];
  readonly environment: Environment;
  readonly input: string;
}

export interface CommandServer {
  /**
   * A function of bash, in place of the command: it sends what a process would get, and runs the lines of the answer. A call costs a thirtieth
   * of a process that loads the command.
   */
  readonly shellLine: string;
  close(): void;
}

/** Runs command lines of other processes in this one, one at a time. `folder`: where its socket may be. */
export async function serveCommands(folder: string): Promise<CommandServer> {
  const server = createServer((request, response) => {
    void buffer(request).then(async (body) => response.end(await answer(readAsked(body.toString()))));
  });
  const socket = join(folder, "commands");
  await new Promise<void>((done) => server.listen(socket, done));
  const sent = `{ printf '%s\\0' "$PWD" "$#" "$@"; env -0; printf '\\0'; cat; }`;
  const curl = `curl -s --unix-socket '${socket}' --data-binary @- http://commands/`;
  return {
    shellLine: `cyclecloud-autoscaler() { eval "$(${sent} | ${curl})"; }`,
    close: () => void server.close(),
  };
}

/** The folder, the number of words, the words, the environment, nothing, and the input, each with a zero after it but the last. */
function readAsked(body: string): Asked {
  const [folder = "", count = "", ...rest] = body.split("\0");
  const words = rest.slice(0, Number(count));
  const end = rest.indexOf("", words.length);
  const environment = rest.slice(words.length, end).map((line): [string, string] => {
    const [name = ""] = line.split("=", 1);
    return [name, line.slice(name.length + 1)];
  });
  return {
    folder,
    words,
    environment: Object.fromEntries(environment),
    input: rest.slice(end + 1).join("\0"),
  };
}

/** The library for command lines reads the variables of options from the process's own environment: it is the asker's while a command runs. */
async function answer(asked: Asked): Promise<string> {
  const own = process.env;
  process.env = { ...asked.environment };
  try {
    return await run(asked);
  } finally {
    process.env = own;
  }
}

/** Lines of a shell that say what the command has said, and end as it does. */
async function run({ words, folder, environment, input }: Asked): Promise<string> {
  const said: string[] = [];
  const print = (line: string) => `printf '%s\\n' '${line.replaceAll("'", String.raw`'\''`)}'`;
  const code = await runCommandLine(words, {
    say: (line) => said.push(print(line)),
    complain: (line) => said.push(`${print(line)} >&2`),
    clear: () => undefined,
    read: (file) => (file === "-" ? Promise.resolve(input) : readFile(resolve(folder, file), "utf8")),
    now: () => Date.now(),
    sleep: (milliseconds) => pause(milliseconds, true),
    alone,
    signIn,
    open: () => Promise.reject(new Error("no browser")),
    rows: undefined,
    columns: undefined,
    environment,
    release: packageJson.version,
  });
  return [...said, `return ${code}`].join("\n");
}
