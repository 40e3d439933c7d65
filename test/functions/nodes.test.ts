import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { readStopUrl } from "../../src/local/play/stop-url.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { patiently, problemJson, SPEED, stateOf, target } from "./api-stage.ts";

/** The cluster's nodes in the HTTP API, and the answers to nodes that ask their stop URL (docs/http.md). */

let app: LocalApp;
/** The stop URL that each node found in its configuration, by instance id. */
const stopUrls = new Map<string, string>();

beforeAll(async () => {
  app = await startLocalApp({ clusters: ["prod", "two words"], speed: SPEED });
  app.simulator.onEvent((event) => {
    if (event.kind !== "node-ready") return;
    const url = readStopUrl(event.configuration);
    if (url !== undefined) stopUrls.set(event.instanceId, url);
  });
});
afterAll(() => app.close());

describe("the state page", () => {
  test("shows each node with why it stays, and what each array could still get", async () => {
    await app.call("PUT", "/api/clusters/prod/request-sets/page", target(2, { expirationInterval: 3600 }));
    await expect
      .poll(
        async () => (await stateOf(app, "prod")).nodes.list.filter(({ why }) => why.includes("page")),
        patiently,
      )
      .toMatchObject([
        { array: "execute", phase: "ready", why: "needed by page/nodearray:execute" },
        { array: "execute", phase: "ready", why: "needed by page/nodearray:execute" },
      ]);
    await expect
      .poll(async () => (await app.call("GET", "/api/clusters/prod")).body, patiently)
      .toMatchObject({
        health: { ok: true, clusterState: "Started (target Started)" },
        nodearrays: [
          {
            name: "execute",
            managed: true,
            buckets: [{ machineType: "Standard_F4", vcpus: 4, active: 2, available: 8, max: 10 }],
          },
          { name: "other", managed: true },
        ],
        intents: [],
        inFlight: [],
      });
    await app.call("DELETE", "/api/clusters/prod/request-sets/page");
  });

  test("says when a tick could not look, and recovers", async () => {
    const path = "/api/clusters/two%20words";
    app.simulator.faults.failNext({ method: "GET", pathIncludes: "two%20words/status" }, 1000, {
      status: 500,
      body: "no",
    });
    await expect
      .poll(async () => (await app.call("POST", `${path}/tick`)).body, patiently)
      .toMatchObject({ outcome: "troubled", trouble: { kind: "unexpected" } });
    const health = async () => (await stateOf(app, "two words")).health;
    await expect.poll(health, patiently).toMatchObject({
      ok: false,
      notes: expect.arrayContaining([
        expect.stringContaining("CycleCloud's answer is unexpected: GET /clusters/two%20words/status"),
      ]),
    });
    app.simulator.faults.clear();
    await expect
      .poll(async () => (await app.call("POST", `${path}/tick`)).body, patiently)
      .toMatchObject({ outcome: "planned", plan: expect.any(Number) });
    await expect.poll(health, patiently).toMatchObject({ ok: true });
  });
});

describe("explain", () => {
  const explain = (query: string) => app.call("GET", `/api/clusters/prod/explain?${query}`);

  test("a job and a node in words and as data; an unknown name with the nearest", async () => {
    await app.call("PUT", "/api/clusters/prod/request-sets/why", {
      version: 1,
      expirationInterval: 3600,
      jobs: [
        { name: "small", iterations: 2, constraints: { ncpus: 1 } },
        { name: "wide", constraints: { ncpus: 64 } },
      ],
    });
    await expect
      .poll(async () => (await explain("job=wide&set=why")).body, patiently)
      .toMatchObject({
        cluster: "prod",
        set: "why",
        asked: 1,
        placed: 0,
        binding: { kind: "too-large", asked: 64, offered: 4 },
        reasons: [{ code: "does-not-fit" }, { code: "does-not-fit" }],
        text: expect.stringContaining("needs 64 ncpus on one node; the largest offered is 4"),
      });
    const small = z.object({
      pending: z.number(),
      places: z.array(z.object({ origin: z.string(), name: z.string().optional() })),
    });
    const ready = async () => small.parse((await explain("job=small")).body);
    await expect.poll(ready, patiently).toMatchObject({ pending: 0, places: [{ origin: "existing" }] });
    const node = (await ready()).places[0]?.name ?? "";
    expect(await explain(`node=${encodeURIComponent(node)}`)).toMatchObject({
      status: 200,
      body: {
        kind: "node",
        neededBy: ["why/small"],
        load: [{ set: "why", id: "small", slots: 2 }],
        timeouts: { idleSeconds: 300, bootSeconds: 3600 },
        text: expect.stringMatching(/\nits timeouts: idle 300 s, boot 3600 s$/),
      },
    });
    expect(await explain("job=smal")).toMatchObject({
      status: 404,
      type: problemJson,
      body: {
        title: "Unknown job",
        detail: 'cluster "prod" has no job "smal" (nearest: small)',
        nearest: ["small"],
      },
    });
    expect(await explain("node=nobody-of-this-name")).toMatchObject({
      status: 404,
      body: { title: "Unknown node" },
    });
    expect((await app.call("GET", "/api/clusters/prod/request-sets/why")).body).toMatchObject({
      outcomes: [
        { id: "small" },
        { id: "wide", binding: expect.stringContaining("the largest offered is 4") },
      ],
    });
    await app.call("DELETE", "/api/clusters/prod/request-sets/why");
  });

  test("neither a job nor a node, or both: 400", async () => {
    expect(await explain("")).toMatchObject({
      status: 400,
      type: problemJson,
      body: { detail: "found neither, expected one of the parameters job and node" },
    });
    expect(await explain("job=a&node=b")).toMatchObject({ status: 400 });
  });
});

