import { parseArgs } from "node:util";

const OPTIONS = {
  jobs: { type: "string" },
  seed: { type: "string" },
  speed: { type: "string" },
  trace: { type: "string" },
  "cores-per-node": { type: "string" },
  virtual: { type: "boolean" },
  serve: { type: "boolean" },
  stay: { type: "boolean" },
  port: { type: "string" },
  settings: { type: "string" },
  act: { type: "boolean" },
  json: { type: "boolean" },
  verbose: { type: "boolean" },
  help: { type: "boolean" },
} as const;

const MOST_SPEED = 1000;
/** Four ports in a row are used. */
const LAST_FIRST_PORT = 65_532;

export const USAGE = `Runs HPC workloads against the whole autoscaler on this machine, and audits the runs.

  npm start           a day of 64 nodes on a virtual clock, then 40 jobs on 16 nodes against the real parts: about a minute
  npm start -- [options]

  --stay              afterwards everything stays up until Ctrl-C, with a second workload of an hour
  --jobs N            one workload of N jobs against the real parts (with --virtual: default 200; of a trace: its first N, default all)
  --seed N            seed of workload and simulator (default 1)
  --speed X           simulated seconds per real second (default 60, at most 1000)
  --trace FILE        a recorded workload in Standard Workload Format, plain or .gz
  --cores-per-node N  processors of one node (default 16; of a trace: 1)
  --virtual           the same use cases on a virtual clock, all in memory: simulates weeks in minutes
  --serve             no workload: prints URLs, keys and variables for the shell, and runs until Ctrl-C (docs/quickstart.md)
  --port N            with --serve: app at N, simulator at N+1, storage emulator at N+2 and N+3 (default: free ports)
  --settings FILE     with --serve: uses the clusters of a local.settings.json instead of the simulator, and changes nothing there
  --act               with --settings: creates and stops nodes there; it stops only nodes that this app has created
  --json              prints all figures as one JSON object on the last line
  --verbose           writes the function app's log to stderr, and what only its authors need
  --help              prints this text

Exit code 0: every job ran, the audit found no violation, and node-hours of --virtual are within their bound; 1: otherwise; 2: the arguments are invalid; 130: ended by Ctrl-C.
`;

export interface Arguments {
  readonly jobs?: number;
  readonly seed: number;
  readonly speed: number;
  readonly trace?: string;
  readonly coresPerNode?: number;
  readonly virtual: boolean;
  readonly serve: boolean;
  readonly stay: boolean;
  /** The first of four ports. */
  readonly port?: number;
  readonly settings?: string;
  readonly act: boolean;
  readonly json: boolean;
  readonly verbose: boolean;
}

type ArgumentsRead =
  | { readonly kind: "arguments"; readonly arguments: Arguments }
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly problems: readonly string[] };

/** Reads the command line. Reports every problem, with the found and the expected value. */
export function readArguments(argv: readonly string[]): ArgumentsRead {
  // Parsed leniently, because the strict parser stops at the first problem. The checks are here.
  const { values, tokens } = parseArgs({
    args: [...argv],
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  if (values.help === true) return { kind: "help" };
  const problems = tokens.flatMap((token) => problemOf(token) ?? []);
  const text = (name: keyof typeof values) => {
    const value = values[name];
    return typeof value === "string" ? value : undefined;
  };
  const jobs = wholeNumber("--jobs", text("jobs"), 1, problems);
  const coresPerNode = wholeNumber("--cores-per-node", text("cores-per-node"), 1, problems);
  const port = readPort(text("port"), problems);
  const [trace, settings] = [text("trace"), text("settings")];
  const read: Arguments = {
    seed: wholeNumber("--seed", text("seed"), 0, problems) ?? 1,
    speed: readSpeed(text("speed"), problems) ?? 60,
    virtual: values.virtual === true,
    serve: values.serve === true,
    stay: values.stay === true,
    act: values.act === true,
    json: values.json === true,
    verbose: values.verbose === true,
    ...(port === undefined ? {} : { port }),
    ...(settings === undefined ? {} : { settings }),
    ...(jobs === undefined ? {} : { jobs }),
    ...(coresPerNode === undefined ? {} : { coresPerNode }),
    ...(trace === undefined ? {} : { trace }),
  };
  problems.push(...findConflicts(values));
  return problems.length > 0 ? { kind: "wrong", problems } : { kind: "arguments", arguments: read };
}

/** Options that make sense only together, or only alone. */
function findConflicts(values: Readonly<Record<string, unknown>>): readonly string[] {
  const isGiven = (name: string): boolean => values[name] !== undefined && values[name] !== false;
  const needed = (name: string, other: string): readonly string[] =>
    isGiven(name) && !isGiven(other) ? [`--${name}: found without --${other}, expected with it`] : [];
  const excluded = (name: string, others: readonly string[], why: string): readonly string[] =>
    others
      .filter((other) => isGiven(name) && isGiven(other))
      .map((other) => `--${name}: found with --${other}, expected without: ${why}`);
  return [
    ...excluded("serve", ["virtual", "trace", "jobs", "cores-per-node"], "it plays no workload"),
    ...excluded(
      "stay",
      ["serve", "virtual", "trace", "jobs", "cores-per-node"],
      "it plays its own workloads",
    ),
    ...needed("port", "serve"),
    ...needed("settings", "serve"),
    ...needed("act", "settings"),
    ...excluded("settings", ["speed", "seed"], "a real cluster has no simulator"),
  ];
}

type Token = NonNullable<ReturnType<typeof parseArgs>["tokens"]>[number];

/** What is wrong with one word of the command line by itself. */
function problemOf(token: Token): string | undefined {
  if (token.kind === "option-terminator") return undefined;
  if (token.kind === "positional") return `found "${token.value}", expected only options`;
  const option = Object.entries(OPTIONS).find(([name]) => name === token.name)?.[1];
  const all = Object.keys(OPTIONS).map((name) => `--${name}`);
  if (option === undefined)
    return `found the unknown option ${token.rawName}, expected one of ${all.join(", ")}`;
  if (option.type === "string" && (token.value === undefined || token.value === ""))
    return `${token.rawName}: found no value, expected one after it`;
  if (option.type === "boolean" && token.value !== undefined)
    return `${token.rawName}: found the value "${token.value}", expected none`;
  return undefined;
}

function wholeNumber(
  name: string,
  text: string | undefined,
  least: number,
  problems: string[],
): number | undefined {
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  problems.push(`${name}: found "${text}", expected a whole number of at least ${least}`);
  return undefined;
}

function readPort(text: string | undefined, problems: string[]): number | undefined {
  const port = wholeNumber("--port", text, 1, problems);
  if (port !== undefined && port > LAST_FIRST_PORT)
    problems.push(`--port: found ${port}, expected at most ${LAST_FIRST_PORT}`);
  return port;
}

function readSpeed(text: string | undefined, problems: string[]): number | undefined {
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (value > 0 && value <= MOST_SPEED) return value;
  problems.push(`--speed: found "${text}", expected a number above 0, at most ${MOST_SPEED}`);
  return undefined;
}
