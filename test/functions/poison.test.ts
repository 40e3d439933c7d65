import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../cli/run-command.ts";
import { startLocalApp } from "../support/local-app.ts";
import { loseTicks } from "../support/lose-ticks.ts";
import type { Stage } from "./message-stage.ts";
import { paced, PATIENCE_MS } from "../support/patience.ts";

/**
 * Messages that the host gives up on, or that the Functions library cannot hand to a function. They show with their age, and the timer
 * handles them.
 */

let stage: Stage;
/** A sweep takes 20 s at most, which are a real second here or more. */
const SPEED = paced(20);

beforeAll(async () => {
  const app = await startLocalApp({
    clusters: ["prod"],
    speed: SPEED,
    // Ticks run only when a test asks for one.
    settings: { "AzureWebJobs.snapshot.Disabled": "true" },
    decorate: loseTicks,
  });
  stage = { app, queues: QueueServiceClient.fromConnectionString(app.azurite.connectionString) };
  await app.call("POST", "/api/clusters/prod/tick");
});
afterAll(() => stage.app.close());
beforeEach(async () => {
  for (const name of ["demand", "demand-poison", "demand-rejected"])
    await stage.queues.getQueueClient(name).clearMessages();
});

const patiently = { interval: 50 };
const tick = () => stage.app.call("POST", "/api/clusters/prod/tick");
/** A tick empties demand-poison. On a busy machine the call may end first, or a message may come just after its sweep. */
const sweep = () =>
  expect
    .poll(async () => {
      await tick();
      return count("demand-poison");
    }, patiently)
    .toBe(0);
const clusters = async () => (await stage.app.call("GET", "/api/clusters")).body;
const health = async () => (await stage.app.callBare("GET", "/api/health")).body;
const count = async (name: string) =>
  (await stage.queues.getQueueClient(name).getProperties()).approximateMessagesCount;
const nested = (levels: number) =>
  `{"version":1,"cluster":"prod","nodearrays":[{"Name":"execute","TargetCount":1,"Deep":${"[".repeat(levels)}${"]".repeat(levels)}}]}`;

describe("messages nested thousands of levels deep", () => {
  const levels = [65, 1000, 3000, 5000, 8000, 30_000];

  test("sent to the queue: none vanishes, each is listed as rejected with a problem that names the depth", async () => {
    for (const depth of levels) await stage.app.send("demand", nested(depth));
    // A message that the library cannot parse fails five times, 30 s apart, and is then in demand-poison.
    await expect
      .poll(
        async () => {
          await sweep();
          return count("demand-rejected");
        },
        { timeout: 3 * PATIENCE_MS, interval: 200 },
      )
      .toBe(levels.length);
    expect(await clusters()).toMatchObject({
      poisonMessages: { count: 0 },
      rejectedMessages: {
        count: levels.length,
        oldestAgeSeconds: expect.any(Number),
        oldest: levels.map(() => ({
          problems: [{ found: "one level more", expected: "at most 64 levels of nesting" }],
        })),
      },
    });
  });

  test("that lie in demand-poison are counted with their age, before the timer comes by", async () => {
    const sent = Date.now();
    await stage.app.send("demand-poison", nested(6000));
    // The queue gives times in real seconds. The health page may be some seconds old.
    const isOld = (age: number) => age >= SPEED && age <= SPEED * ((Date.now() - sent) / 1000 + 1);
    const waiting = { count: 1, oldestAgeSeconds: expect.toSatisfy(isOld) };
    for (const page of [clusters, health])
      await expect
        .poll(page, patiently)
        .toMatchObject({ poisonMessages: waiting, rejectedMessages: { count: 0 } });
    const reach = ["--url", stage.app.host.url, "--key", stage.app.host.keys.host];
    expect((await runCommand(["status", ...reach])).out).toMatch(
      /\n1 message lies in demand-poison, the oldest for \d+[ms]\d*s?$/,
    );
    await sweep();
    // The health page may be some seconds old.
    await expect.poll(health, patiently).toMatchObject({
      poisonMessages: { count: 0 },
      rejectedMessages: { count: 1, oldestAgeSeconds: expect.any(Number) },
    });
  });
});

test("many messages that the host gave up on are dealt with in one tick", async () => {
  const revision = Date.now();
  for (let index = 0; index < 40; index += 1) {
    const more = index % 2 === 0 ? { revision } : {};
    await stage.app.send(
      "demand-poison",
      JSON.stringify({
        version: 1,
        cluster: "prod",
        requestSet: `set-${index}`,
        jobs: [],
        expirationInterval: 86_400,
        ...more,
      }),
    );
  }
  await tick();
  await expect.poll(() => count("demand-poison"), patiently).toBe(0);
  expect(stage.app.events.filter(({ event }) => event === "poison-not-swept")).toEqual([]);
  // Messages with a revision of their own are accepted. The others could be older than the demand that is held.
  expect(await count("demand-rejected")).toBe(20);
  const { body } = await stage.app.call("GET", "/api/clusters/prod");
  expect(body).toMatchObject({ demandCounts: { empty: 20 } });
});
