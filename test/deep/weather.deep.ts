import { expect, test } from "vitest";
import { KINDS } from "../simulation/kinds.ts";
import { nothingDone, playSeed } from "../simulation/report.ts";

/**
 * Weather that lasts. WEATHER_KINDS: the kinds, as "standstill,frozen" (all); WEATHER_SEEDS: how many seeds of each (100); WEATHER_FROM: the
 * first one (1001; those of `npm test` begin with 1).
 */
const { WEATHER_KINDS = KINDS.join(","), WEATHER_SEEDS = "100", WEATHER_FROM = "1001" } = process.env;
const named = WEATHER_KINDS.split(",");
const first = Number(WEATHER_FROM);
const seeds = Number(WEATHER_SEEDS);

test("each kind that is asked for is known", () => {
  expect(named.filter((name) => !KINDS.some((kind) => kind === name))).toEqual([]);
});

test.each(KINDS.filter((kind) => named.includes(kind)))(
  `P8: the protocol keeps its promises in weather that lasts, ${seeds} seeds: %s`,
  async (kind) => {
    const did = nothingDone();
    const faults: string[] = [];
    const before = process.cpuUsage();
    for (let seed = first; seed < first + seeds && faults.length === 0; seed += 1)
      faults.push(...(await playSeed(seed, { kind }, did)));
    const { user, system } = process.cpuUsage(before);
    const { runs, simulatedSeconds, ...rest } = did;
    const hours = (simulatedSeconds / 3600).toFixed(1);
    process.stdout.write(
      `weather ${kind}: ${runs} runs from seed ${first} on, ${hours} simulated hours, ` +
        `${((user + system) / 1e6).toFixed(0)} s of processor time, ${JSON.stringify(rest)}, violations: ${JSON.stringify(faults)}\n`,
    );
    expect(faults).toEqual([]);
  },
);