describe("history", () => {
  const historyRows = z.object({ rows: z.array(z.object({ at: z.string(), plan: z.number() })) });
  const read = async (query: string) =>
    historyRows.parse((await app.call("GET", `/api/clusters/prod/history${query}`)).body).rows;

  test("a row per tick, newest first, by time and number", async () => {
    await expect.poll(async () => (await read("")).length, patiently).toBeGreaterThanOrEqual(3);
    const rows = await read("");
    const times = rows.map(({ at }) => at);
    expect(times).toEqual(times.toSorted().toReversed());
    const plans = rows.map(({ plan }) => plan);
    expect(plans).toEqual(plans.toSorted((a, b) => b - a));
    const [newest, second, third] = rows;
    expect(await read(`?limit=1&to=${newest?.at}`)).toEqual([newest]);
    expect(await read(`?from=${third?.at}&to=${second?.at}`)).toEqual([second, third]);
    expect(await read("?to=2000-01-01")).toEqual([]);
  });

  test("a question that makes no sense: 400, all of it named", async () => {
    expect(await app.call("GET", "/api/clusters/prod/history?from=noon&to=&limit=0")).toMatchObject({
      status: 400,
      type: problemJson,
      body: {
        problems: [
          { path: "from", found: '"noon"' },
          { path: "to", found: '""' },
          { path: "limit", found: '"0"', expected: "a whole number from 1 to 10000" },
        ],
      },
    });
  });
});

describe("history of nodes", () => {
  const path = "/api/clusters/prod/history/nodes";
  const lives = z.object({
    cluster: z.literal("prod"),
    rows: z.array(z.object({ nodeId: z.string(), askedAt: z.string(), requestSets: z.array(z.string()) })),
    next: z.string().optional(),
  });
  const read = async (query: string) => lives.parse((await app.call("GET", `${path}${query}`)).body);

  test("each node with who asked for it and when, in pages", async () => {
    await app.call("PUT", "/api/clusters/prod/request-sets/lives", target(2, { expirationInterval: 3600 }));
    await expect.poll(async () => (await read("")).rows.length, patiently).toBeGreaterThanOrEqual(2);
    const { rows, next } = await read("?limit=2000&to=2999-01-01");
    expect(next).toBeUndefined();
    expect(await read("?to=2000-01-01")).toEqual({ cluster: "prod", rows: [] });
    expect(await read("?from=2999-01-01")).toMatchObject({ rows: rows.map(({ nodeId }) => ({ nodeId })) });
    const first = await read("?limit=1");
    expect(first.rows).toMatchObject([{ nodeId: rows[0]?.nodeId }]);
    const second = await read(`?limit=1&page=${first.next}`);
    expect(second.rows).toMatchObject([{ nodeId: rows[1]?.nodeId }]);
    const told = await app.call("GET", `/api/clusters/prod/explain?node=${rows[0]?.nodeId}`);
    expect(told).toMatchObject({
      status: 200,
      body: { kind: "node", history: { askedAt: rows[0]?.askedAt } },
    });
    await app.call("DELETE", "/api/clusters/prod/request-sets/lives");
  });

  test("a question that makes no sense: 400, all of it named", async () => {
    expect(await app.call("GET", `${path}?from=noon&to=&limit=2001&page=nodes.list:5`)).toMatchObject({
      status: 400,
      type: problemJson,
      body: {
        problems: [
          { path: "from", found: '"noon"' },
          { path: "to", found: '""' },
          { path: "limit", found: '"2001"', expected: "a whole number from 1 to 2000" },
          { path: "page", found: '"nodes.list:5"', expected: "the value of next in an answer" },
        ],
      },
    });
    expect(await app.call("GET", "/api/clusters/none/history/nodes")).toMatchObject({ status: 404 });
  });
});

