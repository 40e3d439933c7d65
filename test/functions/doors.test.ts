import { QueueServiceClient } from "@azure/storage-queue";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { composition } from "../../src/compose.ts";
import { clusterName, setName } from "../../src/domain/ids.ts";
import { instant } from "../../src/domain/units.ts";
import { emptyRequestSet } from "../../src/wire/message/demand-message.ts";
import { runCommand } from "../cli/run-command.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { paced } from "../support/patience.ts";

/** The simplest forms of messages that were once refused, or accepted and lost. */

const SPEED = paced(60);
let app: LocalApp;
let queues: QueueServiceClient;

beforeAll(async () => {
  app = await startLocalApp({ clusters: ["prod"], speed: SPEED });
  queues = QueueServiceClient.fromConnectionString(app.azurite.connectionString);
});
afterAll(() => app.close());

const patiently = { interval: 50 };
const setPath = (set: string) => `/api/clusters/prod/request-sets/${set}`;
const NAME =
  'text of 1 to 200 characters, without "/", "\\", "%2F", control and direction characters, and not "." or ".."';
const SECONDS = "milliseconds since 1970, 100000000000 or more: this looks like seconds; multiply by 1000";

/** The names of the request sets in the cluster's answer. */
async function shownSets(): Promise<ReadonlyMap<unknown, unknown>> {
  const { body } = await app.call("GET", "/api/clusters/prod");
  const sets: unknown = typeof body === "object" && body !== null ? Reflect.get(body, "demand") : [];
  return new Map(Array.isArray(sets) ? sets.map((one) => [one.requestSet, one.state]) : []);
}

async function rejectedTexts(): Promise<readonly Record<string, unknown>[]> {
  return (await app.peek("demand-rejected")).map((text): Record<string, unknown> => JSON.parse(text));
}

/** A job as scalelib's Job.to_dict() writes it, with all nine keys. */
const written = (name: string, more: object) => ({
  name,
  constraints: [{ ncpus: 4 }],
  iterations: 1,
  "iterations-remaining": 1,
  "node-count": 0,
  colocated: false,
  "packing-strategy": "pack",
  "executing-hostnames": [],
  metadata: { job_state: "queued" },
  ...more,
});

describe("jobs as scalelib writes them", () => {
  const jobs = [
    written("slots", { iterations: 3, "iterations-remaining": 2 }),
    written("pbs", { "node-count": 1 }),
    written("packed", { iterations: 4, "iterations-remaining": 4, "node-count": 4 }),
    written("scattered", { "node-count": 2, "packing-strategy": "scatter" }),
  ];
  const placed = [
    { id: "slots", asked: 2, placed: 2 },
    { id: "pbs", asked: 1, placed: 1 },
    { id: "packed", asked: 4, placed: 4 },
    { id: "scattered", asked: 2, placed: 2 },
  ];

  test.each(["PUT", "queue"])("are all accepted and placed: %s", async (door) => {
    const set = `scalelib-${door}`;
    const message = { version: 1, cluster: "prod", requestSet: set, expirationInterval: 3600, jobs };
    if (door === "PUT")
      expect(await app.call("PUT", setPath(set), message)).toMatchObject({
        status: 202,
        body: { rejectedJobs: [] },
      });
    else await app.send("demand", JSON.stringify(message));
    await expect
      .poll(async () => (await app.call("GET", setPath(set))).body, patiently)
      .toMatchObject({
        rejectedJobs: [],
        observed: true,
        outcomes: placed.map((one) => ({ ...one, metadata: { job_state: "queued" } })),
      });
    const explained = await app.call("GET", `/api/clusters/prod/explain?job=packed&set=${set}`);
    expect(explained).toMatchObject({
      status: 200,
      body: {
        metadata: { job_state: "queued" },
        text: expect.stringMatching(/\nmetadata: \{"job_state":"queued"\}$/),
      },
    });
    const reach = ["--url", app.host.url, "--key", app.host.keys.host, "--cluster", "prod"];
    expect((await runCommand(["demand", "-s", set, ...reach])).out).toMatch(
      /^packed +4 +4 +\d+ +0 +slots +\{"job_state":"queued"\}$/m,
    );
    expect(await app.call("DELETE", setPath(set))).toMatchObject({ status: 202 });
  });
});

