import { memoryCredentialBreaker, memoryHistory } from "../../src/adapters/memory/stores.ts";
import type { DemandQueue } from "../../src/app/ports/demand-queue.ts";
import { clusterName } from "../../src/domain/ids.ts";
import type { Policy } from "../../src/domain/policy.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import { mostNodes } from "./cluster-options.ts";
import { ClusterServer } from "./cluster-server.ts";
import type { Dice } from "./dice.ts";
import type { Shared } from "./instance.ts";
import { clockText } from "./instance.ts";
import { Judge } from "./judge.ts";
import { judgedStore, judgeRequest } from "./judge-calls.ts";
import { Fronts } from "./fronts.ts";
import { Line } from "./line.ts";
import { Machines } from "./machines.ts";
import { Others } from "./others.ts";
import { Processes } from "./processes.ts";
import { Races } from "./races.ts";
import { ORIGIN, Schedule } from "./schedule.ts";
import { Standing } from "./standing.ts";
import { Storage } from "./storage.ts";
import type { Weather } from "./weather.ts";
import { calm } from "./weather.ts";
import type { Writer } from "./writers.ts";

export const CLUSTER = clusterName("demo");

/** All parts of one run, connected. */
export interface World {
  readonly weather: Weather;
  readonly schedule: Schedule;
  /** Faults come until the storm is over. */
  readonly storm: { isOver: boolean };
  readonly standing: Standing;
  readonly server: ClusterServer;
  readonly storage: Storage;
  readonly processes: Processes;
  /** The senders of demand. Empty until they are started. */
  readonly writers: Writer[];
  readonly fronts: Fronts;
  readonly line: Line;
  readonly machines: Machines;
  readonly races: Races;
  /** Undefined in weather that does not last. */
  readonly others: Others | undefined;
  readonly judge: Judge;
  readonly trace: Shared["trace"];
}

/** A run's parts before they act on each other. */
type Parts = Omit<World, "others">;

/** Builds a run. The processes are up; no time has passed. `write` takes the trace, line by line. */
export function buildWorld(
  seed: number,
  dice: Dice,
  weather: Weather,
  policy: Policy,
  write: ((line: string) => void) | undefined,
): World {
  const schedule = new Schedule(dice);
  const trace: Shared["trace"] = (who, what) =>
    write?.(`${clockText(schedule.now())}  ${who.padEnd(10)}  ${what()}`);
  const judge = judgeOf(weather, policy, schedule, trace);
  const standing = new Standing({
    schedule,
    standstills: weather.lasting?.standstills,
    endsBy: ORIGIN + weather.stormSeconds * 1000,
    stood: (spell) => {
      trace("CycleCloud", () => `stands still until ${clockText(spell.until)}`);
      judge.stood(spell);
    },
  });
  const server = new ClusterServer(CLUSTER, { schedule, weather, judge, standing }, seed);
  const storm = { isOver: false };
  const storage = new Storage(schedule, CLUSTER, weather.lasting?.storage !== undefined);
  const processes = new Processes(schedule, trace);
  const any = () => processes.any();
  const stormy = (): boolean => !storm.isOver;
  const unfit = (): number => (storm.isOver ? 0 : weather.unfit);
  const defect = (error: unknown): void => processes.noteError(error);
  const { scripts, races: share = 0, queued = 0 } = weather.lasting ?? {};
  const fronts = new Fronts(schedule, queued, stormy, () => judge.met("queued"));
  const line = new Line(schedule, () => processes.awake(), stormy, defect);
  const agents = scripts === undefined ? undefined : { scripts, fronts };
  const machines = new Machines(schedule, any, judge, unfit, stormy, defect, agents);
  const writers: Writer[] = [];
  const races = new Races({ schedule, instances: processes.instances, writers, machines }, share);
  const common = { weather, schedule, storm, standing, server, storage, processes };
  const parts: Parts = { ...common, writers, fronts, line, machines, races, judge, trace };
  const world: World = { ...parts, others: othersOf(parts) };
  world.server.simulator.onEvent((event) => passOn(event, world));
  processes.start(weather.instances, sharedOf(world, policy));
  return world;
}

function judgeOf(weather: Weather, policy: Policy, schedule: Schedule, trace: Shared["trace"]): Judge {
  const limits = {
    ...weather,
    nodesPerArray: mostNodes(weather),
    bucketOrder: policy.preference === "bucket-order",
  };
  return new Judge(
    limits,
    () => schedule.now(),
    (what) => trace("JUDGE", () => what),
  );
}

function othersOf({ weather, schedule, server, machines, judge, storm, trace }: Parts): Others | undefined {
  if (weather.lasting === undefined) return undefined;
  return new Others(
    {
      schedule,
      simulator: server.simulator,
      machines,
      cluster: CLUSTER,
      wasShown: (nodeId) => judge.wasShown(nodeId),
    },
    weather.lasting,
    () => !storm.isOver,
    (what) => trace("WEATHER", () => what),
  );
}

function passOn(shown: SimulatorEvent, { standing, judge, machines, others, trace }: World): void {
  const event = { ...shown, at: shown.at + standing.behindMs };
  if (event.kind !== "status-read")
    trace("CycleCloud", () =>
      JSON.stringify({ ...event, at: undefined, cluster: undefined, configuration: undefined }),
    );
  judge.see(event);
  machines.see(event);
  others?.see(event);
}

/** What all processes share. */
function sharedOf(world: World, policy: Policy): Omit<Shared, "noteCrash"> {
  const { weather, schedule, storm, standing, server, storage, line, races, judge, trace } = world;
  return {
    schedule,
    cluster: CLUSTER,
    policy,
    openStore: () => judgedStore(storage.open(), judge),
    queue: queueOf(line),
    breaker: memoryCredentialBreaker(),
    history: memoryHistory(),
    answer: (request) => server.answer(request),
    noteRequest: (request, readAt) => judgeRequest(request, readAt, judge),
    standing,
    met: (what) => judge.met(what),
    weather: () => (storm.isOver ? calm(weather) : weather),
    trace,
    atAwait: (at, stopping) => races.meet(at, stopping),
  };
}

/** Wake messages go through the line. No message is rejected in a run. */
function queueOf(line: Line): DemandQueue {
  return {
    wake: (cluster, at, id) => line.wake(cluster, at, id),
    reject: () => Promise.resolve(),
    resend: () => Promise.resolve(),
    rejected: () => Promise.resolve({ count: 0, oldest: [] }),
    poison: () => Promise.resolve({ count: 0 }),
    takePoison: () => Promise.resolve([]),
    dropPoison: () => Promise.resolve(),
  };
}
