import { parseArgs } from "node:util";

export const USAGE = `Plays an HPC workload against the whole autoscaler on this machine, and audits what it does.

  npm start -- [options]

  --jobs N            jobs to play (default 200; of a trace: its first N, default all)
  --seed N            seed of workload and simulator (default 1)
  --speed X           simulated seconds in a real one (default 60)
  --trace FILE        a recorded workload in Standard Workload Format, plain or .gz
  --cores-per-node N  processors of one node (default 16; of a trace: 1)
  --virtual           the same use cases on a virtual clock, all in memory: weeks in minutes
  --serve             no workload: print URLs, keys and the connection string, run until Ctrl-C
  --json              last line: one JSON object with all figures
  --verbose           the function app's log on stderr
  --help              this text

Exit code 0: every job ran and the audit found nothing; 1: not so; 2: the arguments make no sense.
`;

export interface Arguments {
  readonly jobs?: number;
  readonly seed: number;
  readonly speed: number;
  readonly trace?: string;
  readonly coresPerNode?: number;
  readonly virtual: boolean;
  readonly serve: boolean;
  readonly json: boolean;
  readonly verbose: boolean;
}

export type ArgumentsRead =
  | { readonly kind: "arguments"; readonly arguments: Arguments }
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly problems: readonly string[] };

export function readArguments(argv: readonly string[]): ArgumentsRead {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        jobs: { type: "string" },
        seed: { type: "string" },
        speed: { type: "string" },
        trace: { type: "string" },
        "cores-per-node": { type: "string" },
        virtual: { type: "boolean", default: false },
        serve: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        verbose: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return { kind: "help" };
    const problems: string[] = [];
    const jobs = count("--jobs", values.jobs, problems);
    const coresPerNode = count("--cores-per-node", values["cores-per-node"], problems);
    const seed = count("--seed", values.seed, problems) ?? 1;
    const speed = positive("--speed", values.speed, problems) ?? 60;
    if (values.serve && values.virtual) problems.push("--serve: found with --virtual, expected one of them");
    if (problems.length > 0) return { kind: "wrong", problems };
    return {
      kind: "arguments",
      arguments: {
        seed,
        speed,
        virtual: values.virtual,
        serve: values.serve,
        json: values.json,
        verbose: values.verbose,
        ...(jobs === undefined ? {} : { jobs }),
        ...(coresPerNode === undefined ? {} : { coresPerNode }),
        ...(values.trace === undefined ? {} : { trace: values.trace }),
      },
    };
  } catch (error) {
    return { kind: "wrong", problems: [error instanceof Error ? error.message : String(error)] };
  }
}

function count(name: string, text: string | undefined, problems: string[]): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  problems.push(`${name}: found "${text}", expected a whole number above 0`);
  return undefined;
}

function positive(name: string, text: string | undefined, problems: string[]): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0 && value <= 1000) return value;
  problems.push(`${name}: found "${text}", expected a number above 0, at most 1000`);
  return undefined;
}
