import { readFileSync } from "node:fs";
import type { Arguments } from "./arguments.ts";
import { readArguments, usage } from "./arguments.ts";
import { scaleClock } from "./clock.ts";
import { defaultOptions } from "./default-options.ts";
import { Simulator } from "./engine.ts";
import type { SimulatorOptions } from "./options.ts";
import { parseOptions } from "./options-file.ts";
import type { ParsedOptions } from "./options-file.ts";
import { serveSimulator } from "./server.ts";

/** The simulator alone, until Ctrl-C. Exit code 2: it cannot start, and standard error says why. */
async function main(): Promise<void> {
  const parsed = readArguments(process.argv.slice(2));
  if (parsed.kind === "help") {
    process.stdout.write(usage);
    return;
  }
  if (parsed.kind === "invalid") return complain(`${parsed.problem}\n\n${usage}`);
  const { args } = parsed;
  const read =
    args.config === undefined ? { kind: "options" as const, options: defaultOptions } : readFile(args.config);
  if (read.kind === "invalid") return complain(`--config ${args.config}: ${read.problems}\n`);
  const { options } = read;
  const seed = args.seed ?? options.seed ?? 1;
  try {
    await run({ ...options, seed }, args);
  } catch (error) {
    complain(`${error instanceof Error ? error.message : String(error)}\n`);
  }
}

async function run(options: SimulatorOptions, args: Arguments): Promise<void> {
  const started = Date.now();
  const simulator = new Simulator(options, scaleClock(args.speed, started, started));
  const { username, password, host, port } = args;
  const server = await serveSimulator(simulator, { host, port, credentials: { username, password } });
  const stop = (): void => {
    void server.close();
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  const [first] = options.clusters;
  process.stdout.write(
    [
      `CycleCloud simulator at ${server.url}, ${args.speed} times as fast as real time; Ctrl-C stops it`,
      `user ${username}, password ${password}`,
      `clusters: ${options.clusters.map((cluster) => cluster.name).join(", ")}`,
      ...(first === undefined
        ? []
        : [
            `try: curl -u '${username}:${password}' '${server.url}/clusters/${encodeURIComponent(first.name)}/status?nodes=true'`,
          ]),
      `log: ${server.url}/simulator/log   summary: ${server.url}/simulator/summary`,
      "",
    ].join("\n"),
  );
}

function readFile(path: string): ParsedOptions {
  try {
    return parseOptions(readFileSync(path, "utf8"));
  } catch (error) {
    return { kind: "invalid", problems: error instanceof Error ? error.message : String(error) };
  }
}

function complain(text: string): void {
  process.stderr.write(text);
  process.exitCode = 2;
}

await main();
