import type { Edit, Ended } from "../support/product-copy.ts";
import { runInCopy } from "../support/product-copy.ts";
import type { Door } from "./input.ts";

/** The product without one of the checks at its doors, as replacements in its text. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The seed that finds it. */
  readonly door: Door;
  readonly seed: number;
  /** What the fault is called. */
  readonly shows: RegExp;
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: "problems show values whole",
    edits: [
      {
        file: "src/wire/json/problem.ts",
        find: "const LONGEST_EXCERPT = 80;",
        put: "const LONGEST_EXCERPT = 80_000;",
      },
    ],
    door: "constraint",
    seed: 8,
    shows: /refusal/,
  },
  {
    name: "a message that cannot be read is dropped",
    edits: [{ file: "src/app/demand/put-aside.ts", find: "  await queue.reject(message);\n", put: "" }],
    door: "message",
    seed: 2,
    shows: /vanished/,
  },
  {
    name: "a dry run names all of its problems",
    edits: [
      {
        file: "functions/plan.ts",
        find: "badRequest(boundProblems(trial.problems))",
        put: "badRequest(trial.problems)",
      },
    ],
    door: "plan",
    seed: 32,
    shows: /refusal/,
  },
  {
    name: "a problem of the settings is thrown as it is",
    edits: [
      {
        file: "src/config/clusters.ts",
        find: '  if (read.kind === "problems") {\n    problems.push(',
        put: '  if (read.kind === "problems") {\n    throw new Error("settings");\n    problems.push(',
      },
    ],
    door: "settings",
    seed: 3,
    shows: /settings throw/,
  },
  {
    name: "levels of nesting have no bound",
    edits: [
      {
        file: "src/wire/json/check-size.ts",
        find: "levels.length + levelsAbove === BOUNDS.levels",
        put: "levels.length + levelsAbove === 100_000",
      },
    ],
    door: "bound",
    seed: 21,
    shows: /beyond a bound \(put: levels\)/,
  },
  {
    name: "entries of nodearrays are not counted",
    edits: [
      {
        file: "src/wire/message/read-update.ts",
        find: 'itemsOf(message, "nodearrays", BOUNDS.nodearrays,',
        put: 'itemsOf(message, "nodearrays", BOUNDS.jobs,',
      },
    ],
    door: "bound",
    seed: 1,
    shows: /beyond a bound \(put: nodearrays\)/,
  },
  {
    name: "sizes are as long as any text",
    edits: [
      {
        file: "src/domain/size.ts",
        find: "if (text.length > LONGEST_SIZE) return",
        put: "if (text.length < 0) return",
      },
      {
        file: "src/domain/size.ts",
        find: "while (end > 0 && LETTER.test(own.charAt(end - 1))) end -= 1;",
        put: "end = /[A-Za-z]*$/.exec(own)?.index ?? 0;",
      },
    ],
    door: "long",
    seed: 10,
    shows: /slow \(PUT clusters\)/,
  },
  {
    name: "an input as large as a bound allows is refused",
    edits: [
      {
        file: "src/wire/message/job-amount.ts",
        find: "slots > BOUNDS.count",
        put: "slots >= BOUNDS.count",
      },
    ],
    door: "bound",
    seed: 8,
    shows: /refused within all bounds \(put\)/,
  },
];

/** Plays the mutant's seed in a copy of the product. */
export function playMutant({ edits, door, seed }: Mutant): Promise<Ended> {
  const folders = ["fuzz", "support", "simulation", "first-tries", "scenarios"];
  return runInCopy(edits, folders, "test/fuzz/main.ts", [door, String(seed)]);
}
