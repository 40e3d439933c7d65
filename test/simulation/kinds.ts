import { Dice } from "./dice.ts";
import { STILL_KINDS, drawStill } from "./still-kinds.ts";
import type { Endpoint, Lasting, Named, Unclear, Weather } from "./weather.ts";
import {
  BOOT_SECONDS,
  CALM,
  DIPS,
  GRACE_SECONDS,
  SCRIPTS,
  clusterOf,
  slowSeconds,
  steady,
  unclearSeconds,
} from "./kind-parts.ts";

/** Kinds of weather that lasts. Each is played alone, and `mixed` draws several at once, with crashes and losses. */
export const KINDS = [
  "slow",
  "broken",
  "late",
  "lost",
  "unclear",
  "half",
  "vanish",
  "waves",
  "deleters",
  "races",
  "stops",
  "scripts",
  "storage",
  "mixed",
  "standstill",
  "frozen",
  "queued",
  "cutoff",
  "secret",
  "everything",
  "named",
] as const;

export type Kind = (typeof KINDS)[number];

/**
 * Seeds that `npm test` plays, of some of the kinds: few, so chosen that each draws something else, makes nodes and is short. `mixed` and
 * `everything` draw the other kinds, too. `npm run test:deep` plays a hundred others of each kind.
 */
export const SAMPLE: Readonly<Partial<Record<Kind, readonly number[]>>> = {
  late: [2],
  lost: [2],
  vanish: [1, 3],
  scripts: [3, 6],
  storage: [4, 13],
  mixed: [3],
  standstill: [1],
  frozen: [4],
  queued: [1],
  cutoff: [1],
  secret: [1],
  everything: [2],
  named: [3, 7],
};

/** The dice of a kind are separate, so that the storms of a seed stay the same. */
const APART = 0xcafe;

/** The weather of a kind for a seed. It replaces parts of what the seed draws. */
export function drawKind(kind: Kind, seed: number): Partial<Weather> {
  const dice = new Dice((seed * 31 + KINDS.indexOf(kind)) ^ APART);
  return { ...CALM, ...DRAWN[kind](dice) };
}

/** Like DIPS, but long enough for an idle node to be stopped by report. */
const LONG_DIPS = [150, 300] as const;

type Draw = (dice: Dice) => Partial<Weather>;

