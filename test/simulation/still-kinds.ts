import type { Dice } from "./dice.ts";
import { DIPS, clusterOf } from "./kind-parts.ts";
import type { Lasting, Link, Scripts, Standstills, Weather } from "./weather.ts";

/*
 * Kinds of weather in which CycleCloud, a host, or the way between them stands still (docs/protocol.md, Standstills). Each run is an hour of a
 * small cluster, with the quiet time of five minutes.
 */

type Range = readonly [least: number, most: number];

const STORM_SECONDS = 3300;

/** What has lain in CycleCloud's sockets takes effect before the next standstill. */
const BETWEEN_STANDSTILLS = [120, 900] as const;
/** CycleCloud stands still for a number of seconds between these. Four in five times for less than 10 minutes. */
const SHORT: Range = [30, 150];
const MIDDLE: Range = [100, 600];
const LONG: Range = [600, 1200];

/** Demand is low for a number of seconds between these: long enough for a node to ask, and to be stopped. */
const LONG_DIPS = [90, 400] as const;

/**
 * How far clocks of nodes are behind or ahead. One that is over 160 s ahead can hide how long a first question waited (docs/protocol.md,
 * Questions of nodes, What remains).
 */
const SKEWS = [
  [0, 0],
  [20, 20],
  [300, 150],
] as const satisfies readonly [Range, ...Range[]];

const NODES = [2, 5] as const;

/** A small cluster, its demand and its nodes' scripts. */
function hourOf(dice: Dice, lasting: Lasting, scripts: Partial<Scripts> = {}): Partial<Weather> {
  return {
    ...clusterOf(dice.whole(...NODES)),
    stormSeconds: STORM_SECONDS,
    sets: 1,
    lagSeconds: dice.pick([0, 10, 30]),
    reports: dice.chance(0.4),
    lasting: {
      isCalm: true,
      dips: dice.chance(0.5) ? DIPS : LONG_DIPS,
      scripts: {
        delayed: 0.05,
        unreached: 0,
        silent: dice.pick([0, 0, 0.3]),
        states: dice.chance(0.7),
        ...scripts,
      },
      ...lasting,
    },
  };
}

function standstillsOf(dice: Dice): Standstills {
  const spells = Array.from({ length: dice.whole(1, 5) }, () => ({
    afterSeconds: dice.whole(...BETWEEN_STANDSTILLS),
    seconds: dice.whole(...dice.pick<Range>([SHORT, SHORT, MIDDLE, MIDDLE, LONG])),
    begins: dice.pick(["at once", "before", "before", "after", "later"] as const),
  }));
  return { spells, lateSeconds: dice.pick([0, 12, 40]), never: dice.pick([0, 0, 0.3]) };
}

function freezesOf(dice: Dice): NonNullable<Lasting["freezes"]> {
  return { chance: dice.pick([0.001, 0.003, 0.01]), seconds: [10, 600] };
}

/** Each host in turn may be cut off, one at a time. */
function cutsOf(dice: Dice, hosts: number): NonNullable<Lasting["cuts"]> {
  let from = 0;
  return Array.from({ length: dice.whole(1, 4) }, () => {
    from += dice.whole(60, 600);
    const until = from + dice.whole(60, 600);
    const cut = {
      from,
      until,
      host: dice.whole(0, hosts - 1),
      link: dice.pick<Link>(["cyclecloud", "cyclecloud", "storage"]),
      how: dice.pick(["hangs", "refused"] as const),
    };
    from = until;
    return cut;
  });
}

export const STILL_KINDS = {
  standstill: (dice: Dice): Partial<Weather> => ({
    ...hourOf(dice, {
      standstills: standstillsOf(dice),
      callLimitSeconds: dice.pick([60, 60, 60, 10, 90]),
    }),
    instances: dice.pick([1, 2, 2, 3]),
  }),
  frozen: (dice: Dice): Partial<Weather> => ({
    ...hourOf(dice, { freezes: freezesOf(dice) }),
    instances: dice.pick([1, 2, 2, 3]),
  }),
  queued: (dice: Dice): Partial<Weather> => ({
    ...hourOf(dice, { queued: dice.pick([0.3, 1]) }, { skewSeconds: dice.pick<Range>(SKEWS), silent: 0 }),
    instances: dice.pick([1, 2]),
  }),
  cutoff: (dice: Dice): Partial<Weather> => {
    const instances = dice.pick([2, 2, 3]);
    return { ...hourOf(dice, { cuts: cutsOf(dice, instances) }), instances };
  },
  secret: (dice: Dice): Partial<Weather> => {
    const instances = dice.pick([2, 2, 3]);
    return { ...hourOf(dice, { oldSecret: dice.whole(0, instances - 1) }), instances };
  },
};

/** All of these at once, each in half of the runs. */
export function drawStill(dice: Dice, instances: number): Partial<Weather> {
  const some = <T>(part: T): T | undefined => (dice.chance(0.5) ? part : undefined);
  const parts = {
    standstills: some(standstillsOf(dice)),
    freezes: some(freezesOf(dice)),
    queued: some(0.3),
    cuts: some(cutsOf(dice, instances)),
    oldSecret: instances > 1 ? some(0) : undefined,
  };
  const drawn: Lasting = {
    isCalm: true,
    ...Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)),
  };
  return { ...clusterOf(dice.whole(...NODES)), stormSeconds: STORM_SECONDS, lasting: drawn };
}
