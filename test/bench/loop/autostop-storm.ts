import { setTimeout as pause } from "node:timers/promises";
import { openRandomStream } from "../../../src/local/workload/random.ts";
import { letNodesAsk } from "./asking-nodes.ts";
import { clusterOf } from "./clusters.ts";
import { isSettled, stateOf, until } from "./doors.ts";
import type { StopsJudged } from "./judge-stops.ts";
import { judgeStops } from "./judge-stops.ts";
import { freezeHosts, killHosts } from "./killer.ts";
import { openMovingDemand } from "./moving-demand.ts";
import type { Parts } from "./parts.ts";
import { startParts } from "./parts.ts";
import type { Weather } from "./proxy.ts";
import type { Spread } from "./spread.ts";
import { spreadOf } from "./spread.ts";

export interface AutostopStormOptions {
  readonly checkout: string;
  readonly seed: number;
  readonly hosts: number;
  /** Simulated seconds in a real one. */
  readonly speed: number;
  /** Nodes that run when the storm begins. */
  readonly nodes: number;
  /** The demand moves between these, in nodes. */
  readonly demand: { readonly least: number; readonly most: number };
  /** Real seconds between two values of the demand. */
  readonly moveSeconds: number;
  /** Nodes begin to ask within this many simulated seconds. */
  readonly spreadSeconds: number;
  readonly stormSeconds: number;
  /** Real seconds after the storm, in which nodes ask on and nothing is killed. */
  readonly calmSeconds: number;
  /** Absent: no kills. */
  readonly secondsBetweenKills?: number;
  /** Hosts stand still for this many real seconds each time, and the demand's sender gives up what no host answers. Absent: they do not. */
  readonly standstillSeconds?: { readonly least: number; readonly most: number };
  readonly latencyMs?: number;
  /** What goes wrong with the storage of the hosts during the storm. */
  readonly storageWeather?: Weather;
}

export interface AutostopStormResult extends StopsJudged {
  readonly kills: number;
  readonly standstills: number;
  /** Real milliseconds. */
  readonly ask: Spread | undefined;
  /** Of the last value of the demand, when all was over. */
  readonly wanted: number;
  readonly alive: number;
  readonly misdeeds: number;
}

const SETTLE_SECONDS = 120;
const GIVE_UP_MS = 5000;

/** Nodes ask to stop while demand moves, hosts are killed and storage fails. Judged by what CycleCloud was asked for. */
export async function runAutostopStorm(options: AutostopStormOptions): Promise<AutostopStormResult> {
  const { nodes, demand: range, storageWeather, secondsBetweenKills } = options;
  const { uniform } = openRandomStream(options.seed);
  const parts = await startParts({
    checkout: options.checkout,
    simulator: clusterOf(nodes + range.most, 4, 2),
    speed: options.speed,
    hosts: options.hosts,
    proxies: storageWeather !== undefined,
    ...(options.latencyMs === undefined ? {} : { latencyMs: options.latencyMs }),
  });
  try {
    const demand = openMovingDemand(parts, uniform);
    await demand.set(nodes);
    await untilRunning(parts, nodes, () => demand.set(nodes));
    await demand.set(draw(range, uniform));
    const from = parts.clock.now();
    const endAt = Date.now() + options.stormSeconds * 1000;
    const asking = letNodesAsk(parts, options.spreadSeconds, uniform);
    setWeather(parts.proxies, storageWeather);
    const killing =
      secondsBetweenKills === undefined
        ? Promise.resolve({ count: 0 })
        : killHosts(parts.hosts, secondsBetweenKills, endAt, uniform);
    const { standstillSeconds } = options;
    const freezing =
      standstillSeconds === undefined
        ? Promise.resolve(0)
        : freezeHosts(parts.hosts, standstillSeconds, endAt, uniform);
    while (Date.now() < endAt) {
      await pause(options.moveSeconds * 1000);
      const count = draw(range, uniform);
      await (standstillSeconds === undefined ? demand.set(count) : demand.say(count, GIVE_UP_MS));
    }
    const [{ count: kills }, standstills] = await Promise.all([killing, freezing]);
    await demand.set(draw(range, uniform));
    setWeather(parts.proxies, undefined);
    await pause(options.calmSeconds * 1000);
    await asking.stop();
    // What was granted last reaches CycleCloud and its events reach us.
    await pause(2000);
    const { events } = parts.simulator;
    return {
      kills,
      standstills,
      ...judgeStops(events, asking.questions, demand.pushes, from),
      ask: spreadOf(asking.askMs),
      wanted: demand.pushes.at(-1)?.count ?? 0,
      alive: countAlive(events),
      misdeeds: sumOf([parts.proxies?.table, parts.proxies?.queue]),
    };
  } finally {
    await parts.close();
  }
}

/** A new record rests until its demand is pushed once more. */
async function untilRunning(parts: Parts, nodes: number, push: () => Promise<void>): Promise<void> {
  const url = parts.hosts[0]?.url ?? "";
  const seen = async () => (await stateOf(parts, url))?.nodes.byPhase["ready"] ?? 0;
  await until("all nodes are seen Ready", async () => (await seen()) >= nodes, SETTLE_SECONDS);
  await push();
  const settled = async () => {
    const state = await stateOf(parts, url);
    return state !== undefined && isSettled(state);
  };
  await until("scale-down does not rest", settled, SETTLE_SECONDS);
}

function setWeather(proxies: Parts["proxies"], weather: Weather | undefined): void {
  proxies?.table.setWeather(weather);
  proxies?.queue.setWeather(weather);
}

const draw = ({ least, most }: AutostopStormOptions["demand"], uniform: () => number): number =>
  Math.round(least + uniform() * (most - least));

function countAlive(events: readonly { readonly kind: string; readonly nodeId?: string }[]): number {
  const alive = new Set<string>();
  for (const { kind, nodeId = "" } of events) {
    if (kind === "node-created") alive.add(nodeId);
    else if (kind === "terminate-accepted" || kind === "node-gone") alive.delete(nodeId);
  }
  return alive.size;
}

function sumOf(proxies: readonly ({ readonly misdeeds: ReadonlyMap<string, number> } | undefined)[]): number {
  return proxies.flatMap((proxy) => [...(proxy?.misdeeds.values() ?? [])]).reduce((a, b) => a + b, 0);
}
