import { QueueClient } from "@azure/storage-queue";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { openRandomStream } from "../../../src/local/workload/random.ts";
import { clusterOf } from "./clusters.ts";
import { call, stateOf, stateUrl } from "./doors.ts";
import type { CreatesJudged } from "./judge-creates.ts";
import { judgeCreates } from "./judge-creates.ts";
import type { Kills } from "./killer.ts";
import { killHosts } from "./killer.ts";
import type { Parts } from "./parts.ts";
import { allProxies, startParts } from "./parts.ts";
import type { Proxy, Weather } from "./proxy.ts";
import type { RisingSets } from "./rising-sets.ts";
import { openRisingSets } from "./rising-sets.ts";

export interface PushStormOptions {
  readonly checkout: string;
  readonly seed: number;
  readonly hosts: number;
  /** Simulated seconds in a real one. */
  readonly speed: number;
  readonly sets: number;
  /** Real. */
  readonly stormSeconds: number;
  /** Real seconds between two messages, on average. */
  readonly messageSeconds: number;
  /** How long is waited for the end state, real. */
  readonly patienceSeconds: number;
  /** Absent: no kills. */
  readonly secondsBetweenKills?: number;
  /** What goes wrong with tables and queues, and with CycleCloud, during the storm. */
  readonly storageWeather?: Weather;
  readonly cyclecloudWeather?: Weather;
}

export interface PushStormResult extends CreatesJudged {
  readonly kills: number;
  readonly misdeeds: number;
  readonly messages: number;
  readonly puts: Readonly<Record<string, number>>;
  readonly sets: number;
  /** Sets of which the app holds the last revision that was sent. */
  readonly setsAtLastRevision: number;
  /** Simulated seconds from the last kill, fault or message to the last node; 0: it was there before. Undefined: it never came. */
  readonly convergedSeconds: number | undefined;
  readonly intentsLeft: number | undefined;
  readonly inFlightLeft: number | undefined;
  /** In demand-poison and demand-rejected. */
  readonly messagesPutAside: number;
}

/** Demand rises, by PUT and through the queue, while hosts are killed and calls fail. Judged by what CycleCloud was asked for. */
export async function runPushStorm(options: PushStormOptions): Promise<PushStormResult> {
  const { uniform } = openRandomStream(options.seed);
  const parts = await startParts({
    checkout: options.checkout,
    simulator: clusterOf(5000, 4, 2),
    speed: options.speed,
    hosts: options.hosts,
    proxies: true,
  });
  try {
    const sets = openRisingSets(parts, options.sets, uniform);
    await sets.raiseAll();
    setWeather(parts, options);
    const endAt = Date.now() + options.stormSeconds * 1000;
    const { secondsBetweenKills } = options;
    const killing: Promise<Kills> =
      secondsBetweenKills === undefined
        ? Promise.resolve({ count: 0, lastAt: undefined })
        : killHosts(parts.hosts, secondsBetweenKills, endAt, uniform);
    while (Date.now() < endAt) {
      await pause(2 * uniform() * options.messageSeconds * 1000);
      sets.raiseOne();
    }
    const { count: kills } = await killing;
    setWeather(parts, {});
    // Sent again and again until a host has it: what is acknowledged must not be lost.
    await sets.ended();
    const calmAt = parts.clock.now();
    await untilAtRest(parts, sets, options.patienceSeconds);
    return { kills, ...(await resultOf(parts, sets, calmAt)) };
  } finally {
    await parts.close();
  }
}

function setWeather(
  { proxies }: Parts,
  { storageWeather, cyclecloudWeather }: Pick<PushStormOptions, "storageWeather" | "cyclecloudWeather">,
): void {
  proxies?.table.setWeather(storageWeather);
  proxies?.queue.setWeather(storageWeather);
  for (const proxy of proxies?.cyclecloud ?? []) proxy.setWeather(cyclecloudWeather);
}

/** All nodes exist, and the app has nothing more to do; and some time more, in which nothing else may happen. */
async function untilAtRest(parts: Parts, sets: RisingSets, patienceSeconds: number): Promise<void> {
  const end = Date.now() + patienceSeconds * 1000;
  while (Date.now() < end) {
    await pause(500);
    const { created, wanted } = judgeCreates(parts.simulator.events, sets.wanted);
    const state = created < wanted ? undefined : await stateOf(parts, parts.hosts[0]?.url ?? "");
    if (state === undefined) continue;
    const { generation, observedGeneration, intents, inFlight } = state;
    if (generation === observedGeneration && intents.length + inFlight.length === 0) break;
  }
  await parts.clock.sleep(AFTERWARDS_SECONDS * 1000);
}

/** Two ticks and the longest time that a create may be late. */
const AFTERWARDS_SECONDS = 300;

async function resultOf(
  parts: Parts,
  sets: RisingSets,
  calmAt: number,
): Promise<Omit<PushStormResult, "kills">> {
  const judged = judgeCreates(parts.simulator.events, sets.wanted);
  const { completeAt } = judged;
  const state = await stateOf(parts, parts.hosts[0]?.url ?? "");
  const held = await Promise.all(sets.last().map(({ set }) => revisionOf(parts, set)));
  return {
    ...judged,
    misdeeds: allProxies(parts.proxies).reduce((sum, proxy) => sum + misdeedsOf(proxy), 0),
    messages: sets.messages(),
    puts: sets.puts(),
    sets: held.length,
    setsAtLastRevision: sets.last().filter(({ revision }, index) => held[index] === revision).length,
    convergedSeconds: completeAt === undefined ? undefined : Math.max(0, completeAt - calmAt) / 1000,
    intentsLeft: state?.intents.length,
    inFlightLeft: state?.inFlight.length,
    messagesPutAside:
      (await countMessages(parts, "demand-poison")) + (await countMessages(parts, "demand-rejected")),
  };
}

const revisionPage = z.object({ revision: z.number() });

async function revisionOf({ hosts, key }: Parts, set: string): Promise<number | undefined> {
  const url = `${stateUrl(hosts[0]?.url ?? "")}/request-sets/${set}`;
  const { body } = await call(url, { headers: { "x-functions-key": key } });
  return revisionPage.safeParse(body).data?.revision;
}

async function countMessages({ connectionString }: Parts, name: string): Promise<number> {
  const { approximateMessagesCount = 0 } = await new QueueClient(connectionString, name).getProperties();
  return approximateMessagesCount;
}

const misdeedsOf = ({ misdeeds }: Proxy): number =>
  [...misdeeds.values()].reduce((sum, count) => sum + count, 0);
