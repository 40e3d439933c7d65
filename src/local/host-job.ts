import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { clockTime, instant } from "../domain/units.ts";
import { createKeys } from "./host/host-keys.ts";
import { spawnHost } from "./host/spawn-host.ts";
import { heedInterrupts, untilAborted } from "./interruption.ts";
import { keepRunning } from "./keep-running.ts";
import type { JobOutput } from "./play/progress.ts";
import { arePortsFree } from "./ports.ts";
import { prepareStorage } from "./prepare-storage.ts";
import type { LocalSettings } from "./read-settings.ts";
import { readSettings, settingsProblemText } from "./read-settings.ts";
import { HOST_JSON, SOURCE_APP } from "./system.ts";

/** The function app alone, against a storage emulator and a CycleCloud that run elsewhere: `npm run host` (docs/developing.md, The parts alone). */

const USAGE = `Runs only the function app, until Ctrl-C. It creates and stops nodes, as in Azure (docs/developing.md, The parts alone).

  npm run host -- --settings FILE [--port N] [--key TEXT] [--verbose]

  --settings FILE   app settings in the form of infra/local.settings.sample.json; AzureWebJobsStorage must be a storage emulator
  --port N          port to listen on at 127.0.0.1 (default 7071)
  --key TEXT        function key (default: a random one at each start)
  --verbose         writes its log to stderr
  --help            prints this text
`;

const OPTIONS = {
  settings: { type: "string" },
  port: { type: "string" },
  key: { type: "string" },
  verbose: { type: "boolean" },
  help: { type: "boolean" },
} as const;

interface HostArguments {
  readonly settings: string;
  readonly port: number;
  readonly key?: string;
  readonly verbose: boolean;
}

type HostOutput = Pick<JobOutput, "say" | "complain">;

/** What `npm run host` does with these arguments. Returns the exit code: 2 for arguments or settings that make no sense. */
export async function runHostJob(argv: readonly string[], output: HostOutput): Promise<number> {
  const { say, complain } = output;
  const parsed = readHostArguments(argv);
  if (parsed.kind === "help") {
    say(USAGE);
    return 0;
  }
  if (parsed.kind === "wrong") {
    complain(`${parsed.problem}\n\n${USAGE}`);
    return 2;
  }
  const args = parsed.arguments;
  const read = readSettings(args.settings, "named");
  if (read.kind === "problems") {
    for (const problem of read.problems) complain(`${args.settings}: ${settingsProblemText(problem)}`);
    return 2;
  }
  if (!(await arePortsFree([args.port], "a free port"))) return 2;
  await runHost(args, read.settings, output);
  return 0;
}

/** Runs the host until Ctrl-C. */
async function runHost(
  { key, port, verbose }: HostArguments,
  { values, storage, localClock = { origin: Date.now(), speed: 1 } }: LocalSettings,
  { say, complain }: HostOutput,
): Promise<void> {
  const random = createKeys();
  const keys = key === undefined ? random : { ...random, host: key };
  const options = {
    app: SOURCE_APP,
    hostJson: await contentOf(HOST_JSON),
    settings: values,
    ...localClock,
    keys,
    port,
    connectionString: storage,
  };
  const interruption = heedInterrupts();
  say(`function app         http://127.0.0.1:${port}/api/health`);
  say(`function key         ${keys.host}    (header x-functions-key)`);
  say(`master key           ${keys.master}`);
  say("Starting. A line below says when it runs. Ctrl-C stops it.");
  const kept = keepRunning({
    name: "the function app",
    start: async () => {
      await prepareStorage(values);
      return spawnHost(options, verbose ? complain : () => undefined);
    },
    say: (line) => say(`${clockTime(instant(Date.now()))} ${line}`),
  });
  await untilAborted(interruption.signal);
  await kept.stop();
  interruption.forget();
  say("stopped; nothing is left running");
}

type ArgumentsRead =
  | { readonly kind: "arguments"; readonly arguments: HostArguments }
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly problem: string };

const wrong = (problem: string): ArgumentsRead => ({ kind: "wrong", problem });

function readHostArguments(argv: readonly string[]): ArgumentsRead {
  const { values, problem } = parse(argv);
  if (values === undefined) return wrong(problem);
  const { settings, port: portText = "7071", key, verbose = false, help } = values;
  if (help === true) return { kind: "help" };
  if (settings === undefined)
    return wrong("--settings: found nothing, expected the path of a local.settings.json");
  const port = Number(portText);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    return wrong(`--port: found "${portText}", expected a whole number from 1 to 65535`);
  if (key === "") return wrong("--key: found an empty text, expected a key");
  return { kind: "arguments", arguments: { settings, port, verbose, ...(key === undefined ? {} : { key }) } };
}

function parse(argv: readonly string[]) {
  try {
    return { values: parseArgs({ args: [...argv], options: OPTIONS }).values };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

async function contentOf(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, "utf8"));
}
