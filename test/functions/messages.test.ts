import { QueueServiceClient } from "@azure/storage-queue";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openDemandQueue } from "../../src/client/push.ts";
import { startLocalApp } from "../support/local-app.ts";
import { loseTicks } from "../support/lose-ticks.ts";
import type { Stage } from "./message-stage.ts";
import {
  generation,
  lasting,
  listIn,
  put,
  quiet,
  rejected,
  shownRejections,
  shownSet,
  targets,
  text,
  UNREADABLE,
} from "./message-stage.ts";
import { paced } from "../support/patience.ts";

/** All kinds of messages, as they show to the sender (queue and HTTP), on the state page, and in the queue of rejected messages. */

let stage: Stage;

beforeAll(async () => {
  const app = await startLocalApp({
    clusters: ["prod", "quiet", "broken"],
    speed: paced(60),
    // Only messages cause plans here.
    settings: { "AzureWebJobs.snapshot.Disabled": "true" },
    decorate: loseTicks,
  });
  stage = { app, queues: QueueServiceClient.fromConnectionString(app.azurite.connectionString) };
});
afterAll(() => stage.app.close());
beforeEach(async () => {
  await stage.queues.getQueueClient("demand-rejected").clearMessages();
});

describe("a message that cannot be read", () => {
  test.each(UNREADABLE)(
    "$name: named whole to everybody who looks",
    async ({ sent, problems, onStatePage, http }) => {
      const before = await generation(stage);
      const messageId = await stage.app.send("demand", sent);
      await quiet(stage);
      expect(await rejected(stage)).toMatchObject([{ messageId, problems }]);
      expect(await shownRejections(stage, messageId)).toMatchObject(
        onStatePage ? [{ messageId, problems }] : [],
      );
      const all = await stage.app.call("GET", "/api/clusters");
      expect(all.body).toMatchObject({ rejectedMessages: { count: 1, oldest: [{ messageId, problems }] } });
      // A reader may see the list, but only an operator the texts.
      expect(JSON.stringify(all.body)).toContain(`"text":"text of ${sent.length} characters"`);
      const texts = await stage.app.call("GET", "/api/rejected-messages");
      expect(texts.body).toMatchObject({ count: 1, oldest: [{ messageId, problems }] });
      expect(listIn(texts.body, "oldest")).toMatchObject([{ text: sent }]);
      expect(await generation(stage)).toBe(before);

      const answer = await put(stage, "elsewhere", sent);
      expect(answer).toMatchObject({ status: http, type: "application/problem+json" });
      expect(listIn(answer.body, "problems").length).toBeGreaterThan(0);
      expect(await generation(stage)).toBe(before);
    },
  );

  test("an unknown cluster: put aside with the nearest known one, and 404 over HTTP", async () => {
    const messageId = await stage.app.send(
      "demand",
      JSON.stringify({ version: 1, cluster: "prodd", nodearrays: targets(1) }),
    );
    await quiet(stage);
    const problem = {
      path: "cluster",
      found: '"prodd"',
      expected: "a known cluster: prod, quiet, broken",
      didYouMean: "prod",
    };
    expect(await rejected(stage)).toMatchObject([
      { messageId, cluster: "prodd", set: "standard", problems: [problem] },
    ]);
    expect(await shownRejections(stage, messageId)).toEqual([]);
    expect(
      await stage.app.call("PUT", "/api/clusters/prodd/request-sets/standard", { version: 1 }),
    ).toMatchObject({
      status: 404,
      body: {
        title: "Unknown cluster",
        detail: 'cluster "prodd" is not in AUTOSCALER_CLUSTERS (known: prod, quiet, broken)',
      },
    });
  });
});

test("nonsense that somebody put among the rejected messages is counted, and hides none of them", async () => {
  const nonsense = { messageId: "m", rejectedAt: 1e308, problems: [], text: "" };
  await stage.app.send("demand-rejected", JSON.stringify(nonsense));
  const counted = { count: 1, oldest: [] };
  expect(await stage.app.call("GET", "/api/clusters")).toMatchObject({
    status: 200,
    body: { rejectedMessages: counted },
  });
  expect(await stage.app.call("GET", "/api/rejected-messages")).toMatchObject({ status: 200, body: counted });
});

