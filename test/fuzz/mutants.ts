import type { Edit } from "../support/mutate.ts";
import type { Ended } from "../support/product-copy.ts";
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
      { in: "LONGEST_EXCERPT", from: "const LONGEST_EXCERPT = 80;", to: "const LONGEST_EXCERPT = 80_000;" },
    ],
    door: "constraint",
    seed: 8,
    shows: /refusal/,
  },
  {
    name: "a message that cannot be read is dropped",
    edits: [{ in: "putAside", from: "await queue.reject(message);", to: "" }],
    door: "message",
    seed: 2,
    shows: /vanished/,
  },
  {
    name: "a dry run names all of its problems",
    edits: [
      { in: "makePlan", from: "badRequest(boundProblems(trial.problems))", to: "badRequest(trial.problems)" },
    ],
    door: "plan",
    seed: 32,
    shows: /refusal/,
  },
  {
    name: "a problem of the settings is thrown as it is",
    edits: [
      {
        in: "readClusters",
        from: 'if (read.kind === "problems") {\n    problems.push(',
        to: 'if (read.kind === "problems") {\n    throw new Error("settings");\n    problems.push(',
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
        in: "findOversizeInSlices",
        from: "levels.length + levelsAbove === BOUNDS.levels",
        to: "levels.length + levelsAbove === 100_000",
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
        in: "readDemands",
        from: 'itemsOf(message, "nodearrays", BOUNDS.nodearrays,',
        to: 'itemsOf(message, "nodearrays", BOUNDS.jobs,',
      },
    ],
    door: "bound",
    seed: 1,
    shows: /beyond a bound \(put: nodearrays\)/,
  },
  {
    name: "sizes are as long as any text",
    edits: [
      { in: "parseSize", from: "if (text.length > LONGEST_SIZE) return", to: "if (text.length < 0) return" },
      {
        in: "parseSize",
        from: "while (end > 0 && LETTER.test(own.charAt(end - 1))) end -= 1",
        to: "end = /[A-Za-z]*$/.exec(own)?.index ?? 0",
      },
    ],
    door: "long",
    seed: 10,
    shows: /slow \(PUT clusters\)/,
  },
  {
    name: "an input as large as a bound allows is refused",
    edits: [{ in: "readJobAmount", from: "slots > BOUNDS.count", to: "slots >= BOUNDS.count" }],
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
