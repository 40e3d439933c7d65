import { QueueServiceClient } from "@azure/storage-queue";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PortError } from "../../src/app/ports/port-error.ts";
import { sweepPoison } from "../../functions/poison.ts";
import { openDemandQueue } from "../../src/client/push.ts";
import { composition } from "../../src/compose.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { loseTicks } from "../support/lose-ticks.ts";

/** What becomes of every kind of message: seen by its sender (queue and HTTP), on the state page, and in the queue of rejected ones. */

const SPEED = 60;
/** As many deliveries as the host makes before it gives up (host.json). */
const DELIVERIES = 5;

let app: LocalApp;
let queues: QueueServiceClient;
let failuresLeft = 0;

beforeAll(async () => {
  app = await startLocalApp({
    clusters: ["prod", "quiet", "broken"],
    speed: SPEED,
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
  queues = QueueServiceClient.fromConnectionString(app.azurite.connectionString);
});
afterAll(() => app.close());
beforeEach(async () => {
  await queues.getQueueClient("demand-rejected").clearMessages();
});

const patiently = { timeout: 10_000, interval: 20 };

/** All messages in hand and in the queues have been dealt with; the timer, which deals with the second, does not run here. */
async function quiet(): Promise<void> {
  for (const name of ["demand", "demand-poison"]) {
    if (name === "demand-poison") await sweepPoison(composition());
    await expect
      .poll(
        async () => (await queues.getQueueClient(name).getProperties()).approximateMessagesCount,
        patiently,
      )
      .toBe(0);
  }
}

async function rejected(): Promise<readonly Record<string, unknown>[]> {
  const texts = await app.peek("demand-rejected");
  return texts.map((text): Record<string, unknown> => JSON.parse(text));
}

/** The set as the state page shows it; undefined if it does not. */
async function shownSet(name: string): Promise<Record<string, unknown> | undefined> {
  const { body } = await app.call("GET", "/api/clusters/prod");
  return listIn(body, "demand").find((set) => set["requestSet"] === name);
}

async function shownRejections(messageId: string): Promise<readonly Record<string, unknown>[]> {
  const { body } = await app.call("GET", "/api/clusters/prod");
  return listIn(body, "rejections").filter((rejection) => rejection["messageId"] === messageId);
}

/** A list of objects in a JSON answer. */
function listIn(body: unknown, key: string): readonly Record<string, unknown>[] {
  const list: unknown = typeof body === "object" && body !== null ? Reflect.get(body, key) : undefined;
  if (!Array.isArray(list)) throw new Error(`no list "${key}" in ${JSON.stringify(body)}`);
  return list;
}

const generation = async () => {
  const { body } = await app.call("GET", "/api/clusters/prod");
  return typeof body === "object" && body !== null ? Reflect.get(body, "generation") : undefined;
};

/** A target for the array "other", which has ten nodes at most. */
const targets = (...counts: readonly number[]) =>
  counts.map((count) => ({ Name: "other", TargetCount: count }));
/** An hour of ours is a minute. */
const lasting = { version: 1, expirationInterval: 3600 };
const text = (requestSet: string, more: object = {}) =>
  JSON.stringify({ ...lasting, cluster: "prod", requestSet, nodearrays: targets(1), ...more });
const put = (requestSet: string, body: unknown) =>
  app.call("PUT", `/api/clusters/prod/request-sets/${requestSet}`, body);

const ENCODINGS = "JSON, base64 of JSON, or base64 of gzipped JSON";
const KEYS =
  "one of the keys version, cluster, requestSet, revision, expirationInterval, nodearrays, jobs, schedulerNodes, pools";

describe("a message that cannot be read", () => {
  test.each([
    {
      name: "not JSON",
      sent: "demand: 3 nodes",
      problems: [{ path: "", found: "text of 15 characters", expected: ENCODINGS }],
      onStatePage: false,
      http: 400,
    },
    {
      name: "undecodable: gzip that is cut off",
      sent: gzipSync(text("cut")).subarray(0, 40).toString("base64"),
      problems: [{ path: "", found: "gzip data that is cut off or damaged", expected: ENCODINGS }],
      onStatePage: false,
      http: 400,
    },
    {
      name: "JSON that is no message",
      sent: "[1,2]",
      problems: [{ path: "", found: "list of 2 items", expected: "an object: a demand message" }],
      onStatePage: false,
      http: 400,
    },
    {
      name: "wrong types, all of them at once",
      sent: text("wrong-types", { expirationInterval: "300", nodearrays: 5 }),
      problems: [
        { path: "expirationInterval", found: '"300"', expected: "a number of seconds above 0" },
        { path: "nodearrays", found: "5", expected: "a list of objects, or one object" },
      ],
      onStatePage: true,
      http: 400,
    },
    {
      name: "an unknown key, with the nearest known one",
      sent: text("unknown-key", { nodearray: [] }),
      problems: [{ path: "", found: '"nodearray"', expected: `${KEYS}, wake`, didYouMean: "nodearrays" }],
      onStatePage: true,
      http: 400,
    },
    {
      name: "a revision of the future",
      sent: text("future", { revision: 4_000_000_000_000 }),
      problems: [
        {
          path: "revision",
          found: "4000000000000",
          expected: expect.stringContaining("milliseconds since 1970, at most 5 minutes ahead of"),
        },
      ],
      onStatePage: true,
      http: 400,
    },
    {
      name: "a wake message with a wrong value",
      sent: JSON.stringify({ version: 1, cluster: "prod", wake: "yes" }),
      problems: [{ path: "wake", found: "text of 3 characters", expected: "true" }],
      onStatePage: true,
      http: 400,
    },
  ])("$name: named whole to everybody who looks", async ({ sent, problems, onStatePage, http }) => {
    const before = await generation();
    const messageId = await app.send("demand", sent);
    await quiet();
    expect(await rejected()).toMatchObject([{ messageId, problems }]);
    expect(await shownRejections(messageId)).toMatchObject(onStatePage ? [{ messageId, problems }] : []);
    const all = await app.call("GET", "/api/clusters");
    expect(all.body).toMatchObject({ rejectedMessages: { count: 1, oldest: [{ messageId, problems }] } });
    // The list is a reader's, the texts are an operator's.
    expect(JSON.stringify(all.body)).toContain(`"text":"text of ${sent.length} characters"`);
    const texts = await app.call("GET", "/api/rejected-messages");
    expect(texts.body).toMatchObject({ count: 1, oldest: [{ messageId, problems }] });
    expect(listIn(texts.body, "oldest")).toMatchObject([{ text: sent }]);
    expect(await generation()).toBe(before);

    const answer = await put("elsewhere", sent);
    expect(answer).toMatchObject({ status: http, type: "application/problem+json" });
    expect(listIn(answer.body, "problems").length).toBeGreaterThan(0);
    expect(await generation()).toBe(before);
  });

  test("an unknown cluster: put aside with the nearest known one, and 404 over HTTP", async () => {
    const messageId = await app.send(
      "demand",
      JSON.stringify({ version: 1, cluster: "prodd", nodearrays: targets(1) }),
    );
    await quiet();
    const problem = {
      path: "cluster",
      found: '"prodd"',
      expected: "a known cluster: prod, quiet, broken",
      didYouMean: "prod",
    };
    expect(await rejected()).toMatchObject([
      { messageId, cluster: "prodd", set: "standard", problems: [problem] },
    ]);
    expect(await shownRejections(messageId)).toEqual([]);
    expect(await app.call("PUT", "/api/clusters/prodd/request-sets/standard", { version: 1 })).toMatchObject({
      status: 404,
      body: {
        title: "Unknown cluster",
        detail: 'cluster "prodd" is not in AUTOSCALER_CLUSTERS (known: prod, quiet, broken)',
      },
    });
  });
});

describe("a message that has nothing to say any more", () => {
  test("expired: delivered after its time, it is acknowledged and leaves no trace but in the log", async () => {
    // Two real seconds are 120 of ours.
    await queues.getQueueClient("demand").sendMessage(text("expired", { expirationInterval: 30 }), {
      visibilityTimeout: 2,
    });
    await quiet();
    expect(app.events).toContainEqual(
      expect.objectContaining({ event: "demand", set: "expired", outcome: "stale" }),
    );
    expect(await shownSet("expired")).toBeUndefined();
    expect(await rejected()).toEqual([]);
    expect(await put("expired", { version: 1, expirationInterval: 0.0001, jobs: [] })).toMatchObject({
      status: 409,
      body: { title: "Expired" },
    });
  });

  test("older than what is held: acknowledged, the newer demand stays, 409 over HTTP", async () => {
    // Senders go by real time, however fast the app's clock is.
    const revision = Date.now();
    await put("older", { ...lasting, revision, nodearrays: targets(1) });
    await app.send("demand", text("older", { revision: revision - 1, nodearrays: targets(1, 2) }));
    await quiet();
    expect(await shownSet("older")).toMatchObject({ revision, demands: 1, state: "live" });
    expect(await rejected()).toEqual([]);
    expect(
      await put("older", { ...lasting, revision: revision - 1, nodearrays: targets(1, 2) }),
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
    const revision = app.clock.now();
    expect(await put("equal", { ...lasting, revision, nodearrays: targets(1) })).toMatchObject({
      status: 202,
      body: { changed: true },
    });
    const before = await generation();
    await app.send("demand", text("equal", { revision }));
    await quiet();
    expect(await put("equal", { ...lasting, revision, nodearrays: targets(1) })).toMatchObject({
      status: 202,
      body: { changed: false, revision },
    });
    expect(await generation()).toBe(before);
    expect(await rejected()).toEqual([]);
  });

  test("equal revision, another demand: one of the two wins, the same in both orders", async () => {
    const revision = app.clock.now();
    const one = targets(1);
    const two = targets(1, 2);
    const forth = [await put("forth", { ...lasting, revision, nodearrays: one })];
    forth.push(await put("forth", { ...lasting, revision, nodearrays: two }));
    await app.send("demand", text("back", { revision, nodearrays: two }));
    await quiet();
    await app.send("demand", text("back", { revision, nodearrays: one }));
    await quiet();
    const winner = (await shownSet("forth"))?.["demands"];
    expect([1, 2]).toContain(winner);
    expect((await shownSet("back"))?.["demands"]).toBe(winner);
    expect(forth.map(({ status }) => status)).toEqual(winner === 2 ? [202, 202] : [202, 409]);
    expect(await rejected()).toEqual([]);
  });

  test("a duplicate: delivered twice, it counts once", async () => {
    const before = Number(await generation());
    const sent = text("duplicate");
    await Promise.all([app.send("demand", sent), app.send("demand", sent)]);
    await quiet();
    expect(await generation()).toBe(before + 1);
    expect(await shownSet("duplicate")).toMatchObject({ state: "live", demands: 1 });
    expect(await rejected()).toEqual([]);
  });
});

describe("size and packing", () => {
  test.each([
    { name: "plain", pack: (plain: string) => plain },
    { name: "base64", pack: (plain: string) => Buffer.from(plain).toString("base64") },
    { name: "gzip", pack: (plain: string) => gzipSync(plain).toString("base64") },
    { name: "64-KiB", pack: (plain: string) => plain.padEnd(64 * 1024) },
  ])("$name: accepted like any other", async ({ name, pack }) => {
    await app.send("demand", pack(text(name)));
    await quiet();
    expect(await shownSet(name)).toMatchObject({ state: "live", demands: 1 });
    expect(await rejected()).toEqual([]);
    expect(await put(`${name}-http`, pack(text(`${name}-http`)))).toMatchObject({ status: 202 });
  });

  test("over 64 KiB: the queue refuses it, and our client says so before, with advice", async () => {
    await expect(app.send("demand", text("big").padEnd(64 * 1024 + 1))).rejects.toMatchObject({
      statusCode: 413,
    });
    const jobs = Array.from({ length: 20_000 }, (_, index) => ({
      name: `job-${(index * 2_654_435_761) % 4_294_967_296}`,
    }));
    const client = openDemandQueue(app.azurite.connectionString);
    const pushed = await client.push(
      { version: 1, cluster: "prod", requestSet: "a b", jobs },
      app.clock.now(),
    );
    expect(pushed).toMatchObject({
      kind: "too-large",
      limit: 65_536,
      advice: expect.stringMatching(/over HTTP: PUT \/api\/clusters\/prod\/request-sets\/a%20b$/),
    });
    await quiet();
    expect(await rejected()).toEqual([]);
  });

  test("more than 32 MiB unpacked: 413 over HTTP; from the queue put aside from 4 MiB on", async () => {
    const bomb = gzipSync(" ".repeat(32 * 1024 * 1024 + 1)).toString("base64");
    expect(await put("bomb", bomb)).toMatchObject({
      status: 413,
      type: "application/problem+json",
      body: { title: "Too large" },
    });
    const messageId = await app.send("demand", bomb);
    await quiet();
    expect(await rejected()).toMatchObject([
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
  await app.send("demand", text("jobs", { nodearrays: [], jobs }));
  await quiet();
  expect(await shownSet("jobs")).toMatchObject({ state: "live", demands: 2, rejectedJobs });
  expect(await rejected()).toEqual([]);
  expect(await put("jobs", { ...lasting, jobs })).toMatchObject({
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
  const planOf = async () => (await app.call("GET", "/api/clusters/quiet")).body;
  expect(await planOf()).not.toHaveProperty("plan");
  await app.send("demand", JSON.stringify({ version: 1, cluster: "quiet", wake: true }));
  await quiet();
  expect(await planOf()).toMatchObject({ plan: { number: 1 }, demand: [], generation: 0 });
});

describe("what the host has given up on", () => {
  const poisoned = async (body: string) => {
    const messageId = await app.send("demand-poison", body);
    await quiet();
    return messageId;
  };

  test.each([
    { name: "plain", pack: (plain: string) => plain },
    { name: "gzip", pack: (plain: string) => gzipSync(plain).toString("base64") },
  ])("$name, with its own revision and in time: tried once more", async ({ name, pack }) => {
    const revision = app.clock.now() - 1000;
    await poisoned(pack(text(`poison-${name}`, { revision, expirationInterval: 3600 })));
    expect(await shownSet(`poison-${name}`)).toMatchObject({ state: "live", revision });
    expect(await rejected()).toEqual([]);
  });

  test.each([
    { name: "plain", pack: (plain: string) => plain },
    { name: "gzip", pack: (plain: string) => gzipSync(plain).toString("base64") },
  ])("$name, with its own revision but too late by it: put aside", async ({ name, pack }) => {
    const revision = app.clock.now() - 400_000;
    const messageId = await poisoned(pack(text(`late-${name}`, { revision, expirationInterval: 300 })));
    expect(await shownSet(`late-${name}`)).toBeUndefined();
    const problems = [{ path: "expirationInterval", found: "a message past its expiry" }];
    expect(await rejected()).toMatchObject([{ messageId, set: `late-${name}`, problems }]);
    expect(await shownRejections(messageId)).toMatchObject([{ set: `late-${name}`, problems }]);
  });

  test("without a revision of its own: put aside, as the copy hides how old it is", async () => {
    const messageId = await poisoned(text("no-revision"));
    expect(await shownSet("no-revision")).toBeUndefined();
    expect(await rejected()).toMatchObject([
      { messageId, cluster: "prod", set: "no-revision", problems: [{ path: "revision" }] },
    ]);
  });

  test("unreadable: put aside with its problems", async () => {
    const messageId = await poisoned("not a message");
    expect(await rejected()).toMatchObject([{ messageId, problems: [{ expected: ENCODINGS }] }]);
  });

  test("a wake message: dropped, since the timer makes it good", async () => {
    await poisoned(JSON.stringify({ version: 1, cluster: "prod", wake: true }));
    expect(await rejected()).toEqual([]);
  });

  test("a message that failed as often as the host tries, and works when it is tried once more", async () => {
    failuresLeft = DELIVERIES;
    const revision = app.clock.now();
    const message = { ...lasting, cluster: "broken", revision, expirationInterval: 7200 };
    await app.send("demand", JSON.stringify({ ...message, nodearrays: targets(1) }));
    await expect
      .poll(() => app.lines.filter((line) => line.includes("is moved to demand-poison: it failed 5 times")), {
        timeout: 20_000,
        interval: 50,
      })
      .toHaveLength(1);
    await quiet();
    expect(failuresLeft).toBe(0);
    expect((await app.call("GET", "/api/clusters/broken/request-sets/standard")).body).toMatchObject({
      state: "live",
      revision,
    });
    expect(await rejected()).toEqual([]);
  });
});
