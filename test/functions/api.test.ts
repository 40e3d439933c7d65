import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { PortError } from "../../src/app/ports/port-error.ts";
import { readStopUrl } from "../../src/local/play/stop-url.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";

/** Every route of the HTTP API as its callers see it (docs/http.md). */

/** A tick a second, and a node up within a tick. */
const SPEED = 60;
let app: LocalApp;
/** Whether storage cannot be read for the cluster "dark". */
let darkened = false;
/** The stop URL that each node found in its configuration, by instance id. */
const stopUrls = new Map<string, string>();

beforeAll(async () => {
  app = await startLocalApp({
    clusters: ["prod", "two words", "dark"],
    speed: SPEED,
    decorate: (ports) => ({
      ...ports,
      store: {
        ...ports.store,
        load: (cluster) =>
          cluster === "dark" && darkened
            ? Promise.reject(new PortError("unreachable", "load record of dark", "no answer"))
            : ports.store.load(cluster),
      },
    }),
  });
  app.simulator.onEvent((event) => {
    if (event.kind !== "node-ready") return;
    const url = readStopUrl(event.configuration);
    if (url !== undefined) stopUrls.set(event.instanceId, url);
  });
});
afterAll(() => app.close());

const patiently = { timeout: 15_000, interval: 50 };
const problemJson = "application/problem+json";

const statePage = z.object({
  health: z.object({ ok: z.boolean(), notes: z.array(z.string()) }),
  demand: z.array(z.object({ requestSet: z.string(), state: z.string(), unmet: z.number() })),
  plan: z
    .object({
      number: z.number(),
      demands: z.number(),
      unmet: z.array(z.object({ id: z.string(), reasons: z.array(z.string()) })),
    })
    .optional(),
  nodes: z.object({
    count: z.number(),
    byPhase: z.record(z.string(), z.number()),
    list: z.array(
      z.object({
        name: z.string(),
        array: z.string(),
        phase: z.string(),
        instanceId: z.string().optional(),
        why: z.string(),
      }),
    ),
  }),
  generation: z.number(),
  observedGeneration: z.number(),
});

const arraysPage = z.object({ nodearrays: z.array(z.looseObject({ name: z.string() })) });

async function stateOf(cluster: string): Promise<z.infer<typeof statePage>> {
  const { status, body } = await app.call("GET", `/api/clusters/${encodeURIComponent(cluster)}`);
  expect(status).toBe(200);
  return statePage.parse(body);
}

const target = (count: number, more: object = {}) => ({
  version: 1,
  nodearrays: [{ Name: "execute", TargetCount: count }],
  ...more,
});

describe("keys", () => {
  test.each([
    "PUT /api/clusters/prod/request-sets/standard",
    "GET /api/clusters/prod/request-sets/standard",
    "DELETE /api/clusters/prod/request-sets/standard",
    "GET /api/clusters",
    "GET /api/clusters/prod",
    "GET /api/clusters/prod/history",
    "GET /api/clusters/prod/explain",
    "POST /api/clusters/prod/tick",
    "POST /api/clusters/prod/restored",
    "GET /api/clusters/prod/config",
    "PUT /api/clusters/prod/config",
  ])("%s: 401 without a key and with a wrong one", async (route) => {
    const [method = "", path = ""] = route.split(" ");
    expect((await app.callBare(method, path)).status).toBe(401);
    expect((await app.callBare(method, path, { "x-functions-key": "wrong" })).status).toBe(401);
  });

  test("what is no route is 404", async () => {
    expect((await app.call("POST", "/api/clusters/prod")).status).toBe(404);
    expect((await app.call("GET", "/api/nothing")).status).toBe(404);
  });
});

