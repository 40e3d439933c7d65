import { expect, test } from "vitest";
import { MUTANTS } from "../simulation/mutants.ts";
import { playedIn, playMutant } from "../simulation/play-mutant.ts";
import { playSeeds } from "../simulation/report.ts";
import { simulate } from "../simulation/simulate.ts";
import { REPORTS_APART, SWITCHED_OFF } from "../simulation/weather.ts";

/** About 8 minutes on one core; the mutants take as long again. */
const SEEDS = 20_000;
const FEW_SEEDS = 200;

test(`P8: the whole protocol keeps its promises in ${SEEDS} storms`, async () => {
  const { faults, did } = await playSeeds(1, SEEDS);
  process.stdout.write(`simulation: ${SEEDS} seeds, ${JSON.stringify(did)}\n`);
  expect(faults).toEqual([]);
});

test.each([
  { name: "somebody switches nodes off, and they are started again", weather: SWITCHED_OFF },
  { name: "reports come in messages of their own", weather: REPORTS_APART },
])(`P8: so it does where $name, in ${FEW_SEEDS} storms`, async ({ name, weather }) => {
  const { faults, did } = await playSeeds(1, FEW_SEEDS, { weather });
  process.stdout.write(`simulation, ${name}: ${FEW_SEEDS} seeds, ${JSON.stringify(did)}\n`);
  expect(faults).toEqual([]);
});

const counted = MUTANTS.filter(({ moves }) => moves !== "statusReads");

test.each(counted)("a product in which $name is found out: $moves", async (mutant) => {
  const { seed, totals } = await playMutant(mutant);
  process.stdout.write(`mutant: ${mutant.name}: ${mutant.moves} ${totals[mutant.moves]} at seed ${seed}\n`);
  expect(totals[mutant.moves]).toBeGreaterThan(0);
  const { verdict } = await simulate(seed, playedIn(mutant));
  expect(verdict[mutant.moves]).toBe(0);
});

test.each(MUTANTS.filter(({ moves }) => moves === "statusReads"))(
  "a product in which $name asks for the status half as often again and more",
  async (mutant) => {
    const { totals } = await playMutant(mutant);
    let usual = 0;
    const last = typeof mutant.seeds === "number" ? mutant.seeds : 0;
    for (let seed = 1; seed <= last; seed += 1) usual += (await simulate(seed)).verdict.statusReads;
    process.stdout.write(`mutant: ${mutant.name}: ${totals["statusReads"]} status reads, usually ${usual}\n`);
    expect((totals["statusReads"] ?? 0) / usual).toBeGreaterThan(1.5);
  },
);
