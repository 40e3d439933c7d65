import { Dice } from "./dice.ts";
import type { Lasting, Unclear, Weather } from "./weather.ts";

/*
 * Figures and schedules that several kinds of weather share.
 */

/** Maximum boot time of the simulated nodes: 44 s, and half of it more. */
export const BOOT_SECONDS = 66;

/** Maximum `bootTimeout` of the runs. */
const BOOT_TIMEOUT_SECONDS = 250;

/** The product waits this long for an answer that it needs and that never comes: the maximum `inFlightGrace` of the runs. */
export const GRACE_SECONDS = 1300;

/** No storm beside the weather that lasts: every failure is due to the kind. */
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

/**
 * Demand drops for this long, in seconds. Nodes are up a minute after demand rises, and ask half a minute after it drops. It returns within
 * 180 s of that.
 */
export const DIPS = [20, 210] as const;

/** Limits that are never reached: quotas are tested by storms. */
export function clusterOf(nodesPerArray: number, arrays: readonly string[] = ["alpha"]) {
  return { arrays, nodesPerArray, quotaNodes: 4 * nodesPerArray * arrays.length };
}

export const SCRIPTS = { delayed: 0.1, unreached: 0, silent: 0, states: false };

/** Demand is met by then if calls take this long. */
export function slowSeconds(seconds: number): number {
  return BOOT_SECONDS + 60 + 6 * seconds;
}

/**
 * When the first substitutes may come. A node without a Status has left Ready, and soon counts as down. Other nodes are in doubt until the
 * boot timeout.
 */
export function unclearSeconds(how: Unclear): number {
  return how === "no-status" ? 50 : BOOT_TIMEOUT_SECONDS - 30;
}

/** Demand in steps. Each step lasts longer than it may take to meet it. */
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
