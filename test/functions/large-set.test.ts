import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { putDemand } from "../../src/client/push.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";

/** The largest request set that must be accepted (docs/demand.md), through client, HTTP, Table Storage and a plan. */
const JOBS = 100_000;
let app: LocalApp;

beforeAll(async () => {
  app = await startLocalApp({
    clusters: ["prod"],
    speed: 1,
    settings: { "AzureWebJobs.snapshot.Disabled": "true" },
  });
});
afterAll(() => app.close());

test("100,000 distinct jobs over HTTP are durable, planned and shown", async () => {
  const jobs = Array.from({ length: JOBS }, (_, index) => ({
    name: `job-${index}`,
    constraints: { ncpus: 1 + (index % 4) },
    priority: index % 7,
  }));
  const began = Date.now();
  const message = {
    version: 1,
    cluster: "prod",
    requestSet: "large",
    expirationInterval: 3600,
    jobs,
  } as const;
  const answer = await putDemand({ url: app.host.url, key: app.host.keys.host }, message, app.clock.now());
  const acknowledged = Date.now();
  expect(answer).toMatchObject({ status: 202, body: { changed: true, rejectedJobs: [] } });
  await expect.poll(() => app.events.some(({ event }) => event === "plan"), { interval: 20 }).toBe(true);
  const planned = Date.now();
  const { body } = await app.call("GET", "/api/clusters/prod");
  const shown = Date.now();
  // Twenty nodes of four cores run at most 80 jobs of one core. All others are counted, and the first 2,000 of them are listed.
  expect(body).toMatchObject({
    demand: [{ requestSet: "large", demands: JOBS, state: "live" }],
    plan: { number: 1, demands: JOBS },
  });
  const { plan } = z
    .object({ plan: z.object({ unmetCount: z.number(), unmet: z.array(z.unknown()) }) })
    .parse(body);
  expect(plan.unmetCount).toBeGreaterThanOrEqual(JOBS - 80);
  expect(plan.unmet).toHaveLength(2000);
  process.stdout.write(
    `100,000 jobs, ${(JSON.stringify(message).length / 1e6).toFixed(1)} MB: acknowledged after ${acknowledged - began} ms, planned after ${planned - began} ms, state page in ${shown - planned} ms\n`,
  );
});
