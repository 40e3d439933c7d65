import { expect, test } from "vitest";
import { MUTANTS } from "../simulation/mutants.ts";
import { playedIn, playMutant } from "../simulation/play-mutant.ts";
import { playSeeds } from "../simulation/report.ts";
import { simulate } from "../simulation/simulate.ts";
import { KEPT_MUTANTS } from "../simulation/mutants-kept.ts";
import { NAMED_MUTANTS } from "../simulation/mutants-named.ts";
import { runTestInCopy } from "../support/product-copy.ts";
import { DEALLOCATING, REPORTS_APART, SWITCHED_OFF } from "../simulation/weather.ts";

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

/** In storms of six hours: 60 days. About half an hour on one core. */
const STORMS = { count: 240, hours: 6 };

test(`P8: so it does in 60 days in which nodes are deallocated and started again, with restarts refused`, async () => {
  // Processes die less often than in a storm of minutes: after two deaths during plans no node ends for ten minutes.
  const weather = { ...DEALLOCATING, crash: 0.002, stormSeconds: STORMS.hours * 3600 };
  const { faults, did } = await playSeeds(1, STORMS.count, { weather });
  process.stdout.write(`simulation, deallocated: ${STORMS.count} seeds, ${JSON.stringify(did)}\n`);
  expect(faults).toEqual([]);
  expect(did.endedForQuota).toBeGreaterThan(STORMS.count);
  expect(did.keptEnded).toBeGreaterThan(2 * did.endedForQuota);
});

test.each([...KEPT_MUTANTS, ...NAMED_MUTANTS])(
  "$name: a scene finds it",
  async ({ name, edits, file, scene }) => {
    const failed = await runTestInCopy(edits, file);
    process.stdout.write(`mutant: ${name}: ${failed.length} failed: ${failed[0] ?? "none"}\n`);
    expect(failed.filter((title) => title.includes(scene))).not.toEqual([]);
  },
);

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
