import { drawConfiguration, policyOf } from "./configuration.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { arrayName } from "../../src/domain/ids.ts";
import { Dice } from "./dice.ts";
import type { Kind } from "./kinds.ts";
import { drawKind } from "./kinds.ts";
import { startMoments } from "./moments.ts";
import type { Told } from "./needs.ts";
import { ORIGIN, drainMicrotasks } from "./schedule.ts";
import { startWriters } from "./start-writers.ts";
import { startStormFaults } from "./storm-faults.ts";
import type { Verdict } from "./verdict.ts";
import type { Weather } from "./weather.ts";
import { drawWeather } from "./weather.ts";
import type { World } from "./world.ts";
import { buildWorld } from "./world.ts";

export interface Outcome {
  readonly seed: number;
  readonly kind?: Kind;
  readonly weather: Weather;
  readonly verdict: Verdict;
  /** Errors that no fault explains: a use case threw an error that is not a PortError. */
  readonly defects: readonly string[];
  readonly crashes: number;
  readonly simulatedSeconds: number;
}

const MINUTE_MS = 60_000;
/** The quiet time lasts at least this long. */
const QUIET_SECONDS = 300;
/** It ends at the latest after this time, when the longest pause of a bucket must be over. */
const LONGEST_QUIET_SECONDS = 2700;
/**
 * The same for a crowd. It keeps renewing in the quiet time, and is served within this time all the same. Ten minutes of it may be those after
 * two processes that died during their plans (docs/protocol.md, A process that dies of a record).
 */
const LONGEST_CROWDED_SECONDS = 960;

export interface SimulateOptions {
  /** Takes the trace, line by line. */
  readonly write?: (line: string) => void;
  /** A kind of weather that lasts, drawn by the seed. Undefined: a storm. */
  readonly kind?: Kind;
  /** Parts of the weather that are not left to the seed. */
  readonly weather?: Partial<Weather>;
}

/** Plays one seed: a storm of faults over the whole product on a virtual clock, then quiet, then the verdict. */
export async function simulate(
  seed: number,
  { write, kind, weather: given }: SimulateOptions = {},
): Promise<Outcome> {
  const dice = new Dice(seed);
  const weather: Weather = {
    ...drawWeather(dice),
    ...(kind === undefined ? {} : drawKind(kind, seed)),
    ...given,
  };
  const configuration = drawConfiguration(seed, weather.arrays);
  const policy = {
    ...policyOf(configuration),
    ...callLimitOf(weather),
    ...keptFor(weather),
    ...namedIn(weather),
  };
  const world = buildWorld(seed, dice, weather, policy, write);
  world.trace("WEATHER", () => JSON.stringify(weather));
  world.trace("CONFIGURATION", () => JSON.stringify(configuration));
  start(world);
  await playStorm(world);
  await playQuiet(world);
  const { judge, processes, schedule } = world;
  return {
    seed,
    ...(kind === undefined ? {} : { kind }),
    weather,
    verdict: judge.conclude(lastTold(world)),
    defects: processes.defects,
    crashes: processes.crashes,
    simulatedSeconds: (schedule.now() - ORIGIN) / 1000,
  };
}

function callLimitOf({ lasting }: Weather): { readonly callLimitSeconds?: number } {
  return lasting?.callLimitSeconds === undefined ? {} : { callLimitSeconds: lasting.callLimitSeconds };
}

function keptFor({ deallocates }: Weather): Pick<Policy, "deallocatedTimeout"> {
  return deallocates === undefined ? {} : { deallocatedTimeout: { every: deallocates.timeoutSeconds } };
}

function namedIn({ lasting }: Weather): Pick<Policy, "namedArrays"> {
  return lasting?.named === undefined ? {} : { namedArrays: [arrayName(lasting.named.array)] };
}

/** Starts demand, the timer and all faults. */
function start(world: World): void {
  const { schedule, weather, judge, storage, processes, trace } = world;
  startWriters(world);
  processes.tickFrom(ORIGIN + schedule.dice.whole(1000, MINUTE_MS));
  startStormFaults(world);
  const { lasting } = weather;
  if (lasting === undefined) return;
  world.others?.start();
  startMoments({
    schedule,
    weather,
    lasting,
    judge,
    storage,
    crashAll: () => processes.crashAll(),
    trace: (what) => trace("WEATHER", () => what),
  });
}

async function playStorm(world: World): Promise<void> {
  const { storm, server, weather, writers, trace } = world;
  await playUntil(world, ORIGIN + weather.stormSeconds * 1000);
  trace("WEATHER", () => "the storm is over");
  storm.isOver = true;
  server.calmDown();
  for (const writer of writers) writer.calmDown();
}

/** Plays the quiet time, until no node is missing or its longest time is over. */
async function playQuiet(world: World): Promise<void> {
  const { schedule, weather, judge } = world;
  const stormEnds = ORIGIN + weather.stormSeconds * 1000;
  await playUntil(world, stormEnds + QUIET_SECONDS * 1000);
  const longest = weather.crowd ? LONGEST_CROWDED_SECONDS : LONGEST_QUIET_SECONDS;
  while (judge.unsettled(lastTold(world)) > 0 && schedule.now() < stormEnds + longest * 1000)
    await playUntil(world, schedule.now() + MINUTE_MS);
}

/** Plays all events until that moment, one after the other. */
async function playUntil({ schedule, server, storage }: World, end: number): Promise<void> {
  const { simulator } = server;
  for (;;) {
    const next = Math.min(schedule.nextAt(), server.nextEventAt());
    if (next > end) break;
    if (next < schedule.nextAt()) {
      schedule.moveTo(next);
      simulator.advance();
      continue;
    }
    simulator.advance();
    schedule.step();
    await drainMicrotasks();
    await storage.settle();
  }
  schedule.moveTo(end);
}

/** The last message of each sender. */
function lastTold({ writers }: World): readonly Told[] {
  return writers.flatMap(({ last }) => (last === undefined ? [] : [last]));
}
