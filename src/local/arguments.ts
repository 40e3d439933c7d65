import { parseArgs } from "node:util";

const OPTIONS = {
  jobs: { type: "string" },
  seed: { type: "string" },
  speed: { type: "string" },
  trace: { type: "string" },
  "cores-per-node": { type: "string" },
  virtual: { type: "boolean" },
  serve: { type: "boolean" },
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

export const USAGE = `Plays an HPC workload against the whole autoscaler on this machine, and audits what it does.

  npm start -- [options]

  --jobs N            jobs to play (default 200; of a trace: its first N, default all)
  --seed N            seed of workload and simulator (default 1)
  --speed X           simulated seconds in a real one (default 60, at most 1000)
  --trace FILE        a recorded workload in Standard Workload Format, plain or .gz
  --cores-per-node N  processors of one node (default 16; of a trace: 1)
  --virtual           the same use cases on a virtual clock, all in memory: weeks in minutes
  --serve             no workload: print URLs, keys and variables for the shell, run until Ctrl-C (docs/quickstart.md)
  --port N            with --serve: app at N, simulator at N+1, storage emulator at N+2 and N+3 (default: free ports)
  --settings FILE     with --serve: the clusters of a local.settings.json instead of the simulator; changes nothing there
  --act               with --settings: create and stop nodes there; only nodes that this app asked for are ever stopped
  --json              last line: one JSON object with all figures
  --verbose           the function app's log on stderr
  --help              this text

Exit code 0: every job ran and the audit found nothing; 1: not so; 2: the arguments make no sense; 130: ended by Ctrl-C.
`;

export interface Arguments {
  readonly jobs?: number;
  readonly seed: number;
  readonly speed: number;
  readonly trace?: string;
  readonly coresPerNode?: number;
  readonly virtual: boolean;
  readonly serve: boolean;
  /** The first of four ports. */
  readonly port?: number;
  readonly settings?: string;
  readonly act: boolean;
  readonly json: boolean;
  readonly verbose: boolean;
}

export type ArgumentsRead =
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
  const problems = tokens.flatMap((token) => {
    const problem = problemOf(token);
    return problem === undefined ? [] : [problem];
  });
  const text = (name: keyof typeof values) => {
    const value = values[name];
    return typeof value === "string" ? value : undefined;
  };
  const jobs = wholeNumber("--jobs", text("jobs"), 1, problems);
  const coresPerNode = wholeNumber("--cores-per-node", text("cores-per-node"), 1, problems);
  const seed = wholeNumber("--seed", text("seed"), 0, problems) ?? 1;
  const speed = readSpeed(text("speed"), problems) ?? 60;
  const trace = text("trace");
  const serve = values.serve === true;
  for (const other of ["virtual", "trace", "jobs"])
    if (serve && values[other] !== undefined)
      problems.push(`--serve: found with --${other}, expected without: it plays no workload`);
  const port = wholeNumber("--port", text("port"), 1, problems);
  if (port !== undefined && port > LAST_FIRST_PORT)
    problems.push(`--port: found ${port}, expected at most ${LAST_FIRST_PORT}`);
  const settings = text("settings");
  const act = values.act === true;
  if (port !== undefined && !serve) problems.push("--port: found without --serve, expected with it");
  if (settings !== undefined && !serve) problems.push("--settings: found without --serve, expected with it");
  if (act && settings === undefined) problems.push("--act: found without --settings, expected with it");
  for (const other of ["speed", "seed"])
    if (settings !== undefined && values[other] !== undefined)
      problems.push(`--settings: found with --${other}, expected without: a real cluster has no simulator`);
  if (problems.length > 0) return { kind: "wrong", problems };
  return {
    kind: "arguments",
    arguments: {
      seed,
      speed,
      virtual: values.virtual === true,
      serve,
      act,
      ...(port === undefined ? {} : { port }),
      ...(settings === undefined ? {} : { settings }),
      json: values.json === true,
      verbose: values.verbose === true,
      ...(jobs === undefined ? {} : { jobs }),
      ...(coresPerNode === undefined ? {} : { coresPerNode }),
      ...(trace === undefined ? {} : { trace }),
    },
  };
}

type Token = NonNullable<ReturnType<typeof parseArgs>["tokens"]>[number];

/** The problem of one word of the command line, whatever its value. */
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

function readSpeed(text: string | undefined, problems: string[]): number | undefined {
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (value > 0 && value <= MOST_SPEED) return value;
  problems.push(`--speed: found "${text}", expected a number above 0, at most ${MOST_SPEED}`);
  return undefined;
}
