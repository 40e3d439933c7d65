import { afterAll, beforeAll, expect, test } from "vitest";
import { readStopUrl } from "../../src/local/play/stop-url.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { loseTicks } from "../support/lose-ticks.ts";

/** A minute is six seconds here, the timer is off, and wake messages are lost: who looks at CycleCloud is known. */
let app: LocalApp;
let stopPath: string | undefined;

beforeAll(async () => {
  app = await startLocalApp({
    clusters: ["prod"],
    speed: 10,
    settings: { "AzureWebJobs.snapshot.Disabled": "true" },
    decorate: loseTicks,
  });
  app.simulator.onEvent((event) => {
    if (event.kind !== "node-ready") return;
    stopPath = readStopUrl(event.configuration)?.replace("https://autoscaler.example", "");
  });
});
afterAll(() => app.close());

const statusCalls = () => app.simulator.summarize().statusCalls;
const askForFive = () =>
  Promise.all(
    [1, 2, 3, 4, 5].map(
      async (number) => (await app.callBare("GET", `${stopPath}?instance=unknown-${number}`)).status,
    ),
  );

test("unknown instances wait for one look, which nobody waits for: 503 first, then 404", async () => {
  await app.call("PUT", "/api/clusters/prod/request-sets/standard", {
    version: 1,
    nodearrays: [{ Name: "execute", TargetCount: 1 }],
  });
  await expect.poll(() => stopPath, { timeout: 10_000, interval: 20 }).toBeDefined();
  // A new record may not know of stops that are under way: nothing is unknown for 90 s.
  await app.clock.sleep(100_000);
  const before = statusCalls();
  expect(await askForFive()).toEqual([503, 503, 503, 503, 503]);
  await expect.poll(statusCalls, { timeout: 2000, interval: 20 }).toBe(before + 1);
  await app.clock.sleep(5000);
  expect(await askForFive()).toEqual([404, 404, 404, 404, 404]);
  expect(statusCalls()).toBe(before + 1);
});
