import { expect, test } from "vitest";
import { OWN_KEYS } from "../../src/wire/policy/policy.ts";
import { drawConfiguration } from "./configuration.ts";
import { faultsOf, playSeeds } from "./report.ts";
import { simulate } from "./simulate.ts";
import { DEALLOCATING, REPORTS_APART, SWITCHED_OFF } from "./weather.ts";

/** `SEED=123 npx vitest run --config test/vitest.config.ts test/simulation/simulation` replays one seed with its whole trace; see lasting.test.ts too. */
const given = process.env["SEED"];
const replayed = given === undefined || given.includes(":") ? undefined : given;

/** Those that `npm test` plays: about 0.1 s each on one core. `npm run test:deep` plays all from 1 on, and many more. */
const SEEDS = { first: 21, count: 18 };
const FEW_SEEDS = { first: 9, count: 5 };

test.skipIf(given !== undefined)(
  `P8: the whole protocol keeps its promises in ${SEEDS.count} storms of crashes, losses and delays`,
  async () => {
    const { faults, did } = await playSeeds(SEEDS.first, SEEDS.count);
    expect(faults).toEqual([]);
    expect(did.crashes).toBeGreaterThan(60);
    expect(did.nodesCreated).toBeGreaterThan(100);
    expect(did.readyNodesStopped).toBeGreaterThan(45);
  },
);

test.skipIf(given !== undefined)(
  `P8: so it does where somebody switches nodes off, and they are started again, in ${FEW_SEEDS.count} storms`,
  async () => {
    const { faults, did } = await playSeeds(FEW_SEEDS.first, FEW_SEEDS.count, { weather: SWITCHED_OFF });
    expect(faults).toEqual([]);
    expect(did.nodesStarted).toBeGreaterThan(12);
  },
);

test.skipIf(given !== undefined)(
  `P8: so it does where nodes are deallocated and started again, in ${FEW_SEEDS.count} storms`,
  async () => {
    const deallocates = { refused: 0.1, timeoutSeconds: 600 };
    const weather = { ...DEALLOCATING, deallocates, stormSeconds: 1800 };
    const { faults, did } = await playSeeds(FEW_SEEDS.first, FEW_SEEDS.count, { weather });
    expect(faults).toEqual([]);
    expect(did.nodesStarted).toBeGreaterThan(60);
    expect(did.keptEnded).toBeGreaterThan(5);
  },
);

test("every key of a configuration is drawn now and then", () => {
  const seeds = Array.from({ length: 100 }, (_, seed) => seed);
  const drawn = new Set(seeds.flatMap((seed) => Object.keys(drawConfiguration(seed, ["alpha"]))));
  expect(OWN_KEYS.filter((key) => !drawn.has(key))).toEqual([]);
});

test.skipIf(given !== undefined)(
  `P8: so it does where reports come in messages of their own, in ${FEW_SEEDS.count} storms`,
  async () => {
    const { faults, did } = await playSeeds(FEW_SEEDS.first, FEW_SEEDS.count, { weather: REPORTS_APART });
    expect(faults).toEqual([]);
    expect(did.readyNodesStopped).toBeGreaterThan(8);
  },
);

test("a seed replays exactly, trace and all", async () => {
  const traces = [];
  for (let copy = 0; copy < 2; copy += 1) {
    const lines: string[] = [];
    await simulate(20, { write: (line) => lines.push(line) });
    traces.push(lines);
  }
  expect(traces[0]?.length).toBeGreaterThan(100);
  expect(traces[1]).toEqual(traces[0]);
});

test.runIf(replayed !== undefined)(`replay of seed ${replayed}`, async () => {
  const outcome = await simulate(Number(replayed), { write: (line) => process.stdout.write(`${line}\n`) });
  expect(faultsOf(outcome)).toEqual([]);
});
