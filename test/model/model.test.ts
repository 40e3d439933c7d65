import { describe, expect, test } from "vitest";
import { azuriteForThisFile } from "../support/azurite.ts";
import { readArguments } from "./arguments.ts";
import { play } from "./play.ts";
import { playSeeds, sequenceOf, shrink } from "./search.ts";
import { inMemory, inTable } from "./stores.ts";

/** About half a second each on one core; test/deep/model.deep.ts and `npm run simulate:model` play more. */
const SEQUENCES = 3;
const STEPS = 100;
const azurite = azuriteForThisFile();

test(`app and model agree in ${SEQUENCES} sequences of ${STEPS} steps`, { timeout: 180_000 }, async () => {
  const { differences, compared, named, answers, stops } = await playSeeds(
    SEQUENCES,
    STEPS,
    async () => inMemory,
  );
  expect(differences).toEqual([]);
  // Plans that are not compared cannot differ.
  expect(compared).toBeGreaterThan(250);
  expect(named).toBeGreaterThan(4);
  expect(answers).toBeGreaterThan(220);
  expect(stops).toBeGreaterThan(40);
});

test("a seed plays the same again, on whatever store, and they agree on Table Storage, too", async () => {
  const sequence = sequenceOf(4, 20);
  const played = await play(sequence, inMemory);
  expect(sequence).toEqual(sequenceOf(4, 20));
  expect(await play(sequence, inMemory)).toEqual(played);
  expect(await play(sequence, await inTable(azurite.account(), azurite.freshName()))).toEqual(played);
  expect(played.differences).toEqual([]);
  expect(played.compared).toBeGreaterThan(15);
});

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