const DRAWN: Readonly<Record<Kind, Draw>> = {
  slow: (dice) => {
    const seconds = dice.pick([0.1, 1, 3, 5.5, 8, 12, 20, 28, 40]);
    const all: readonly [Endpoint | "all", ...Endpoint[]] = [
      "all",
      "status",
      "nodes",
      "operations",
      "create",
      "terminate",
    ];
    if (dice.chance(0.25)) {
      // Nodes are stopped before the first list of their request comes.
      const pulse = [dice.whole(40, 70), dice.whole(60, 120)] as const;
      return steady(dice, { slow: { endpoint: "nodes", seconds: 40 }, pulse }, slowSeconds(40));
    }
    const endpoint = dice.chance(0.5) ? "all" : dice.pick(all);
    return steady(dice, { slow: { endpoint, seconds } }, slowSeconds(seconds));
  },
  broken: (dice) => {
    const endpoint = dice.pick<Endpoint>(["nodes", "operations", "terminate"]);
    const how = dice.pick<NonNullable<Lasting["broken"]>["how"]>([429, 500, 403, "login"]);
    const lost = endpoint === "operations" && dice.chance(0.5) ? { lost: 0.3 } : {};
    return steady(dice, { broken: { endpoint, how }, ...lost }, BOOT_SECONDS + 60 + GRACE_SECONDS + 60);
  },
  late: (dice) => ({
    ...clusterOf(dice.whole(4, 10)),
    stormSeconds: dice.whole(400, 700),
    sets: 1,
    instances: dice.pick([2, 3]),
    lasting: { late: dice.pick([0.2, 0.5]), dips: DIPS, scripts: SCRIPTS },
  }),
  lost: (dice) => ({
    ...clusterOf(dice.whole(4, 10)),
    stormSeconds: dice.whole(400, 700),
    sets: 1,
    instances: dice.pick([1, 2, 3]),
    lasting: { lost: dice.pick([0.15, 0.4]), dips: DIPS, scripts: SCRIPTS },
  }),
  unclear: (dice) => {
    const from = dice.whole(0, 300);
    const until = dice.chance(0.5) ? 1e9 : from + dice.whole(60, 900);
    const how = dice.pick<Unclear>(["no-target-state", "no-status", "no-state-at-all", "new-word"]);
    const share = dice.pick([0.2, 0.5, 1]);
    return {
      ...clusterOf(dice.whole(12, 20)),
      stormSeconds: 1200,
      sets: 1,
      instances: 2,
      lasting: {
        unclear: { from, until, how, share },
        stepSeconds: dice.whole(200, 500),
        bounds: { spareNodes: { count: 3, from: from + unclearSeconds(how) } },
      },
    };
  },
  half: (dice) => {
    const spells = Array.from({ length: 3 }, (_, index) => {
      // An observation comes between two spells, because they are more than a minute apart.
      const from = 150 + index * 300 + dice.whole(0, 40);
      const named = dice.chance(0.5);
      // A lost node is in doubt for 60 s of consecutive observations, or for 3 minutes if its bucket names it.
      const seconds = dice.whole(1, named ? 170 : 50);
      return { from, until: from + seconds, share: dice.pick([0.2, 0.45, 0.7]), named };
    });
    return {
      ...clusterOf(dice.whole(8, 16)),
      stormSeconds: 1050,
      sets: 1,
      instances: 2,
      lasting: { half: spells, stepSeconds: dice.whole(200, 500), scripts: SCRIPTS },
    };
  },
  vanish: (dice) => ({
    ...clusterOf(dice.whole(4, 10)),
    stormSeconds: 900,
    sets: 1,
    lasting: {
      vanish: { beforeReady: dice.pick([0, 0.2, 1]), everySeconds: dice.pick([20, 60]) },
      stepSeconds: 300,
      scripts: SCRIPTS,
    },
  }),
  waves: (dice) => ({
    ...clusterOf(dice.whole(16, 30)),
    stormSeconds: 1200,
    sets: 1,
    instances: 2,
    lagSeconds: 0,
    lasting: {
      stepSeconds: 1e6,
      waves: { count: 2, firstAt: 240, trickleSeconds: dice.whole(20, 45) },
      bounds: { createdSeconds: 260, forgiveSeconds: 260 },
    },
  }),
  deleters: (dice) => ({
    ...clusterOf(dice.whole(4, 10)),
    stormSeconds: 900,
    sets: dice.whole(1, 2),
    lasting: {
      deleters: { everySeconds: dice.pick([15, 40]), onlyIdle: dice.chance(0.5) },
      scripts: SCRIPTS,
    },
  }),
  races: (dice) => ({
    ...clusterOf(dice.whole(4, 10)),
    stormSeconds: dice.whole(500, 900),
    sets: 1,
    instances: 3,
    reports: true,
    lasting: {
      dips: LONG_DIPS,
      races: dice.pick([0.01, 0.05]),
      renewals: dice.pick([0, 2, 6]),
      scripts: { delayed: 0.1, unreached: 0, silent: dice.pick([0, 0.5, 1, 1]), states: dice.chance(0.2) },
    },
  }),
  stops: (dice) => {
    const nodes = dice.whole(80, 160);
    const seconds = dice.pick([1, 2.5, 4]);
    return {
      ...clusterOf(nodes, ["alpha", "beta"]),
      stormSeconds: 300 + nodes,
      sets: 0,
      instances: 2,
      // A node that a status shows before its request lists it counts twice until the next observation.
      lagSeconds: 0,
      lasting: {
        stops: { nodes, everySeconds: 1 },
        slow: { endpoint: "status", seconds },
        renewals: 2,
        scripts: SCRIPTS,
        bounds: { createdSeconds: 10 + seconds + 3 },
      },
    };
  },
  scripts: (dice) => ({
    ...clusterOf(dice.whole(4, 10)),
    stormSeconds: dice.whole(400, 800),
    sets: dice.whole(1, 2),
    instances: dice.pick([2, 3]),
    reports: dice.chance(0.5),
    crash: dice.pick([0, 0.004, 0.01]),
    loss: dice.pick([0, 0.02]),
    slow: dice.pick([0, 0.1]),
    lasting: {
      lost: 0.05,
      late: 0.1,
      ...(dice.chance(0.7) ? { dips: DIPS } : {}),
      scripts: {
        delayed: dice.pick([0.2, 0.7]),
        unreached: dice.pick([0, 0.2]),
        silent: dice.pick([0, 0.3]),
        states: dice.chance(0.7),
      },
    },
  }),
  storage: (dice) => ({
    ...clusterOf(dice.whole(4, 10)),
    stormSeconds: 600,
    sets: dice.whole(1, 2),
    lasting: {
      storage: {
        at: dice.whole(180, 400),
        how: dice.pick<NonNullable<Lasting["storage"]>["how"]>(["body-lost", "record-lost", "set-back"]),
        restart: dice.chance(0.5),
      },
      scripts: SCRIPTS,
    },
  }),
  mixed: drawMixed,
  ...STILL_KINDS,
  named: (dice) => {
    const names = dice.whole(3, 8);
    return {
      ...clusterOf(names),
      stormSeconds: dice.whole(900, 1800),
      sets: 1,
      instances: dice.pick([1, 2, 3]),
      lagSeconds: dice.pick([0, 10, 30]),
      crash: dice.pick([0, 0.002]),
      loss: dice.pick([0, 0.02]),
      slow: dice.pick([0, 0.1]),
      freeze: dice.pick([0, 0.002]),
      lasting: {
        named: drawNamed(dice, names),
        ...(dice.chance(0.3) ? { lost: 0.15 } : {}),
        ...(dice.chance(0.3) ? { late: 0.2 } : {}),
        ...(dice.chance(0.5) ? { vanish: { beforeReady: 0.05, everySeconds: dice.pick([60, 200]) } } : {}),
        ...(dice.chance(0.2) ? { deleters: { everySeconds: 200, onlyIdle: dice.chance(0.5) } } : {}),
        scripts: { delayed: 0, unreached: 0, silent: 1, states: true },
      },
    };
  },
  everything: (dice) => {
    const mixed = drawMixed(dice);
    const still = drawStill(dice, mixed.instances ?? 1);
    return { ...mixed, ...still, lasting: { ...mixed.lasting, ...still.lasting } };
  },
};

