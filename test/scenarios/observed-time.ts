import { arrayName } from "../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { Dice } from "../simulation/dice.ts";
import { MACHINE_TYPES, QUICK } from "./clusters.ts";
import type { RealCount } from "./count-real.ts";
import { countReal } from "./count-real.ts";
import type { VirtualCount } from "./count-virtual.ts";
import { countVirtual } from "./count-virtual.ts";
import type { Wave } from "./other-autoscaler.ts";
import { OtherAutoscaler } from "./other-autoscaler.ts";
import { ORIGIN } from "./stage-options.ts";
import { Stage } from "./stage.ts";

const DAY_MINUTES = 1440;

/** Two equal arrays, "execute" and "second", with room for a hundred nodes each. */
export function twoArrays(): SimulatorOptions {
  const array = { region: "westeurope", machineTypes: ["Standard_F4s_v2"], maxCount: 100 };
  return {
    clusters: [
      {
        name: "demo",
        maxCount: 1000,
        maxCoreCount: 4000,
        arrays: [
          { name: "execute", ...array },
          { name: "second", ...array },
        ],
      },
    ],
    machineTypes: MACHINE_TYPES,
    timings: QUICK,
  };
}

/** Jobs all day long, of 10 to 200 minutes; nights are quieter. */
export function drawWaves(seed: number, days: number): readonly Wave[] {
  const dice = new Dice(seed);
  const waves: Wave[] = [];
  for (let minute = dice.whole(5, 60); minute < days * DAY_MINUTES;) {
    waves.push({ atMinute: minute, jobs: dice.whole(1, 8), minutes: dice.whole(10, 200) });
    const isNight = minute % DAY_MINUTES < 420;
    minute += isNight ? dice.whole(60, 240) : dice.whole(5, 90);
  }
  return waves;
}

/** One array beside another autoscaler: the app's comparison, and independent counts. */
export interface Judged {
  readonly said: Awaited<ReturnType<typeof saidOf>>;
  readonly real: RealCount;
  readonly virtual: VirtualCount;
}

interface WaitingSeconds {
  readonly real: number;
  readonly virtual: number;
}

export interface ObservedTime {
  readonly stage: Stage;
  readonly switchedAt: number;
  /** The waiting time of jobs in both arrays, until the switch. */
  readonly waiting: {
    readonly said: WaitingSeconds;
    readonly real: RealCount;
    readonly virtual: number;
    readonly rounding: number;
  };
  readonly execute: Judged;
  readonly second: Judged;
}

/** Both arrays are observed. In the middle the other autoscaler gives "second" up, and the app takes it over. */
export async function observeFor(days: number, seed: number): Promise<ObservedTime> {
  const stage = new Stage({ simulator: twoArrays(), policy: { mode: "observe" } });
  const join = (array: string, set: string, at: number) => {
    const other = new OtherAutoscaler(stage, { array, set, waves: drawWaves(at, days), keepMinutes: 45 });
    stage.join(other);
    return other;
  };
  const execute = join("execute", "one", seed);
  const second = join("second", "two", seed + 1);
  const half = (days * DAY_MINUTES * 60) / 2;
  await stage.pass(half);
  const switchedAt = stage.clock.now();
  const waited = await waitedOf(stage);
  second.retire();
  const arrayModes = new Map([[arrayName("second"), "act" as const]]);
  stage.configure({ ...DEFAULT_POLICY, mode: "observe", arrayModes });
  await stage.pass(half);
  const judge = async (array: string, { log, statements }: OtherAutoscaler, end: number): Promise<Judged> => {
    const looks = looksOf(stage).filter((at) => at <= end);
    const span = { array, from: looks[0] ?? ORIGIN, until: looks.at(-1) ?? ORIGIN };
    const counted = { log: stage.simulator.log, boot: bootSeconds(stage, looks) };
    return {
      said: await saidOf(stage, array),
      real: countReal(counted.log, log, looks, span),
      virtual: countVirtual(statements, looks, counted.boot),
    };
  };
  const looks = looksOf(stage).filter((at) => at <= switchedAt);
  const span = { from: looks[0] ?? ORIGIN, until: looks.at(-1) ?? ORIGIN };
  const jobs = [...execute.log, ...second.log].filter(({ submittedAt }) => submittedAt <= span.until);
  const boot = bootSeconds(stage, looks);
  const virtualWaiting = [execute, second]
    .map(({ statements }) => countVirtual(statements, looks, boot).waitingSeconds)
    .reduce((sum, one) => sum + one, 0);
  return {
    stage,
    switchedAt,
    waiting: {
      said: waited,
      real: countReal(stage.simulator.log, jobs, looks, { ...span, array: "" }),
      virtual: virtualWaiting,
      // Half a hundredth of an hour for each day.
      rounding: Math.ceil(days / 2) * 18,
    },
    execute: await judge("execute", execute, stage.clock.now()),
    second: await judge("second", second, switchedAt),
  };
}

/** When the app asked for the status. The other autoscaler never does. */
export const looksOf = (stage: Stage): readonly number[] => [
  ...new Set(stage.eventsOf("status-read").map(({ at }) => at)),
];

async function waitedOf(stage: Stage): Promise<WaitingSeconds> {
  const { days } = await stage.comparison("demo");
  const sum = (of: "real" | "virtual") =>
    3600 * days.reduce((total, { waitingJobHours }) => total + (waitingJobHours?.[of] ?? 0), 0);
  return { real: sum("real"), virtual: sum("virtual") };
}

/** The sums of all days, and how much the rounding of each day to a hundredth of an hour may hide. */
async function saidOf(stage: Stage, array: string) {
  const { days } = await stage.comparison("demo");
  const rows = days.flatMap(({ nodearrays }) => nodearrays.filter(({ nodearray }) => nodearray === array));
  const fleet = (of: "real" | "virtual") => ({
    boots: rows.reduce((sum, row) => sum + row[of].boots, 0),
    peak: Math.max(...rows.map((row) => row[of].peakNodes)),
    nodeSeconds: 3600 * rows.reduce((sum, row) => sum + row[of].nodeHours, 0),
    idleSeconds: 3600 * rows.reduce((sum, row) => sum + row[of].idleNodeHours, 0),
  });
  return {
    real: fleet("real"),
    virtual: fleet("virtual"),
    observedSeconds: 3600 * rows.reduce((sum, row) => sum + row.observedHours, 0),
    rounding: rows.length * 18,
  };
}

/** The rule of docs/cli.md: the median of the last 31 real boots, as the app observed them, or 300 s if there was none. */
function bootSeconds(stage: Stage, looks: readonly number[]): (at: number) => number {
  const seenAt = (at: number): number => looks.find((look) => look >= at) ?? Infinity;
  const created = new Map(stage.eventsOf("node-created").map(({ nodeId, at }) => [nodeId, seenAt(at)]));
  const boots = stage.eventsOf("node-ready").map(({ nodeId, at }) => ({
    endedAt: seenAt(at),
    seconds: (seenAt(at) - (created.get(nodeId) ?? at)) / 1000,
  }));
  return (now) => {
    const last = boots.filter(({ endedAt, seconds }) => endedAt <= now && seconds > 0).slice(-31);
    const sorted = last.map(({ seconds }) => seconds).toSorted((a, b) => a - b);
    return sorted[Math.ceil(sorted.length / 2) - 1] ?? 300;
  };
}
