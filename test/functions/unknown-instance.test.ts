import { afterAll, beforeAll, expect, test } from "vitest";
import { instant } from "../../src/domain/units.ts";
import { readStopUrl } from "../../src/local/play/stop-url.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { loseTicks } from "../support/lose-ticks.ts";
import { paced } from "../support/patience.ts";

/** A minute is six seconds here, the timer is off, and wake messages are lost, so that only questions of nodes cause observations. */
let app: LocalApp;
let stopPath: string | undefined;
/** How far the functions' clock is ahead, in milliseconds. */
let ahead = 0;
/** The answer to a status call waits for this promise. */
let mayAnswer = Promise.resolve();

beforeAll(async () => {
  app = await startLocalApp({
    clusters: ["prod"],
    speed: paced(10),
    settings: { "AzureWebJobs.snapshot.Disabled": "true" },
    decorate: (ports) => ({
      ...loseTicks(ports),
      clock: { ...ports.clock, now: () => instant(ports.clock.now() + ahead) },
      sites: new Map(
        [...ports.sites].map(([name, site]) => {
          const { cyclecloud } = site;
          const status: typeof cyclecloud.status = async (cluster, now) => {
            const outcome = await cyclecloud.status(cluster, now);
            await mayAnswer;
            return outcome;
          };
          return [name, { ...site, cyclecloud: { ...cyclecloud, status } }];
        }),
      ),
    }),
  });
  app.simulator.onEvent((event) => {
    if (event.kind !== "node-ready") return;
    stopPath = readStopUrl(event.configuration)?.replace("https://autoscaler.example", "");
  });
});
afterAll(() => app.close());

const patiently = { interval: 20 };
const statusCalls = () => app.simulator.summarize().statusCalls;
const askForFive = () =>
  Promise.all(
    [1, 2, 3, 4, 5].map(
      async (number) => (await app.callBare("GET", `${stopPath}?instance=unknown-${number}`)).status,
    ),
  );

test("unknown instances wait for one observation, which nobody waits for: 503 first, then 404", async () => {
  await app.call("PUT", "/api/clusters/prod/request-sets/standard", {
    version: 1,
    nodearrays: [{ Name: "execute", TargetCount: 1 }],
  });
  await expect.poll(() => stopPath, patiently).toBeDefined();
  // A new record may not know of stops that are under way: for 90 s no instance counts as unknown.
  ahead = 100_000;
  const before = statusCalls();
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  mayAnswer = promise;
  expect(await askForFive()).toEqual([503, 503, 503, 503, 503]);
  answer();
  await expect.poll(askForFive, patiently).toEqual([404, 404, 404, 404, 404]);
  expect(statusCalls()).toBe(before + 1);
});
