import { parseArgs } from "node:util";

export const usage = `CycleCloud simulator

  npm run simulator -- [options]

  --port N          port to listen on (default 8080; 0 = any free port)
  --host NAME       address to listen on (default 127.0.0.1)
  --speed X         simulated seconds per real second (default 60)
  --config FILE     JSON file with the clusters and their behaviour (default: cluster "demo")
  --seed N          another seed gives other ids, times and failures (default 1)
  --username NAME   the only user (default cc_admin)
  --password TEXT   the user's password (default Simulated-1)
  --help            this text
`;

export type Arguments = {
  readonly port: number;
  readonly host: string;
  readonly speed: number;
  readonly config: string | undefined;
  readonly seed: number | undefined;
  readonly username: string;
  readonly password: string;
};

type ParsedArguments =
  | { readonly kind: "run"; readonly args: Arguments }
  | { readonly kind: "help" }
  | { readonly kind: "invalid"; readonly problem: string };

/** Reads the command line. Reports the first problem, with the found and the expected value. */
export function readArguments(argv: readonly string[]): ParsedArguments {
  const split = splitArguments(argv);
  if (typeof split === "string") return { kind: "invalid", problem: split };
  if (split.help === true) return { kind: "help" };
  const port = Number(split.port ?? "8080");
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    return {
      kind: "invalid",
      problem: `--port: found "${split.port}", expected a whole number from 0 to 65535`,
    };
  }
  const speed = Number(split.speed ?? "60");
  if (!Number.isFinite(speed) || speed <= 0) {
    return { kind: "invalid", problem: `--speed: found "${split.speed}", expected a number above 0` };
  }
  const seed = split.seed === undefined ? undefined : Number(split.seed);
  if (seed !== undefined && !Number.isInteger(seed)) {
    return { kind: "invalid", problem: `--seed: found "${split.seed}", expected a whole number` };
  }
  const { host = "127.0.0.1", config, username = "cc_admin", password = "Simulated-1" } = split;
  return { kind: "run", args: { port, host, speed, config, seed, username, password } };
}

type SplitArguments = {
  readonly port?: string;
  readonly host?: string;
  readonly speed?: string;
  readonly config?: string;
  readonly seed?: string;
  readonly username?: string;
  readonly password?: string;
  readonly help?: boolean;
};

function splitArguments(argv: readonly string[]): SplitArguments | string {
  const text = { type: "string" } as const;
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        port: text,
        host: text,
        speed: text,
        config: text,
        seed: text,
        username: text,
        password: text,
        help: { type: "boolean" },
      },
    });
    return values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