describe("health", () => {
  const health = () => app.callBare("GET", "/api/health");

  test("anonymous: ok or not, and ages, without names or reasons", async () => {
    await expect.poll(async () => (await health()).status, patiently).toBe(200);
    expect((await health()).body).toEqual({
      ok: true,
      clusters: 3,
      warnings: 0,
      oldestLookAgeSeconds: expect.any(Number),
      poisonMessages: { count: 0 },
      rejectedMessages: { count: 0 },
    });
    darkened = true;
    // The answer for anyone is kept for five seconds.
    await app.clock.sleep(6000);
    const sick = await health();
    expect(sick).toMatchObject({ status: 503, type: expect.stringContaining("json") });
    expect(sick.body).toEqual({
      ok: false,
      clusters: 3,
      warnings: 0,
      oldestLookAgeSeconds: null,
      poisonMessages: { count: 0 },
      rejectedMessages: { count: 0 },
    });
  });

  test("with a key: each cluster, and why", async () => {
    expect((await app.call("GET", "/api/clusters")).body).toMatchObject({
      clusters: [
        { cluster: "prod", health: { ok: true } },
        { cluster: "two words", health: { ok: true } },
        {
          cluster: "dark",
          health: { ok: false, notes: ["unreachable: load record of dark: no answer"], warnings: [] },
        },
      ],
      rejectedMessages: { count: 0, oldest: [] },
    });
  });
});

describe("a request set", () => {
  test("PUT is acknowledged, planned and shown; GET tells what came of it; DELETE ends it", async () => {
    const path = "/api/clusters/prod/request-sets/life";
    const put = await app.call("PUT", path, {
      version: 1,
      expirationInterval: 3600,
      nodearrays: [{ Name: "other", TargetCount: 1 }],
      jobs: [{ name: "wide", constraints: { ncpus: 64 } }],
    });
    expect(put).toMatchObject({
      status: 202,
      body: { cluster: "prod", requestSet: "life", changed: true, rejectedJobs: [] },
    });
    await expect
      .poll(async () => (await app.call("GET", path)).body, patiently)
      .toMatchObject({
        requestSet: "life",
        state: "live",
        demands: 2,
        observed: true,
        outcomes: [
          { id: "nodearray:other", kind: "target", unit: "nodes", asked: 1, placed: 1, reasons: [] },
          {
            id: "wide",
            kind: "job",
            asked: 1,
            placed: 0,
            reasons: [
              "execute/Standard_F4: ncpus 64 asked of one node, 4 offered",
              "other/Standard_F4: ncpus 64 asked of one node, 4 offered",
            ],
          },
        ],
      });
    expect((await stateOf("prod")).demand).toMatchObject([{ requestSet: "life", state: "live", unmet: 1 }]);

    expect(await app.call("DELETE", path)).toMatchObject({ status: 202, body: { changed: true } });
    await expect
      .poll(async () => (await app.call("GET", path)).body, patiently)
      .toMatchObject({ state: "lapsed", demands: 0, observed: true, outcomes: [] });
  });

  test("a dynamic array comes with its first request, shows who asks for it, is flagged when DELETE empties the set, and goes with its last node", async () => {
    const path = "/api/clusters/prod/request-sets/lab";
    const lab = async (): Promise<unknown> => {
      const { body } = await app.call("GET", "/api/clusters/prod");
      return arraysPage.parse(body).nodearrays.find(({ name }) => name === "lab");
    };
    const nodearrays = [{ Name: "lab", Extends: "other", Dynamic: true, TargetCount: 1 }];
    const put = await app.call("PUT", path, { version: 1, expirationInterval: 3600, nodearrays });
    expect(put).toMatchObject({ status: 202 });
    const asked = { dynamic: true, exists: true, extends: "other", count: 1, askedBy: ["lab"] };
    await expect.poll(lab, patiently).toMatchObject({ ...asked, flaggedForRemoval: false });
    expect(await app.call("DELETE", path)).toMatchObject({ status: 202 });
    await expect.poll(lab, patiently).toMatchObject({ count: 1, askedBy: [], flaggedForRemoval: true });
    const made = app.simulator.log.filter((event) => event.kind === "node-created" && event.name === "lab-1");
    app.simulator.faults.vanish(made.flatMap((event) => ("nodeId" in event ? [event.nodeId] : [])));
    await expect.poll(lab, patiently).toBeUndefined();
  });

  test("a dynamic array that extends none: 400, and why", async () => {
    const nodearrays = [{ Name: "lab", Dynamic: true, TargetCount: 1 }];
    const put = await app.call("PUT", "/api/clusters/prod/request-sets/lab2", { version: 1, nodearrays });
    expect(put).toMatchObject({
      status: 400,
      type: problemJson,
      body: {
        problems: [
          {
            path: "nodearrays[0].Extends",
            found: "nothing",
            expected:
              "the node array of the cluster that it extends: CycleCloud creates nodes only in an array that it has",
          },
        ],
      },
    });
  });

  test("unknown set and unknown cluster: 404 that says what is known", async () => {
    expect(await app.call("GET", "/api/clusters/prod/request-sets/none")).toMatchObject({
      status: 404,
      type: problemJson,
      body: { status: 404, title: "Unknown request set", detail: 'cluster "prod" has no request set "none"' },
    });
    expect(await app.call("GET", "/api/clusters/none")).toMatchObject({
      status: 404,
      type: problemJson,
      body: {
        type: "about:blank",
        title: "Unknown cluster",
        detail: 'cluster "none" is not in AUTOSCALER_CLUSTERS (known: prod, two words, dark)',
      },
    });
  });

  test("an address that the message contradicts: 400, every problem named", async () => {
    const answer = await app.call("PUT", "/api/clusters/prod/request-sets/mine", {
      version: 2,
      cluster: "two words",
    });
    expect(answer).toMatchObject({
      status: 400,
      type: problemJson,
      body: {
        title: "Bad request",
        detail: "version: found 2, expected 1 (and 1 more)",
        problems: [
          { path: "version", found: "2", expected: "1" },
          {
            path: "cluster",
            found: '"two words"',
            expected: '"prod", as in the address, or leave the key out',
          },
        ],
      },
    });
  });

  test("names with spaces, percent-encoded: all routes find them", async () => {
    const cluster = "/api/clusters/two%20words";
    expect(
      await app.call("PUT", `${cluster}/request-sets/gpu%20jobs`, { version: 1, jobs: [{ name: "a b" }] }),
    ).toMatchObject({ status: 202, body: { cluster: "two words", requestSet: "gpu jobs" } });
    expect(await app.call("GET", `${cluster}/request-sets/gpu%20jobs`)).toMatchObject({
      status: 200,
      body: { requestSet: "gpu jobs" },
    });
    expect(await app.call("GET", cluster)).toMatchObject({ status: 200, body: { cluster: "two words" } });
    expect(await app.call("GET", `${cluster}/history`)).toMatchObject({ body: { cluster: "two words" } });
    expect(await app.call("GET", `${cluster}/config`)).toMatchObject({ status: 200 });
    expect(await app.call("DELETE", `${cluster}/request-sets/gpu%20jobs`)).toMatchObject({ status: 202 });
  });
});

