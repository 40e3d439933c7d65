import type { AutostopStormOptions } from "./autostop-storm.ts";
import { runAutostopStorm } from "./autostop-storm.ts";
import type { Figures } from "./figures.ts";
import { measureMainPath } from "./main-path.ts";
import { measureRenewals } from "./renewals.ts";

/** The sizes of a run; each load reads those that concern it. */
export interface Sizes {
  readonly checkout: string;
  readonly seed: number;
  readonly tries: number;
  readonly gapSeconds: number;
  readonly readers: number;
  readonly minutes: number;
  readonly sets: number;
  readonly intervalSeconds: number;
  readonly nodes: number;
  readonly changingNodes: number;
  readonly callbacks: number;
  readonly hosts: number;
  readonly stormSeconds: number;
}

export const SIZES: Omit<Sizes, "checkout"> = {
  seed: 1,
  tries: 40,
  gapSeconds: 10,
  readers: 0,
  minutes: 6,
  sets: 2000,
  intervalSeconds: 60,
  nodes: 10_000,
  changingNodes: 200,
  callbacks: 300,
  hosts: 4,
  stormSeconds: 120,
};

/** One load by its name. test/bench/README.md says what each of them is. */
export interface LoopLoad {
  readonly name: string;
  run(sizes: Sizes): Promise<Figures>;
}

/** Slow enough that the 20 s for which a node waits for an answer are real seconds. */
const STORM_SPEED = 3;

export const LOOP_LOADS: readonly LoopLoad[] = [
  { name: "main-path", run: measureMainPath },
  { name: "renewals", run: (sizes) => measureRenewals({ ...sizes, changing: false }) },
  {
    name: "changes",
    run: (sizes) => measureRenewals({ ...sizes, nodes: sizes.changingNodes, changing: true }),
  },
  {
    name: "autostop-at-once",
    run: (sizes) => autostop(sizes, { demand: between(sizes, 0.25, 0.25), spreadSeconds: 1 }),
  },
  {
    name: "autostop-kills",
    run: (sizes) =>
      autostop(sizes, { demand: between(sizes, 0.07, 0.67), spreadSeconds: 60, secondsBetweenKills: 3 }),
  },
  {
    name: "autostop-slow",
    run: (sizes) =>
      autostop(sizes, {
        demand: between(sizes, 0.13, 0.97),
        spreadSeconds: 60,
        secondsBetweenKills: 3,
        latencyMs: 500,
      }),
  },
];

/** A range of demand, as shares of the nodes that ask. */
const between = ({ callbacks }: Sizes, least: number, most: number) => ({
  least: Math.round(callbacks * least),
  most: Math.round(callbacks * most),
});

type Storm = Pick<AutostopStormOptions, "demand" | "spreadSeconds" | "secondsBetweenKills" | "latencyMs">;

async function autostop(sizes: Sizes, storm: Storm): Promise<Figures> {
  const { checkout, seed, hosts, callbacks, stormSeconds } = sizes;
  const result = await runAutostopStorm({
    checkout,
    seed,
    hosts,
    speed: STORM_SPEED,
    nodes: callbacks,
    moveSeconds: stormSeconds / 12,
    stormSeconds,
    calmSeconds: stormSeconds / 3,
    ...storm,
  });
  return {
    kills: result.kills,
    questions: result.questions,
    "answered 200": result.answered200,
    terminated: result.terminated,
    "answered 200 and not stopped": result.answered200AndNotStopped,
    "stopped during a question without a 200": result.terminatedWithout200AtThatMoment,
    "stopped and never told": result.terminatedAndNeverTold,
    "stopped after the answer stay": result.terminatedAfterStay,
    "stopped without a question": result.terminatedUnasked,
    "stops below acknowledged demand": result.stopsBelowDemand,
    "least left above acknowledged demand": result.leastMargin,
    "lowest Ready": result.lowestReady,
    "nodes made beyond demand": result.mostBeyondDemand,
    "ask (ms)": result.ask,
    "wanted at the end": result.wanted,
    "there at the end": result.alive,
  };
}
