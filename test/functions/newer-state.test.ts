import { TableClient } from "@azure/data-tables";
import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { RECORD_KEY, clusterPartition } from "../../src/adapters/tables/keys.ts";
import { STATE_VERSION } from "../../src/domain/record.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { paced } from "../support/patience.ts";

/** Two releases side by side: the newer one has written the record of "rolling", and this one reads it. */

/** A message is put back for 30 s, which is one real second. */
const SPEED = paced(30);
let app: LocalApp;
let table: TableClient;

beforeAll(async () => {
  app = await startLocalApp({
    clusters: ["rolling"],
    table: "azurite",
    speed: SPEED,
    settings: { "AzureWebJobs.snapshot.Disabled": "true" },
  });
  table = TableClient.fromConnectionString(app.azurite.connectionString, "autoscaler", {
    allowInsecureConnection: true,
  });
  await app.call("PUT", "/api/clusters/rolling/request-sets/first", { version: 1, jobs: [{ name: "a" }] });
  await setStateVersion(STATE_VERSION + 1);
});
afterAll(() => app.close());

async function setStateVersion(stateVersion: number): Promise<void> {
  const partitionKey = clusterPartition("rolling");
  await table.updateEntity({ partitionKey, rowKey: RECORD_KEY, stateVersion }, "Merge");
}

const patiently = { interval: 20 };
const count = (event: string, set: string, more: object = {}) =>
  app.events.filter(
    (logged) =>
      logged.event === event &&
      logged["set"] === set &&
      Object.entries(more).every(([key, value]) => logged[key] === value),
  ).length;
const left = async (name: string) => {
  const service = QueueServiceClient.fromConnectionString(app.azurite.connectionString);
  return (await service.getQueueClient(name).getProperties()).approximateMessagesCount;
};

test("demand is put back, with the revision and the expiry it had, until the newer release takes it", async () => {
  const message = { version: 1, cluster: "rolling", requestSet: "waits", expirationInterval: 3600 };
  const before = { ours: app.clock.now(), real: Date.now() };
  await app.send("demand", JSON.stringify({ ...message, jobs: [{ name: "b" }] }));
  const after = { ours: app.clock.now(), real: Date.now() };
  await expect.poll(() => count("put-back", "waits"), patiently).toBeGreaterThanOrEqual(2);
  expect(app.lines.filter((line) => line.includes("(Failed)"))).toEqual([]);
  expect(await left("demand-poison")).toBe(0);

  await setStateVersion(STATE_VERSION);
  await expect.poll(() => count("demand", "waits", { outcome: "accepted" }), patiently).toBe(1);
  const { body } = await app.call("GET", "/api/clusters/rolling/request-sets/waits");
  const { revision, expiresAt } = z.object({ revision: z.number(), expiresAt: z.string() }).parse(body);
  await setStateVersion(STATE_VERSION + 1);
  // A revision is a moment of the senders' clock, which is real. The queue gives times in seconds, each of which is 30 s of the app's
  // clock.
  expect(revision).toBeGreaterThan(before.real - 1000);
  expect(revision).toBeLessThanOrEqual(after.real + 1000);
  const sentAt = Date.parse(expiresAt) - 3_600_000;
  expect(sentAt).toBeGreaterThan(before.ours - 4 * SPEED * 1000);
  expect(sentAt).toBeLessThan(after.ours + 4 * SPEED * 1000);
});

test("a message whose time ends meanwhile goes no further rounds", async () => {
  const message = { version: 1, cluster: "rolling", requestSet: "ends", expirationInterval: 60 };
  await app.send("demand", JSON.stringify({ ...message, jobs: [{ name: "b" }] }));
  await expect.poll(() => count("demand", "ends", { outcome: "stale" }), patiently).toBe(1);
  expect(count("put-back", "ends")).toBeGreaterThan(0);
  await expect.poll(() => left("demand"), patiently).toBe(0);
  expect(await app.peek("demand-rejected")).toEqual([]);
});

test("a wake message and a bad message are done with at once", async () => {
  await app.send("demand", JSON.stringify({ version: 1, cluster: "rolling", wake: true }));
  await app.send("demand", JSON.stringify({ version: 1, cluster: "rolling", jobs: 5 }));
  await expect.poll(() => left("demand"), patiently).toBe(0);
  await expect.poll(() => app.peek("demand-rejected"), patiently).toHaveLength(1);
  expect(app.events).toContainEqual({ event: "reconcile-left-to-other-release", cluster: "rolling" });
});

test("over HTTP: 503 with a time to come again, and the versions only for who has a key", async () => {
  const versions = `its state version is ${STATE_VERSION + 1} and this release knows only ${STATE_VERSION}`;
  const asked = [
    await app.call("PUT", "/api/clusters/rolling/request-sets/first", { version: 1, jobs: [] }),
    await app.call("GET", "/api/clusters/rolling"),
  ];
  for (const answer of asked) {
    expect(answer).toMatchObject({
      status: 503,
      type: "application/problem+json",
      retryAfter: "30",
      body: { title: "Cannot tell now", detail: expect.stringContaining(versions) },
    });
  }
  const all = await app.call("GET", "/api/clusters");
  const note = expect.stringContaining(versions);
  expect(all).toMatchObject({
    status: 200,
    body: { clusters: [{ cluster: "rolling", health: { ok: false, notes: [note], warnings: [] } }] },
  });
  const health = await app.callBare("GET", "/api/health");
  expect(health).toMatchObject({
    status: 503,
    body: { ok: false, clusters: 1, oldestLookAgeSeconds: null },
  });
});

test("a record of a build before 0.1.0 is met in the same way, and the answer says what to do", async () => {
  await setStateVersion(STATE_VERSION - 1);
  const answer = await app.call("GET", "/api/clusters/rolling");
  await setStateVersion(STATE_VERSION + 1);
  const detail = expect.stringContaining("this release needs an empty table");
  expect(answer).toMatchObject({ status: 503, body: { title: "Cannot tell now", detail } });
});