test("storage that cannot be read: 503 and when to come again", async () => {
  expect(await app.call("GET", "/api/clusters/dark")).toMatchObject({
    status: 503,
    type: problemJson,
    retryAfter: "10",
    body: { title: "Cannot tell now", detail: "load record of dark: no answer" },
  });
});

describe("the state page", () => {
  test("shows each node with why it stays, and what each array could still get", async () => {
    await app.call("PUT", "/api/clusters/prod/request-sets/page", target(2, { expirationInterval: 3600 }));
    await expect
      .poll(
        async () => (await stateOf("prod")).nodes.list.filter(({ why }) => why.includes("page")),
        patiently,
      )
      .toMatchObject([
        { array: "execute", phase: "ready", why: "needed by page/nodearray:execute" },
        { array: "execute", phase: "ready", why: "needed by page/nodearray:execute" },
      ]);
    expect((await app.call("GET", "/api/clusters/prod")).body).toMatchObject({
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
    const sick = await stateOf("two words");
    expect(sick.health.ok).toBe(false);
    expect(sick.health.notes.join()).toContain(
      "CycleCloud's answer is unexpected: GET /clusters/two%20words/status",
    );
    app.simulator.faults.clear();
    await expect
      .poll(async () => (await app.call("POST", `${path}/tick`)).body, patiently)
      .toMatchObject({ outcome: "planned", plan: expect.any(Number) });
    expect((await stateOf("two words")).health.ok).toBe(true);
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

describe("configuration", () => {
  const path = "/api/clusters/two%20words/config";
  const defaults = {
    idleTimeout: 300,
    bootTimeout: 3600,
    maxExpirationInterval: 86_400,
    inFlightGrace: 900,
    groupFillTimeout: 600,
    preference: "existing-first",
    among: "priority",
    planHistory: 604_800,
  };

  test("defaults, then what was put, at once", async () => {
    expect((await app.call("GET", path)).body).toEqual(defaults);
    const document = { idleTimeout: 120, nodearrays: ["execute", "gone"] };
    expect(await app.call("PUT", path, document)).toMatchObject({
      status: 200,
      body: {
        idleTimeout: 120,
        used: [
          { key: "idleTimeout", as: "idleTimeout" },
          { key: "nodearrays", as: "nodearrays" },
        ],
        ignored: [],
        unknownNodearrays: ["gone"],
      },
    });
    expect((await app.call("GET", path)).body).toEqual({
      ...defaults,
      idleTimeout: 120,
      nodearrays: ["execute", "gone"],
    });
  });

  test("prices, caps and preferences: doubts are named, all of it is kept, and the state page says how nodes are chosen", async () => {
    const document = {
      preference: "bucket-order",
      among: "cheapest",
      caps: { users: { "*": { nodes: 3 } } },
      prices: { currency: "USD", locations: { here: { Standard_F2s_v2: { onDemand: 0.1, spot: 0.2 } } } },
    };
    expect(await app.call("PUT", path, document)).toMatchObject({
      status: 200,
      body: { ...document, doubts: [{ path: "prices.locations.here.Standard_F2s_v2.spot", found: "0.2" }] },
    });
    const shown = await app.call("GET", path);
    expect(shown.body).toEqual({
      ...defaults,
      ...document,
      doubts: [expect.objectContaining({ path: "prices.locations.here.Standard_F2s_v2.spot", found: "0.2" })],
    });
    expect(await app.call("PUT", path, shown.body)).toMatchObject({ status: 200, body: document });
    const page = async () => (await app.call("GET", "/api/clusters/two%20words")).body;
    await expect.poll(page, patiently).toMatchObject({
      choice: {
        preference: "bucket-order",
        among: "cheapest",
        caps: { requestSets: {}, users: { "*": { nodes: 3 } } },
        prices: { currency: "USD", locations: ["here"] },
      },
    });
  });

  test("a document that a row cannot hold is refused with its size, and nothing is kept", async () => {
    const before = (await app.call("GET", path)).body;
    const locations = Object.fromEntries(
      Array.from({ length: 70 }, (_, l) => [
        `region${l}`,
        Object.fromEntries(
          Array.from({ length: 1000 }, (_, i) => [
            `Standard_D${i}s_v5`,
            ((l * 1000 + i + 1) * 0.618_033_988_7) % 1,
          ]),
        ),
      ]),
    );
    const answer = await app.call("PUT", path, { prices: { currency: "USD", locations } });
    expect(answer).toMatchObject({ status: 413, type: problemJson, body: { title: "Too large" } });
    expect((await app.call("GET", path)).body).toEqual(before);
  });

  test("all mistakes at once, with the nearest known key; nothing is kept", async () => {
    const before = (await app.call("GET", path)).body;
    const answer = await app.call("PUT", path, { idleTimout: 5, bootTimeout: "long", enabled: "no" });
    expect(answer).toMatchObject({ status: 400, type: problemJson, body: { title: "Bad request" } });
    expect(answer.body).toMatchObject({
      problems: expect.arrayContaining([
        expect.objectContaining({ found: '"idleTimout"', didYouMean: "idleTimeout" }),
        expect.objectContaining({ path: "bootTimeout", found: "text of 4 characters" }),
        expect.objectContaining({ path: "enabled", expected: "true or false" }),
      ]),
    });
    expect((await app.call("GET", path)).body).toEqual(before);
    expect(await app.call("PUT", path, "not JSON")).toMatchObject({ status: 400, type: problemJson });
  });

  test("timeouts of node arrays: shown by array in the state, and those of arrays that are not there are named", async () => {
    const timeouts = { idleTimeout: { default: 240, execute: 90, gone: 5 }, bootTimeout: { execute: 7200 } };
    expect(await app.call("PUT", path, timeouts)).toMatchObject({
      status: 200,
      body: { ...timeouts, bootTimeout: { default: 3600, execute: 7200 }, unknownNodearrays: ["gone"] },
    });
    expect((await app.call("GET", path)).body).toMatchObject({ idleTimeout: timeouts.idleTimeout });
    const shown = async () =>
      arraysPage.parse((await app.call("GET", "/api/clusters/two%20words")).body).nodearrays;
    await expect.poll(shown, patiently).toMatchObject([
      { name: "execute", idleTimeout: 90, bootTimeout: 7200 },
      { name: "other", idleTimeout: 240, bootTimeout: 3600 },
    ]);
  });

  test("scalelib's autoscale.json as it is: what becomes of each key is said, and no password comes back", async () => {
    const answer = await app.call("PUT", path, {
      cluster_name: "two words",
      username: "cc_admin",
      password: "hunter2-secret",
      url: "https://cyclecloud.example",
      idle_timeout: 240,
      boot_timeout: { default: 3600 },
      nodearrays: { execute: { generated_placement_group_buffer: 2 } },
    });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        idleTimeout: 240,
        bootTimeout: 3600,
        used: [
          { key: "idle_timeout", as: "idleTimeout: 240 s" },
          { key: "boot_timeout.default", as: "bootTimeout.default: 3600 s" },
        ],
        ignored: [
          { key: "cluster_name", why: "the app setting AUTOSCALER_CLUSTERS names the clusters" },
          { key: "username" },
          { key: "password" },
          { key: "url" },
          { key: "nodearrays.execute.generated_placement_group_buffer" },
        ],
      },
    });
    const shown = await app.call("GET", path);
    expect(shown.body).toEqual({ ...defaults, idleTimeout: 240, bootTimeout: 3600 });
    expect(JSON.stringify([answer, shown, app.events, app.lines])).not.toContain("hunter2");
  });

  test("each change is shown with its difference, and can be taken back", async () => {
    await app.call("PUT", path, { idleTimeout: 111 });
    const { body } = await app.call("PUT", path, { idleTimeout: 222 });
    expect(body).toMatchObject({ idleTimeout: 222 });
    expect((await app.call("GET", `${path}/history`)).body).toMatchObject({
      cluster: "two words",
      changes: expect.arrayContaining([
        expect.objectContaining({
          who: "unknown",
          at: expect.any(String),
          differences: [{ path: "idleTimeout", before: "111", after: "222" }],
        }),
      ]),
    });
    expect(await app.call("POST", `${path}/rollback`)).toMatchObject({
      status: 200,
      body: { idleTimeout: 111 },
    });
    expect(await app.call("POST", `${path}/rollback?to=999`)).toMatchObject({ status: 404 });
    expect(await app.call("POST", `${path}/rollback?to=0`)).toMatchObject({
      status: 400,
      body: { problems: [{ path: "to", found: '"0"', expected: "the number of a version" }] },
    });
  });

  test("observed: the state page and every answer say so", async () => {
    await app.call("PUT", path, { enabled: false });
    expect((await app.call("GET", path)).body).toMatchObject({ ...defaults, mode: "observe" });
    // Functions go by a new configuration within 15 s.
    await expect
      .poll(async () => (await app.call("GET", path)).body, patiently)
      .toEqual({ ...defaults, mode: "observe", observing: "observing only: nothing is created or stopped" });
    await expect
      .poll(async () => (await stateOf("two words")).health.notes, patiently)
      .toContain("observing only: nothing is created or stopped");
  });
});

describe("autostop", () => {
  // A look counts for two intervals: long enough here for a machine that is busy with other tests.
  beforeAll(async () => {
    await app.call("PUT", "/api/clusters/prod/config", { snapshotInterval: 600 });
  });

  /** Ready nodes of the array, with their stop URL's path. */
  const readyNodes = async (array: string) =>
    (await stateOf("prod")).nodes.list.flatMap(({ array: of, phase, instanceId }) => {
      const url = instanceId === undefined ? undefined : stopUrls.get(instanceId);
      return of === array && phase === "ready" && instanceId !== undefined && url !== undefined
        ? [{ instance: instanceId, path: url.slice("https://autoscaler.example".length) }]
        : [];
    });
  const ask = (path: string, query: string, method = "GET", headers: Readonly<Record<string, string>> = {}) =>
    app.callBare(method, `${path}${query}`, headers);
  /** Asks again while nothing can be told, as nodes do: the 15 s for an answer are 250 ms here, and a busy machine takes longer. */
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

    // A new record rests for five minutes: cannot tell, then no.
    await expect
      .poll(() => ask(node.path, instance), patiently)
      .toMatchObject({
        status: 409,
        type: problemJson,
        body: { title: "Needed", stop: false, undrain: true, detail: "needed by demand" },
      });
    // Old callers send CycleCloud's credentials along: they are not read, and nowhere written down.
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
    // Unknown once a look has come since the question.
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
    // Yes does not wait for its own commit: until the record has it, a question hears that the stop is under way.
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
        {
          timeout: 20_000,
          interval: 100,
        },
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