function drawNamed(dice: Dice, names: number): Named {
  return {
    array: "alpha",
    names,
    frozen: dice.pick([0, 0.05, 0.2]),
    cancelled: dice.pick([0, 0.01, 0.05]),
    drained: dice.pick([0, 0.02, 0.1]),
    restarts: dice.pick([0, 0.02]),
    shims: dice.pick([0, 0.5, 1]),
  };
}

function drawMixed(dice: Dice): Partial<Weather> {
  const slow = dice.chance(0.4) ? { slow: { endpoint: "all" as const, seconds: dice.pick([2, 6, 12]) } } : {};
  const lasting: Lasting = {
    ...slow,
    ...(dice.chance(0.5) ? { lost: 0.15 } : {}),
    ...(dice.chance(0.5) ? { late: 0.2 } : {}),
    ...(dice.chance(0.4) ? { races: 0.05 } : {}),
    ...(dice.chance(0.3) ? { vanish: { beforeReady: 0.05, everySeconds: 90 } } : {}),
    ...(dice.chance(0.3) ? { deleters: { everySeconds: 60, onlyIdle: dice.chance(0.5) } } : {}),
    ...(dice.chance(0.5) ? { dips: DIPS } : {}),
    renewals: dice.pick([0, 3]),
    scripts: { delayed: 0.1, unreached: dice.pick([0, 0.2]), silent: dice.pick([0, 0.3]), states: true },
  };
  return {
    ...clusterOf(dice.whole(4, 10)),
    stormSeconds: dice.whole(500, 900),
    sets: dice.whole(1, 2),
    instances: dice.pick([2, 3]),
    crash: dice.pick([0, 0.004, 0.01]),
    loss: dice.pick([0, 0.02]),
    freeze: dice.pick([0, 0.002]),
    reports: dice.chance(0.5),
    lasting,
  };
}
