import { describe, expect, test } from "vitest";
import { azuriteForThisFile } from "../support/azurite.ts";
import { readArguments } from "./arguments.ts";
import { MUTANTS, playMutant } from "./mutants.ts";
import { play } from "./play.ts";
import type { Played } from "./score.ts";
import { sequenceOf, shrink } from "./search.ts";
import { inMemory, inTable } from "./stores.ts";

/** About half a second each on one core; `npm run simulate:model` plays more. */
const SEQUENCES = 10;
const STEPS = 100;
/** On the emulator a step takes twenty times as long. */
const AZURITE_SEQUENCES = 5;
const AZURITE_STEPS = 20;

const azurite = azuriteForThisFile();

function sumOf(all: readonly Played[]) {
  const sum = (count: (one: Played) => number): number => all.reduce((total, one) => total + count(one), 0);
  return {
    differences: all.flatMap(({ differences }) => differences),
    compared: sum(({ compared }) => compared),
    answers: sum(({ answers }) => answers),
    stops: sum(({ stops }) => stops),
  };
}

test(`app and model agree in ${SEQUENCES} sequences of ${STEPS} steps`, { timeout: 180_000 }, async () => {
  const all: Played[] = [];
  for (let seed = 1; seed <= SEQUENCES; seed += 1) all.push(await play(sequenceOf(seed, STEPS), inMemory));
  const { differences, compared, answers, stops } = sumOf(all);
  expect(differences).toEqual([]);
  // Plans that are not compared cannot differ.
  expect(compared).toBeGreaterThan(700);
  expect(answers).toBeGreaterThan(600);
  expect(stops).toBeGreaterThan(100);
});

test(
  `they agree on Table Storage, too, in ${AZURITE_SEQUENCES} sequences of ${AZURITE_STEPS} steps`,
  { timeout: 180_000 },
  async () => {
    const all: Played[] = [];
    for (let seed = 1; seed <= AZURITE_SEQUENCES; seed += 1) {
      const openStore = await inTable(azurite.account(), azurite.freshName());
      all.push(await play(sequenceOf(seed, AZURITE_STEPS), openStore));
    }
    const { differences, compared, answers } = sumOf(all);
    expect(differences).toEqual([]);
    expect(compared).toBeGreaterThan(90);
    expect(answers).toBeGreaterThan(35);
  },
);

test("a seed plays the same again, on whatever store", async () => {
  const sequence = sequenceOf(4, 30);
  const played = await play(sequence, inMemory);
  expect(sequence).toEqual(sequenceOf(4, 30));
  expect(await play(sequence, inMemory)).toEqual(played);
  expect(await play(sequence, await inTable(azurite.account(), azurite.freshName()))).toEqual(played);
});

/** The mutant that is found the soonest. All are played by test/deep/model.deep.ts. */
const QUICK = ["the targets of two sets add up"];

test.each(MUTANTS.filter(({ name }) => QUICK.includes(name)))(
  "a product in which $name is found out, cut down, and found again by its seed",
  { timeout: 180_000 },
  async (mutant) => {
    const { stdout, code } = await playMutant(mutant, ["--sequences", "4"]);
    expect(code).toBe(1);
    const [, seed, difference] = /^seed (\d+): (.*)$/m.exec(stdout) ?? [];
    const [, left] = /^ {2}(\d+) steps show it: /m.exec(stdout) ?? [];
    expect(Number(left)).toBeLessThan(20);
    expect(stdout).toMatch(/^4 sequences, 400 steps, [1-4] differences$/m);
    const again = await playMutant(mutant, ["--sequences", "1", "--seed", seed ?? ""]);
    expect(again.code).toBe(1);
    expect(again.stdout).toContain(`seed ${seed}: ${difference}\n`);
  },
);

test("a sequence in which nothing differs any more is left as it was", async () => {
  const sequence = sequenceOf(4, 3);
  expect(await shrink(sequence, "it differed once", inMemory)).toEqual({
    sequence,
    difference: "it differed once",
  });
});

describe("arguments", () => {
  test.each([
    {
      name: "none",
      argv: [],
      read: { kind: "run", args: { sequences: 100, steps: 100, seed: 1, azurite: false } },
    },
    {
      name: "all",
      argv: ["--sequences", "20", "--steps", "30", "--seed", "7", "--azurite"],
      read: { kind: "run", args: { sequences: 20, steps: 30, seed: 7, azurite: true } },
    },
    { name: "help", argv: ["--help"], read: { kind: "help" } },
    {
      name: "half a step",
      argv: ["--steps", "0.5"],
      read: { kind: "invalid", problem: '--steps: found "0.5", expected a whole number, 1 or more' },
    },
    {
      name: "no sequence",
      argv: ["--sequences", "0"],
      read: { kind: "invalid", problem: '--sequences: found "0", expected a whole number, 1 or more' },
    },
  ])("$name", ({ argv, read }) => {
    expect(readArguments(argv)).toEqual(read);
  });

  test("an unknown one is named", () => {
    expect(readArguments(["--step", "3"])).toMatchObject({
      kind: "invalid",
      problem: expect.stringContaining("--step"),
    });
  });
});
