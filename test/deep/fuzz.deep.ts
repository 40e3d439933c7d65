import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { playUntil } from "../fuzz/campaign.ts";
import { MUTANTS, playMutant } from "../fuzz/mutants.ts";

/** The number of inputs that these minutes allow. */
const MINUTES = Number(process.env["FUZZ_MINUTES"] ?? 20);
/** Other ones each time, beyond those of `npm test`. */
const FIRST_SEED = Number(process.env["FUZZ_SEED"] ?? 1000 + (Date.now() % 1_000_000) * 1000);

test(`hostile inputs at every door, for ${MINUTES} minutes`, async () => {
  process.stdout.write(`fuzz: from seed ${FIRST_SEED}, replay with FUZZ_SEED=${FIRST_SEED}\n`);
  const end = Date.now() + MINUTES * 60_000;
  const { plays, failures } = await playUntil(() => Date.now() > end, FIRST_SEED, availableParallelism());
  process.stdout.write(`fuzz: ${JSON.stringify(plays)}\n`);
  expect(failures).toEqual([]);
});

test.each(MUTANTS)("a product in which $name is found out by its seed", async (mutant) => {
  const { stdout, code } = await playMutant(mutant);
  process.stdout.write(`mutant: ${mutant.name}: ${stdout.split("\n")[0]?.slice(0, 200)}\n`);
  expect(stdout).toMatch(mutant.shows);
  expect(code).toBe(1);
});
