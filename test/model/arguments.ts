import { parseArgs } from "node:util";

export const USAGE = `Plays random sequences of what happens to a cluster through the app and through a plain model of its rules, and compares.

  npm run simulate:model -- [options]

  --sequences N   sequences to play (default 100)
  --steps N       steps of each (default 100)
  --seed N        seed of the first; the others count up from it (default 1)
  --azurite       keep the state in the storage emulator instead of in memory: the same, a hundred times slower
  --help          this text

A seed that differs is printed with the least that shows it; --sequences 1 --seed N plays it again.
Exit code 0: app and model agree; 1: they differ; 2: the arguments make no sense.
`;

export interface Arguments {
  readonly sequences: number;
  readonly steps: number;
  readonly seed: number;
  readonly azurite: boolean;
}

export type ArgumentsRead =
  | { readonly kind: "run"; readonly args: Arguments }
  | { readonly kind: "help" }
  | { readonly kind: "invalid"; readonly problem: string };

const OPTIONS = {
  sequences: { type: "string", default: "100" },
  steps: { type: "string", default: "100" },
  seed: { type: "string", default: "1" },
  azurite: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

/** Reads the command line. A problem says what was found and what was expected. */
export function readArguments(argv: readonly string[]): ArgumentsRead {
  const split = splitArguments(argv);
  if (typeof split === "string") return { kind: "invalid", problem: split };
  if (split.help) return { kind: "help" };
  const numbers = {
    sequences: Number(split.sequences),
    steps: Number(split.steps),
    seed: Number(split.seed),
  };
  for (const name of ["sequences", "steps", "seed"] as const) {
    const value = numbers[name];
    if (Number.isSafeInteger(value) && value >= 1) continue;
    return {
      kind: "invalid",
      problem: `--${name}: found "${split[name]}", expected a whole number, 1 or more`,
    };
  }
  return { kind: "run", args: { ...numbers, azurite: split.azurite } };
}

function splitArguments(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS }).values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
