import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PortError } from "../../src/app/ports/port-error.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { arraysPage, patiently, problemJson, SPEED, stateOf } from "./api-stage.ts";

/** Keys, health and request sets of the HTTP API as its callers see them (docs/http.md). */

let app: LocalApp;
/** Whether the record of the cluster "dark" cannot be read. */
let darkened = false;

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
});
afterAll(() => app.close());

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
  // Polled, because the answer without a key may be seconds old, and on a busy machine an observation is too old for a moment.
  const health = async () => {
    const { status, type, body } = await app.callBare("GET", "/api/health");
    return { status, type, body };
  };

  test("anonymous: ok or not, and ages, without names or reasons", async () => {
    const body = {
      ok: true,
      clusters: 3,
      warnings: 0,
      oldestLookAgeSeconds: expect.any(Number),
      poisonMessages: { count: 0 },
      rejectedMessages: { count: 0 },
    };
    const type = expect.stringContaining("json");
    await expect.poll(health, patiently).toEqual({ status: 200, type, body });
    darkened = true;
    await expect
      .poll(health, patiently)
      .toEqual({ status: 503, type, body: { ...body, ok: false, oldestLookAgeSeconds: null } });
  });

  test("with a key: each cluster, and why", async () => {
    await expect
      .poll(async () => (await app.call("GET", "/api/clusters")).body, patiently)
      .toMatchObject({
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
    expect((await stateOf(app, "prod")).demand).toMatchObject([
      { requestSet: "life", state: "live", unmet: 1 },
    ]);

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
              'the node array of the cluster that it extends, as in "Extends": "execute": the API of CycleCloud makes no node arrays, only nodes in an array of the template; the attributes of this entry go over those of that array',
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
