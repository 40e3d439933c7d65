import { QueueServiceClient } from "@azure/storage-queue";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PortError } from "../../src/app/ports/port-error.ts";
import { startLocalApp } from "../support/local-app.ts";
import { loseTicks } from "../support/lose-ticks.ts";
import type { Stage } from "./message-stage.ts";
import {
  ENCODINGS,
  lasting,
  quiet,
  rejected,
  shownRejections,
  shownSet,
  targets,
  text,
} from "./message-stage.ts";
import { paced } from "../support/patience.ts";

/** Messages that the host gave up on: they are tried once more, or put aside. */

/** The number of deliveries before the host gives up (host.json). */
const DELIVERIES = 5;

let stage: Stage;
let failuresLeft = 0;

beforeAll(async () => {
  const app = await startLocalApp({
    clusters: ["prod", "broken"],
    speed: paced(60),
    // Only messages cause plans here.
    settings: { "AzureWebJobs.snapshot.Disabled": "true" },
    decorate: (ports) => ({
      ...loseTicks(ports),
      store: {
        ...ports.store,
        load(cluster) {
          if (cluster !== "broken" || failuresLeft === 0) return ports.store.load(cluster);
          failuresLeft -= 1;
          return Promise.reject(new PortError("unreachable", "load record of broken", "no answer"));
        },
      },
    }),
  });
  stage = { app, queues: QueueServiceClient.fromConnectionString(app.azurite.connectionString) };
});
afterAll(() => stage.app.close());
beforeEach(async () => {
  await stage.queues.getQueueClient("demand-rejected").clearMessages();
});

describe("what the host has given up on", () => {
  const poisoned = async (body: string) => {
    const messageId = await stage.app.send("demand-poison", body);
    await quiet(stage);
    return messageId;
  };

  test.each([
    { name: "plain", pack: (plain: string) => plain },
    { name: "gzip", pack: (plain: string) => gzipSync(plain).toString("base64") },
  ])("$name, with its own revision and in time: tried once more", async ({ name, pack }) => {
    const revision = stage.app.clock.now() - 1000;
    await poisoned(pack(text(`poison-${name}`, { revision, expirationInterval: 3600 })));
    expect(await shownSet(stage, `poison-${name}`)).toMatchObject({ state: "live", revision });
    expect(await rejected(stage)).toEqual([]);
  });

  test.each([
    { name: "plain", pack: (plain: string) => plain },
    { name: "gzip", pack: (plain: string) => gzipSync(plain).toString("base64") },
  ])("$name, with its own revision but too late by it: put aside", async ({ name, pack }) => {
    const revision = stage.app.clock.now() - 400_000;
    const messageId = await poisoned(pack(text(`late-${name}`, { revision, expirationInterval: 300 })));
    expect(await shownSet(stage, `late-${name}`)).toBeUndefined();
    const problems = [{ path: "expirationInterval", found: "a message past its expiry" }];
    expect(await rejected(stage)).toMatchObject([{ messageId, set: `late-${name}`, problems }]);
    expect(await shownRejections(stage, messageId)).toMatchObject([{ set: `late-${name}`, problems }]);
  });

  test("without a revision of its own: put aside, as the copy hides how old it is", async () => {
    const messageId = await poisoned(text("no-revision"));
    expect(await shownSet(stage, "no-revision")).toBeUndefined();
    expect(await rejected(stage)).toMatchObject([
      { messageId, cluster: "prod", set: "no-revision", problems: [{ path: "revision" }] },
    ]);
  });

  test("unreadable: put aside with its problems", async () => {
    const messageId = await poisoned("not a message");
    expect(await rejected(stage)).toMatchObject([{ messageId, problems: [{ expected: ENCODINGS }] }]);
  });

  test("a wake message: dropped, since the timer makes it good", async () => {
    await poisoned(JSON.stringify({ version: 1, cluster: "prod", wake: true }));
    expect(await rejected(stage)).toEqual([]);
  });

  test("a message that failed as often as the host tries, and works when it is tried once more", async () => {
    failuresLeft = DELIVERIES;
    const revision = stage.app.clock.now();
    const message = { ...lasting, cluster: "broken", revision, expirationInterval: 7200 };
    await stage.app.send("demand", JSON.stringify({ ...message, nodearrays: targets(1) }));
    await expect
      .poll(
        () => stage.app.lines.filter((line) => line.includes("is moved to demand-poison: it failed 5 times")),
        { interval: 50 },
      )
      .toHaveLength(1);
    await quiet(stage);
    expect(failuresLeft).toBe(0);
    expect((await stage.app.call("GET", "/api/clusters/broken/request-sets/standard")).body).toMatchObject({
      state: "live",
      revision,
    });
    expect(await rejected(stage)).toEqual([]);
  });
});
