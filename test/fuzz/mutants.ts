import type { Edit, Ended } from "../support/product-copy.ts";
import { runInCopy } from "../support/product-copy.ts";
import type { Door } from "./input.ts";

/** The product without one of the checks at its doors, as replacements in its text. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** Where the sample of `npm test` finds it, and by which seed at the latest. */
  readonly door: Door;
  readonly seed: number;
  /** What the fault is called. */
  readonly shows: RegExp;
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: "nesting has no bound",
    edits: [
      {
        file: "src/wire/check-size.ts",
        find: "if (levels.length + levelsAbove === BOUNDS.levels)",
        put: "if (levels.length < 0)",
      },
    ],
    door: "put",
    seed: 25,
    shows: /^put \d+: /,
  },
  {
    name: "problems show values whole",
    edits: [
      {
        file: "src/wire/problem.ts",
        find: "const LONGEST_EXCERPT = 80;",
        put: "const LONGEST_EXCERPT = 80_000;",
      },
    ],
    door: "put",
    seed: 25,
    shows: /refusal/,
  },
  {
    name: "a message that cannot be read is dropped",
    edits: [{ file: "src/app/put-aside.ts", find: "  await queue.reject(message);\n", put: "" }],
    door: "message",
    seed: 25,
    shows: /vanished/,
  },
  {
    name: "counts have no bound",
    edits: [
      {
        file: "src/wire/fields.ts",
        find: 'const tooMany = typeof value === "number" && value > BOUNDS.count;',
        put: "const tooMany = false;",
      },
    ],
    door: "put",
    seed: 25,
    shows: /^put/,
  },
  {
    name: "a problem of the settings is thrown as it is",
    edits: [
      {
        file: "src/config.ts",
        find: '  if (read.kind === "problems") {\n    problems.push(',
        put: '  if (read.kind === "problems") {\n    throw new Error("settings");\n    problems.push(',
      },
    ],
    door: "settings",
    seed: 25,
    shows: /settings throw/,
  },
];

/** Plays the sample's seeds of the mutant's door in a copy of the product. */
export function playMutant({ edits, door, seed }: Mutant): Promise<Ended> {
  const folders = ["fuzz", "support", "simulation", "first-tries", "scenarios"];
  return runInCopy(edits, folders, "test/fuzz/main.ts", [door, "1", String(seed)]);
}
