import { expect, test } from "vitest";
import { KINDS } from "../simulation/kinds.ts";
import { nothingDone, playSeed } from "../simulation/report.ts";

/** The number of runs that these minutes allow. */
const MINUTES = Number(process.env["WEATHER_MINUTES"] ?? 20);
/** The seeds of `npm test` are not played again. */
const FIRST_SEED = 1001;

test(`P8: the protocol keeps its promises in weather that lasts, for ${MINUTES} minutes`, async () => {
  const end = Date.now() + MINUTES * 60_000;
  const did = nothingDone();
  const faults: string[] = [];
  let runs = 0;
  for (let seed = FIRST_SEED; Date.now() < end; seed += 1) {
    for (const kind of KINDS) {
      faults.push(...(await playSeed(seed, { kind }, did)));
      runs += 1;
    }
    if (faults.length > 0) break;
  }
  process.stdout.write(
    `weather: ${runs} runs of ${KINDS.length} kinds, ${JSON.stringify(did)}; ` +
      `${did.unreachedStopped} busy nodes stopped none of whose questions reached a host for 5 minutes\n`,
  );
  expect(faults).toEqual([]);
});
