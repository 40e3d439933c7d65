import { expect, test } from "vitest";
import { OWN_KEYS } from "../../src/wire/policy/policy.ts";
import { drawConfiguration } from "./configuration.ts";
import { faultsOf, playSeeds } from "./report.ts";
import { simulate } from "./simulate.ts";

/** `SEED=123 npx vitest run --config test/vitest.config.ts test/simulation/simulation` replays one seed with its whole trace; see lasting.test.ts too. */
const given = process.env["SEED"];
const replayed = given === undefined || given.includes(":") ? undefined : given;

/** About 0.2 s each on one core. */
const SEEDS = 40;
const SWITCHED_OFF_SEEDS = 16;
const REPORTS_APART_SEEDS = 16;
/** One array: nodes that are off use quota, which would leave another array without nodes. No crowd, because it does not wait long enough. */
const SWITCHED_OFF = { switchOff: true, crowd: false, arrays: ["alpha"] } as const;

test.skipIf(given !== undefined)(
  `P8: the whole protocol keeps its promises in ${SEEDS} storms of crashes, losses and delays`,
  async () => {
    const { faults, did } = await playSeeds(1, SEEDS);
    expect(faults).toEqual([]);
    expect(did.crashes).toBeGreaterThan(60);
    expect(did.nodesCreated).toBeGreaterThan(200);
    expect(did.readyNodesStopped).toBeGreaterThan(60);
  },
);

test.skipIf(given !== undefined)(
  `P8: so it does where somebody switches nodes off, and they are started again, in ${SWITCHED_OFF_SEEDS} storms`,
  async () => {
    const { faults, did } = await playSeeds(1, SWITCHED_OFF_SEEDS, { weather: SWITCHED_OFF });
    expect(faults).toEqual([]);
    expect(did.nodesStarted).toBeGreaterThan(15);
  },
);

test("every key of a configuration is drawn now and then", () => {
  const seeds = Array.from({ length: 100 }, (_, seed) => seed);
  const drawn = new Set(seeds.flatMap((seed) => Object.keys(drawConfiguration(seed, ["alpha"]))));
  expect(OWN_KEYS.filter((key) => !drawn.has(key))).toEqual([]);
});
test.skipIf(given !== undefined)(
  `P8: so it does where reports come in messages of their own, in ${REPORTS_APART_SEEDS} storms`,
  async () => {
    const { faults, did } = await playSeeds(1, REPORTS_APART_SEEDS, {
      weather: { reports: true, reportsApart: true },
    });
    expect(faults).toEqual([]);
    expect(did.readyNodesStopped).toBeGreaterThan(15);
  },
);

test("a seed replays exactly, trace and all", async () => {
  const traces = [];
  for (let copy = 0; copy < 2; copy += 1) {
    const lines: string[] = [];
    await simulate(7, { write: (line) => lines.push(line) });
    traces.push(lines);
  }
  expect(traces[0]?.length).toBeGreaterThan(100);
  expect(traces[1]).toEqual(traces[0]);
});

test.runIf(replayed !== undefined)(`replay of seed ${replayed}`, async () => {
  const outcome = await simulate(Number(replayed), { write: (line) => process.stdout.write(`${line}\n`) });
  expect(faultsOf(outcome)).toEqual([]);
});