describe("a message that has nothing to say any more", () => {
  test("expired: delivered after its time, it is acknowledged and leaves no trace but in the log", async () => {
    // A real second is two seconds of the app's clock or more.
    await stage.queues.getQueueClient("demand").sendMessage(text("expired", { expirationInterval: 1 }), {
      visibilityTimeout: 1,
    });
    await quiet(stage);
    expect(stage.app.events).toContainEqual(
      expect.objectContaining({ event: "demand", set: "expired", outcome: "stale" }),
    );
    expect(await shownSet(stage, "expired")).toBeUndefined();
    expect(await rejected(stage)).toEqual([]);
    expect(await put(stage, "expired", { version: 1, expirationInterval: 0.0001, jobs: [] })).toMatchObject({
      status: 409,
      body: { title: "Expired" },
    });
  });

  test("older than what is held: acknowledged, the newer demand stays, 409 over HTTP", async () => {
    // Revisions are in real time, however fast the app's clock is.
    const revision = Date.now();
    await put(stage, "older", { ...lasting, revision, nodearrays: targets(1) });
    await stage.app.send("demand", text("older", { revision: revision - 1, nodearrays: targets(1, 2) }));
    await quiet(stage);
    expect(await shownSet(stage, "older")).toMatchObject({ revision, demands: 1, state: "live" });
    expect(await rejected(stage)).toEqual([]);
    expect(
      await put(stage, "older", { ...lasting, revision: revision - 1, nodearrays: targets(1, 2) }),
    ).toMatchObject({
      status: 409,
      type: "application/problem+json",
      body: {
        title: "Older revision",
        detail: expect.stringMatching(
          new RegExp(
            `^revision ${revision - 1} is older than ${revision}, which is held(: this sender's clock is behind, .*)?; send a later revision or none, or use another request set$`,
          ),
        ),
        held: revision,
      },
    });
  });

  test("equal revision, same demand: accepted again, and nothing changes", async () => {
    const revision = stage.app.clock.now();
    expect(await put(stage, "equal", { ...lasting, revision, nodearrays: targets(1) })).toMatchObject({
      status: 202,
      body: { changed: true },
    });
    const before = await generation(stage);
    await stage.app.send("demand", text("equal", { revision }));
    await quiet(stage);
    expect(await put(stage, "equal", { ...lasting, revision, nodearrays: targets(1) })).toMatchObject({
      status: 202,
      body: { changed: false, revision },
    });
    expect(await generation(stage)).toBe(before);
    expect(await rejected(stage)).toEqual([]);
  });

  test("equal revision, another demand: one of the two wins, the same in both orders", async () => {
    const revision = stage.app.clock.now();
    const one = targets(1);
    const two = targets(1, 2);
    const forth = [await put(stage, "forth", { ...lasting, revision, nodearrays: one })];
    forth.push(await put(stage, "forth", { ...lasting, revision, nodearrays: two }));
    await stage.app.send("demand", text("back", { revision, nodearrays: two }));
    await quiet(stage);
    await stage.app.send("demand", text("back", { revision, nodearrays: one }));
    await quiet(stage);
    const winner = (await shownSet(stage, "forth"))?.["demands"];
    expect([1, 2]).toContain(winner);
    expect((await shownSet(stage, "back"))?.["demands"]).toBe(winner);
    expect(forth.map(({ status }) => status)).toEqual(winner === 2 ? [202, 202] : [202, 409]);
    expect(await rejected(stage)).toEqual([]);
  });

  test("a duplicate: delivered twice, it counts once", async () => {
    const before = Number(await generation(stage));
    const sent = text("duplicate");
    await Promise.all([stage.app.send("demand", sent), stage.app.send("demand", sent)]);
    await quiet(stage);
    expect(await generation(stage)).toBe(before + 1);
    expect(await shownSet(stage, "duplicate")).toMatchObject({ state: "live", demands: 1 });
    expect(await rejected(stage)).toEqual([]);
  });
});

