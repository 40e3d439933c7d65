import { Dice } from "./dice.ts";
import type { Lasting, Unclear, Weather } from "./weather.ts";

/*
 * Figures and schedules that several kinds of weather share.
 */

/** Boot time of the simulated nodes, at most: 44 s, and half of it more. */
export const BOOT_SECONDS = 66;

/** As the configuration of the runs has it, at most. */
const BOOT_TIMEOUT_SECONDS = 250;

/** An answer that is really needed, and never comes, is waited for so long: inFlightGrace, as the configuration has it at most. */
export const GRACE_SECONDS = 1300;

/** No storm beside what lasts: what goes wrong is the kind's doing. */
export const CALM: Partial<Weather> = {
  crash: 0,
  loss: 0,
  slow: 0,
  freeze: 0,
  bootFailureShare: 0,
  neverBootShare: 0,
  terminationFailureShare: 0,
  falseEmpty: false,
  scarce: false,
  reports: false,
  crowd: false,
  unfit: 0,
};

/** Room for everything: quotas are the storms' business. */
export function clusterOf(nodesPerArray: number, arrays: readonly string[] = ["alpha"]) {
  return { arrays, nodesPerArray, quotaNodes: 4 * nodesPerArray * arrays.length };
}

export const SCRIPTS = { delayed: 0.1, unreached: 0, silent: 0, states: false };

/** Demand is reached by then where calls take so long. */
export function slowSeconds(seconds: number): number {
  return BOOT_SECONDS + 60 + 6 * seconds;
}

/** When the first substitutes may come: a node without a Status has left Ready, and is down soon; others are doubted for the boot timeout. */
export function unclearSeconds(how: Unclear): number {
  return how === "no-status" ? 50 : BOOT_TIMEOUT_SECONDS - 30;
}

/** Demand in steps that are further apart than it may take to meet one. */
export function steady(dice: Dice, lasting: Lasting, readySeconds: number): Partial<Weather> {
  const stepSeconds = Math.round(readySeconds * 1.2);
  return {
    ...clusterOf(dice.whole(4, 12)),
    stormSeconds: stepSeconds * 3,
    sets: 1,
    instances: dice.pick([1, 2]),
    lagSeconds: dice.pick([0, 10]),
    lasting: { ...lasting, stepSeconds, scripts: SCRIPTS, bounds: { readySeconds } },
  };
}
