import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openRandomStream } from "../../src/local/workload/random.ts";
import type { AutostopStormOptions } from "../bench/loop/autostop-storm.ts";
import { runAutostopStorm } from "../bench/loop/autostop-storm.ts";
import type { PushStormOptions } from "../bench/loop/push-storm.ts";
import { runPushStorm } from "../bench/loop/push-storm.ts";
import { cyclecloudFaults, storageFaults } from "../bench/loop/weather.ts";

/*
 * Real processes: emulator, simulator and three function hosts, with proxies between them. What went right is read from the simulator's
 * own events, never from our answers. Seeds fix what is drawn; when a kill meets which call is the machine's affair.
 */

const checkout = fileURLToPath(new URL("../..", import.meta.url));

type PushStorm = Pick<
  PushStormOptions,
  "seed" | "secondsBetweenKills" | "storageWeather" | "cyclecloudWeather"
>;

/** Faults are drawn apart from all else, so that one call more does not move the messages. */
const faults = (seed: number): (() => number) => openRandomStream(seed).uniform;

/** A message that a dead host had taken, or whose delivery was lost on the way, shows again after ten minutes: the platform's rule. */
const MOST_SECONDS_TO_CONVERGE = 900;

test.each<PushStorm & { readonly name: string }>([
  { name: "hosts are killed", seed: 1, secondsBetweenKills: 2 },
  { name: "one in ten storage calls fails", seed: 2, storageWeather: storageFaults(0.1, faults(102)) },
  {
    name: "three in ten storage calls fail and hosts are killed",
    seed: 3,
    storageWeather: storageFaults(0.3, faults(103)),
    secondsBetweenKills: 8,
  },
  {
    name: "one in ten of CycleCloud's calls fails",
    seed: 4,
    cyclecloudWeather: cyclecloudFaults(0.1, faults(104)),
  },
  {
    name: "four in ten of CycleCloud's calls fail and hosts are killed",
    seed: 5,
    cyclecloudWeather: cyclecloudFaults(0.4, faults(105)),
    secondsBetweenKills: 8,
  },
])("40 sets rise while $name: nothing is lost, nothing is made twice", async ({ name, ...storm }) => {
  const result = await runPushStorm({
    checkout,
    hosts: 3,
    speed: 10,
    sets: 40,
    stormSeconds: 60,
    messageSeconds: 0.2,
    patienceSeconds: 120,
    ...storm,
  });
  process.stdout.write(`pushes, ${name}: ${JSON.stringify(result)}\n`);
  expect(result.created).toBe(result.wanted);
  expect(result.mostBeyondDemand).toBe(0);
  expect(result.requestIdsAgain).toBe(0);
  expect(result.terminated).toBe(0);
  expect(result.setsAtLastRevision).toBe(40);
  expect(result.messagesPutAside).toBe(0);
  expect(result.intentsLeft).toBe(0);
  expect(result.inFlightLeft).toBe(0);
  expect(result.convergedSeconds).toBeLessThanOrEqual(MOST_SECONDS_TO_CONVERGE);
});

type AutostopStorm = Pick<
  AutostopStormOptions,
  "seed" | "spreadSeconds" | "secondsBetweenKills" | "standstillSeconds" | "latencyMs" | "storageWeather"
>;

test.each<AutostopStorm & { readonly name: string }>([
  { name: "hosts are killed", seed: 11, spreadSeconds: 30, secondsBetweenKills: 3 },
  {
    name: "CycleCloud takes 500 ms a call and hosts are killed",
    seed: 12,
    spreadSeconds: 60,
    secondsBetweenKills: 3,
    latencyMs: 500,
  },
  {
    name: "one in ten storage calls fails and hosts are killed",
    seed: 13,
    spreadSeconds: 60,
    secondsBetweenKills: 8,
    storageWeather: storageFaults(0.1, faults(113)),
  },
  {
    // Of 60 to 135 s of the app's time: a question that waited is too old, and the next observation comes after an outage.
    name: "hosts stand still and go on",
    seed: 14,
    spreadSeconds: 60,
    standstillSeconds: { least: 20, most: 45 },
  },
])(
  "150 nodes ask to stop while demand moves, $name: never below acknowledged demand, and no node is lied to",
  async ({ name, ...storm }) => {
    const result = await runAutostopStorm({
      checkout,
      hosts: 3,
      speed: 3,
      nodes: 150,
      demand: { least: 20, most: 110 },
      moveSeconds: 6,
      stormSeconds: 70,
      calmSeconds: 50,
      ...storm,
    });
    process.stdout.write(`callbacks, ${name}: ${JSON.stringify(result)}\n`);
    expect(result.terminated).toBeGreaterThan(0);
    expect(result.stopsBelowDemand).toBe(0);
    expect(result.answered200AndNotStopped).toBe(0);
    expect(result.terminatedAfterStay).toBe(0);
    expect(result.terminatedAndNeverTold).toBe(0);
    expect(result.terminatedUnasked).toBe(0);
    expect(result.mostBeyondDemand).toBe(0);
    expect(result.alive).toBeGreaterThanOrEqual(result.wanted);
  },
);