describe("size and packing", () => {
  test.each([
    { name: "plain", pack: (plain: string) => plain },
    { name: "base64", pack: (plain: string) => Buffer.from(plain).toString("base64") },
    { name: "gzip", pack: (plain: string) => gzipSync(plain).toString("base64") },
    { name: "64-KiB", pack: (plain: string) => plain.padEnd(64 * 1024) },
  ])("$name: accepted like any other", async ({ name, pack }) => {
    await stage.app.send("demand", pack(text(name)));
    await quiet(stage);
    expect(await shownSet(stage, name)).toMatchObject({ state: "live", demands: 1 });
    expect(await rejected(stage)).toEqual([]);
    expect(await put(stage, `${name}-http`, pack(text(`${name}-http`)))).toMatchObject({ status: 202 });
  });

  test("over 64 KiB: the queue refuses it, and our client says so before, with advice", async () => {
    await expect(stage.app.send("demand", text("big").padEnd(64 * 1024 + 1))).rejects.toMatchObject({
      statusCode: 413,
    });
    const jobs = Array.from({ length: 20_000 }, (_, index) => ({
      name: `job-${(index * 2_654_435_761) % 4_294_967_296}`,
    }));
    const client = openDemandQueue(stage.app.azurite.connectionString);
    const pushed = await client.push(
      { version: 1, cluster: "prod", requestSet: "a b", jobs },
      stage.app.clock.now(),
    );
    expect(pushed).toMatchObject({
      kind: "too-large",
      limit: 65_536,
      advice: expect.stringMatching(/over HTTP: PUT \/api\/clusters\/prod\/request-sets\/a%20b$/),
    });
    await quiet(stage);
    expect(await rejected(stage)).toEqual([]);
  });

  test("more than 32 MiB unpacked: 413 over HTTP; from the queue put aside from 4 MiB on", async () => {
    const bomb = gzipSync(" ".repeat(32 * 1024 * 1024 + 1)).toString("base64");
    expect(await put(stage, "bomb", bomb)).toMatchObject({
      status: 413,
      type: "application/problem+json",
      body: { title: "Too large" },
    });
    const messageId = await stage.app.send("demand", bomb);
    await quiet(stage);
    expect(await rejected(stage)).toMatchObject([
      {
        messageId,
        problems: [{ found: "more than 4 MiB", expected: "at most 4 MiB of JSON, unpacked" }],
      },
    ]);
  });
});

test("one bad job among good ones: it is refused by name, the others stand", async () => {
  const jobs = [{ name: "good" }, { name: "bad", iterations: -1 }, { name: "fine", iterations: 2 }];
  const rejectedJobs = [
    {
      name: "bad",
      problems: [{ path: "jobs[1].iterations", found: "-1", expected: "a whole number, 1 or more" }],
    },
  ];
  await stage.app.send("demand", text("jobs", { nodearrays: [], jobs }));
  await quiet(stage);
  expect(await shownSet(stage, "jobs")).toMatchObject({ state: "live", demands: 2, rejectedJobs });
  expect(await rejected(stage)).toEqual([]);
  expect(await put(stage, "jobs", { ...lasting, jobs })).toMatchObject({
    status: 202,
    body: {
      rejectedJobs,
      notes: [
        "job good asks for no amount: one node per slot",
        "job fine asks for no amount: one node per slot",
      ],
    },
  });
});

test("a wake message asks only for a plan", async () => {
  const planOf = async () => (await stage.app.call("GET", "/api/clusters/quiet")).body;
  expect(await planOf()).not.toHaveProperty("plan");
  await stage.app.send("demand", JSON.stringify({ version: 1, cluster: "quiet", wake: true }));
  await quiet(stage);
  expect(await planOf()).toMatchObject({ plan: { number: 1 }, demand: [], generation: 0 });
});
