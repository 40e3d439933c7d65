import { expect, test } from "vitest";
import { MUTANTS, playMutant } from "../model/mutants.ts";
import { playSeeds } from "../model/search.ts";
import { inMemory, inTable } from "../model/stores.ts";
import { azuriteForThisFile } from "../support/azurite.ts";

const azurite = azuriteForThisFile();

test("app and model agree in 100 sequences of 100 steps, and on Table Storage in 10 of 20", async () => {
  const inMemories = await playSeeds(100, 100, async () => inMemory);
  const inTables = await playSeeds(10, 20, () => inTable(azurite.account(), azurite.freshName()));
  process.stdout.write(`model: ${JSON.stringify({ inMemories, inTables })}\n`);
  expect([...inMemories.differences, ...inTables.differences]).toEqual([]);
});

test.each(MUTANTS)(
  "a product in which $name is found out by the model, and again by its seed",
  async (mutant) => {
    const { stdout, code } = await playMutant(mutant, ["--sequences", String(mutant.sequences)]);
    const [first = ""] = stdout.split("\n");
    process.stdout.write(`mutant: ${mutant.name}: ${first.slice(0, 200)}\n`);
    expect(code).toBe(1);
    const [, seed = ""] = /^seed (\d+): /.exec(first) ?? [];
    const again = await playMutant(mutant, ["--sequences", "1", "--seed", seed]);
    expect(again.code).toBe(1);
    expect(again.stdout.split("\n")[0]).toBe(first);
  },
);

/** The mutant that is found the soonest. */
const QUICK = "the targets of two sets add up";

test.each(MUTANTS.filter(({ name }) => name === QUICK))(
  "a product in which $name is found out, cut down, and its seed is told",
  async (mutant) => {
    const { stdout, code } = await playMutant(mutant, ["--sequences", "1", "--seed", "3"]);
    expect(code).toBe(1);
    const [, seed = ""] = /^seed (\d+): /m.exec(stdout) ?? [];
    const [, left] = /^ {2}(\d+) steps show it: /m.exec(stdout) ?? [];
    expect(Number(left)).toBeLessThan(20);
    expect(stdout).toContain(`replay: npm run simulate:model -- --sequences 1 --steps 100 --seed ${seed}\n`);
    expect(stdout).toMatch(/^1 sequences, 100 steps, 1 differences$/m);
  },
);