test("exclusive as a key of the job: each slot has a node of its own", async () => {
  const jobs = [{ name: "alone", iterations: 3, constraints: { ncpus: 1 }, exclusive: true }];
  const answer = await app.call("POST", "/api/clusters/prod/plan", { requestSets: { exclusive: { jobs } } });
  expect(answer).toMatchObject({ status: 200, body: { rejectedJobs: [] } });
  const { body } = await app.call("PUT", setPath("exclusive"), {
    version: 1,
    jobs,
    expirationInterval: 3600,
  });
  expect(body).toMatchObject({ rejectedJobs: [] });
  await expect
    .poll(async () => (await app.call("GET", "/api/clusters/prod/explain?job=alone")).body, patiently)
    .toMatchObject({ asked: 3, placed: 3, places: expect.toSatisfy((places) => nodesOf(places) === 3) });
  await app.call("DELETE", setPath("exclusive"));
});

const nodesOf = (places: readonly { readonly nodes: number }[]): number =>
  places.reduce((sum, { nodes }) => sum + nodes, 0);

describe("a name that no address can hold", () => {
  const problem = (found: string) => ({
    status: 400,
    body: { problems: [{ path: "requestSet", found, expected: NAME }] },
  });

  test.each([
    { method: "GET", name: "team%2Fa", found: '"team%2Fa"' },
    { method: "PUT", name: "team%2Fa", found: '"team%2Fa"' },
    { method: "DELETE", name: "team%2Fa", found: '"team%2Fa"' },
    { method: "DELETE", name: "team%2fa", found: '"team%2Fa"' },
    { method: "DELETE", name: "team%252fa", found: '"team%2fa"' },
    { method: "DELETE", name: "team%5Ca", found: '"team\\\\a"' },
    { method: "DELETE", name: "team%0Aa", found: '"team\\na"' },
  ])("$method of the set $name is refused, and changes no set", async ({ method, name, found }) => {
    const body = method === "PUT" ? { version: 1, jobs: [] } : undefined;
    expect(await app.call(method, setPath(name), body)).toMatchObject(problem(found));
    expect([...(await shownSets()).keys()]).not.toContain("team%2Fa");
  });

  test.each([
    { path: setPath(".."), name: ".." },
    { path: setPath("."), name: "." },
    { path: setPath("%2e%2e"), name: ".." },
  ])("DELETE $path as no client of ours sends it is refused", async ({ path }) => {
    const { hostname, port } = new URL(app.host.url);
    const status = await new Promise((resolve, reject) => {
      const headers = { "x-functions-key": app.host.keys.host };
      request({ hostname, port, path, method: "DELETE", headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });
    expect([400, 404]).toContain(status);
  });

  test("in the queue goes to the rejected messages", async () => {
    const message = { version: 1, cluster: "prod", requestSet: "team/a", jobs: [{ name: "j" }] };
    const id = await app.send("demand", JSON.stringify(message));
    await expect
      .poll(async () => (await rejectedTexts()).find(({ messageId }) => messageId === id), patiently)
      .toMatchObject({ problems: [{ path: "requestSet", found: '"team/a"', expected: NAME }] });
  });

  test.each([
    { words: ["demand", "-s", "team/a", "-c", "prod"] },
    { words: ["demand", "-c", ".."] },
    { words: ["set", "--name", "execute", "--instancecount", "1", "-s", "..", "-c", "prod"] },
  ])("on the command line is refused before anything is sent: $words", async ({ words }) => {
    const reach = ["--url", app.host.url, "--key", app.host.keys.host];
    const ended = await runCommand([...words, ...reach]);
    expect(ended).toMatchObject({ code: 2, out: "" });
    expect(ended.err).toContain(`is invalid. Expected ${NAME}.`);
  });

  test("in a file that is pushed too, over HTTP as by the queue", async () => {
    const files = { message: { version: 1, cluster: "prod", requestSet: "..", jobs: [] } };
    const over = [
      ["--url", app.host.url, "--key", app.host.keys.host],
      ["--queue", app.azurite.connectionString],
    ];
    for (const door of over)
      expect(await runCommand(["push", "message", ...door], files)).toEqual({
        code: 2,
        out: "",
        err: `message: requestSet: found "..", expected ${NAME}`,
      });
  });

  test("of a set that was stored under such a name: it is shown, and lapses like any other", async () => {
    const now = instant(app.clock.now());
    // Three minutes of this clock are three seconds.
    const { ends: _over, ...update } = emptyRequestSet(
      clusterName("prod"),
      setName("team/a"),
      { value: now, tieBreak: "" },
      now,
      180,
    );
    expect(await composition().recorder.record(update)).toMatchObject({ kind: "accepted" });
    expect((await shownSets()).get("team/a")).toBe("empty");
    await expect.poll(async () => (await shownSets()).get("team/a"), patiently).toBe("lapsed");
    const { body } = await app.call("POST", "/api/clusters/prod/tick");
    expect(body).toMatchObject({ outcome: expect.not.stringContaining("failed") });
  });

  test("one with a direction character too: it can be read and emptied, and PUT is refused", async () => {
    const name = "team\u202ea";
    const at = setPath(encodeURIComponent(name));
    const missing = await app.call("GET", at);
    expect(missing).toMatchObject({
      status: 404,
      body: { detail: 'cluster "prod" has no request set "team\\u{202e}a"' },
    });
    const now = instant(app.clock.now());
    const { ends: _over, ...update } = emptyRequestSet(
      clusterName("prod"),
      setName(name),
      { value: Date.now() - 60_000, tieBreak: "" },
      now,
      3600,
    );
    expect(await composition().recorder.record(update)).toMatchObject({ kind: "accepted" });
    expect(await app.call("GET", at)).toMatchObject({ status: 200, body: { requestSet: name } });
    expect(await app.call("PUT", at, { version: 1, jobs: [] })).toMatchObject({
      status: 400,
      body: { problems: [{ path: "requestSet", found: '"team\\u{202e}a"', expected: NAME }] },
    });
    expect(await app.call("DELETE", at)).toMatchObject({ status: 202 });
    const reach = ["--url", app.host.url, "--key", app.host.keys.host, "--cluster", "prod"];
    expect((await runCommand(["demand", ...reach])).out).toContain("team\\u{202e}a");
  });
});

describe("a revision in seconds", () => {
  const seconds = 1_763_636_400;
  const message = { version: 1, cluster: "prod", requestSet: "seconds", revision: seconds, jobs: [] };
  const problems = [{ path: "revision", found: "1763636400", expected: SECONDS }];

  test("is refused over HTTP", async () => {
    expect(await app.call("PUT", setPath("seconds"), message)).toMatchObject({
      status: 400,
      body: { problems },
    });
  });

  test.each(["demand", "demand-poison"])("goes to the rejected messages: %s", async (queue) => {
    await queues.getQueueClient("demand-rejected").clearMessages();
    await app.send(queue, JSON.stringify(message));
    await expect.poll(rejectedTexts, patiently).toMatchObject([{ problems }]);
  });

  test("is refused on the command line, before it is sent", async () => {
    const ended = await runCommand(["push", "message", "--queue", app.azurite.connectionString], { message });
    expect(ended).toEqual({
      code: 2,
      out: "",
      err: `message: revision: found 1763636400, expected ${SECONDS}`,
    });
  });

  test("is refused in a dry run", async () => {
    const answer = await app.call("POST", "/api/clusters/prod/plan", {
      requestSets: { seconds: { revision: seconds, jobs: [] } },
    });
    expect(answer).toMatchObject({
      status: 400,
      body: { problems: [{ path: "requestSets.seconds.revision", expected: SECONDS }] },
    });
  });
});

describe("a revision that is two days old, of a set of which nothing is remembered", () => {
  const revision = () => Date.now() - 2 * 86_400_000;
  const message = () => ({ version: 1, cluster: "prod", requestSet: "old", revision: revision(), jobs: [] });

  test("is stale over HTTP, and the answer says what to do", async () => {
    expect(await app.call("PUT", setPath("old"), message())).toMatchObject({
      status: 409,
      body: {
        title: "Stale revision",
        detail: expect.stringMatching(
          /^revision \d+ \(.*\) is from before .*; send a later revision or none$/,
        ),
      },
    });
    expect((await app.call("GET", setPath("old"))).status).toBe(404);
  });

  test("is stale in the queue", async () => {
    await app.send("demand", JSON.stringify(message()));
    await expect
      .poll(() => app.events.filter(({ event, set }) => event === "demand" && set === "old"), patiently)
      .toMatchObject([{ outcome: "stale" }]);
  });
});