describe("autostop", () => {
  // An observation counts for two intervals: long enough here for a machine that is busy with other tests.
  beforeAll(async () => {
    await app.call("PUT", "/api/clusters/prod/config", { snapshotInterval: 600 });
  });

  /** Ready nodes of the array, with the path of their stop URL. */
  const readyNodes = async (array: string) =>
    (await stateOf(app, "prod")).nodes.list.flatMap(({ array: of, phase, instanceId }) => {
      const url = instanceId === undefined ? undefined : stopUrls.get(instanceId);
      return of === array && phase === "ready" && instanceId !== undefined && url !== undefined
        ? [{ instance: instanceId, path: url.slice("https://autoscaler.example".length) }]
        : [];
    });
  const ask = (path: string, query: string, method = "GET", headers: Readonly<Record<string, string>> = {}) =>
    app.callBare(method, `${path}${query}`, headers);
  /** Asks again until the answer is clear, as nodes do. An answer has a time limit of 15 s of the app's clock, and a busy machine may take longer. */
  const askUntilTold = (...question: Parameters<typeof ask>): ReturnType<typeof ask> =>
    vi.waitFor(async () => {
      const answer = await ask(...question);
      if (answer.status === 503) throw new Error(JSON.stringify(answer.body));
      return answer;
    }, patiently);

  test("needed, spare, asked again, gone; other arrays, tokens and instances", async () => {
    const set = "/api/clusters/prod/request-sets/work";
    const lasting = { expirationInterval: 36_000 };
    await app.call("PUT", set, target(3, lasting));
    await app.call("PUT", "/api/clusters/prod/request-sets/side", {
      version: 1,
      ...lasting,
      nodearrays: [{ Name: "other", TargetCount: 1 }],
    });
    await expect.poll(async () => (await readyNodes("execute")).length, patiently).toBe(3);
    await expect.poll(async () => (await readyNodes("other")).length, patiently).toBe(1);
    const [node] = await readyNodes("execute");
    const [stranger] = await readyNodes("other");
    if (node === undefined || stranger === undefined) throw new Error("there are nodes of both arrays");
    const instance = `?instance=${node.instance}`;

    // A new record rests for five minutes. Until then the answer is "cannot tell", and then "no".
    await expect
      .poll(() => ask(node.path, instance), patiently)
      .toMatchObject({
        status: 409,
        type: problemJson,
        body: { title: "Needed", stop: false, undrain: true, detail: "needed by demand" },
      });
    // Old callers send CycleCloud's credentials, too. These are neither read nor written anywhere.
    const basic = `Basic ${Buffer.from("autoscaler:very-secret").toString("base64")}`;
    const withCredentials = await askUntilTold(node.path, instance, "POST", { authorization: basic });
    expect(withCredentials.status).toBe(409);
    expect(JSON.stringify([app.lines, app.events])).not.toContain(basic.slice(6));

    expect(await ask(node.path, "")).toMatchObject({
      status: 400,
      type: problemJson,
      body: { detail: expect.stringContaining("parameter instance: found nothing") },
    });
    expect(await askUntilTold("/api/autostop/prod/test.AAAAAAAAAAAAAAAAAAAAAA", instance)).toMatchObject({
      status: 403,
      type: problemJson,
    });
    expect((await askUntilTold(node.path.replace("/prod/", "/two%20words/"), instance)).status).toBe(403);
    expect((await askUntilTold(node.path.replace("/prod/", "/none/"), instance)).status).toBe(403);
    expect(await askUntilTold(stranger.path, instance)).toMatchObject({
      status: 403,
      body: { detail: "the node belongs to another node array than the token" },
    });
    // The instance is unknown once an observation has begun after the question.
    await expect
      .poll(() => ask(node.path, "?instance=none"), patiently)
      .toMatchObject({
        status: 404,
        type: problemJson,
        body: { title: "Unknown instance", stop: false, undrain: true },
      });

    await app.call("PUT", set, target(2, lasting));
    const yes = { status: 200, body: { stop: true, instance: node.instance } };
    expect(await askUntilTold(node.path, instance)).toMatchObject(yes);
    // "Yes" does not wait for its own commit. Until the record has it, the answer is that the stop is under way.
    await expect.poll(() => ask(node.path, instance, "POST"), patiently).toMatchObject(yes);
    await expect.poll(async () => (await readyNodes("execute")).length, patiently).toBe(2);
    expect(await askUntilTold(node.path, instance)).toMatchObject(yes);
    const [kept] = await readyNodes("execute");
    expect(await askUntilTold(kept?.path ?? "", `?instance=${kept?.instance}`)).toMatchObject({
      status: 409,
    });
  });

  test("an unhealthy node without a job goes, and is replaced", async () => {
    const [node] = await readyNodes("other");
    if (node === undefined) throw new Error("there is a node");
    expect(await askUntilTold(node.path, `?instance=${node.instance}&reason=unhealthy`)).toMatchObject({
      status: 200,
    });
    await expect
      .poll(
        async () => (await readyNodes("other")).filter(({ instance }) => instance !== node.instance).length,
        { interval: 100 },
      )
      .toBe(1);
  });

  test("no token is ever in a log, a state page or a plan", async () => {
    const tokens = [...stopUrls.values()].map((url) => url.slice(url.lastIndexOf("/") + 1));
    expect(tokens.length).toBeGreaterThan(0);
    const page = (await app.call("GET", "/api/clusters/prod")).body;
    const said = JSON.stringify([page, app.lines, app.events]);
    for (const token of tokens) expect(said).not.toContain(token);
  });
});
