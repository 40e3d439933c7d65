import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { paced } from "../support/patience.ts";

/** The functions of an app with two wrong settings, one of which is a secret. */
const SECRET = "too-short:";
let app: LocalApp;

beforeAll(async () => {
  app = await startLocalApp({
    clusters: ["prod"],
    speed: paced(60),
    settings: {
      AUTOSCALER_CLUSTERS:
        '[{"name":"prod","url":"https://c.example","username":"u","passwordSetting":"NOT_SET"}]',
      AUTOSCALER_AUTOSTOP_KEYS: SECRET,
    },
  });
});
afterAll(() => app.close());

const said = (name: string) =>
  app.lines.filter((line) => line.startsWith(`{"event":"settings-unusable","function":"${name}"`));

test("a route with a key: 503 that names every setting and what it should hold, but not what it holds", async () => {
  const answer = await app.call("GET", "/api/clusters");
  expect(answer).toMatchObject({
    status: 503,
    type: "application/problem+json",
    retryAfter: "60",
    body: {
      title: "The app settings have problems",
      detail: "AUTOSCALER_CLUSTERS[0].passwordSetting, AUTOSCALER_AUTOSTOP_KEYS",
      settings: [
        {
          setting: "AUTOSCALER_CLUSTERS[0].passwordSetting",
          expected: 'the name of an app setting that holds the password of u for cluster "prod"',
        },
        { setting: "AUTOSCALER_AUTOSTOP_KEYS", expected: expect.stringContaining("id:secret pairs") },
      ],
    },
  });
  expect((await app.call("GET", "/api/clusters/prod/config")).status).toBe(503);
  expect(said("clusters")).toHaveLength(1);
  expect(JSON.stringify([answer, app.lines])).not.toContain(SECRET);
});

test.each(["/api/health", "/api/autostop/prod/token?instance=i"])(
  "%s, which is anonymous: 503 without any name",
  async (path) => {
    expect(await app.callBare("GET", path)).toMatchObject({
      status: 503,
      body: { title: "The app settings have problems", detail: "the log names them" },
    });
  },
);

test("timer and queue: one line each time, and the message stays with the host", async () => {
  const patiently = { interval: 20 };
  await app.call("GET", "/api/clusters");
  await expect.poll(() => said("snapshot").length, patiently).toBeGreaterThan(1);
  // The queues do not exist yet: the app needs settings to create them.
  await QueueServiceClient.fromConnectionString(app.azurite.connectionString).createQueue("demand");
  await app.send("demand", '{"version":1,"cluster":"prod"}');
  // The host delivers it again after a while.
  const failed = () => app.lines.filter((line) => line.startsWith("Executed 'demand' (Failed): ConfigError"));
  await expect.poll(failed, patiently).not.toEqual([]);
  await expect.poll(() => said("demand").length - failed().length, patiently).toBe(0);
});
