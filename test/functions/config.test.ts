import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { callerOf } from "../../functions/config.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { arraysPage, patiently, problemJson, SPEED, stateOf } from "./api-stage.ts";

/** The configuration over the HTTP API, and the name under which a change is recorded. */

const PATH = "/api/clusters/demo/config";
const NAME = "x-ms-client-principal-name";

/** What others do between the reading and the writing of the next change. */
let meanwhile: (() => Promise<unknown>) | undefined;

let app: LocalApp;
beforeAll(async () => {
  app = await startLocalApp({
    clusters: CLUSTERS,
    speed: SPEED,
    settings: { WEBSITE_AUTH_ENABLED: "True" },
    decorate: (ports) => ({
      ...ports,
      documents: {
        ...ports.documents,
        async write(...change) {
          const others = meanwhile;
          meanwhile = undefined;
          await others?.();
          return ports.documents.write(...change);
        },
      },
    }),
  });
  // The mode of the app setting is written before the first plan: version 1.
  for (const cluster of CLUSTERS) {
    const path = `/api/clusters/${encodeURIComponent(cluster)}/config/history`;
    const changes = async () => history.parse((await app.call("GET", path)).body).changes;
    const written = [{ who: "written at the beginning" }];
    await vi.waitFor(async () => expect(await changes()).toEqual(written), patiently);
  }
});
afterAll(() => app.close());

const CLUSTERS = ["demo", "two words", "unchanged", "begun", "patched"];

const history = z.object({ changes: z.array(z.object({ who: z.string() })) });

test("with App Service authentication, a change and a rollback have the caller's name; without the header it is unknown", async () => {
  const send = async (method: string, path: string, name: string | undefined, body?: object) => {
    const response = await fetch(`${app.host.url}${path}`, {
      method,
      headers: { "x-functions-key": app.host.keys.host, ...(name === undefined ? {} : { [NAME]: name }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
  };
  await send("PUT", PATH, undefined, { idleTimeout: 100 });
  await send("PUT", PATH, "ada@example.org", { idleTimeout: 200 });
  await send("PUT", PATH, undefined, { idleTimeout: 300 });
  await send("POST", `${PATH}/rollback`, "ada@example.org");
  const { changes } = history.parse((await app.call("GET", `${PATH}/history`)).body);
  expect(changes.map(({ who }) => who)).toEqual([
    "ada@example.org",
    "unknown",
    "ada@example.org",
    "unknown",
    "written at the beginning",
  ]);
});

test("the mode that was written at the beginning is shown against the defaults, a document without one keeps it, and the comparison lists what is observed", async () => {
  const changes = z.object({ changes: z.array(z.object({ differences: z.array(z.unknown()) })) });
  const told = changes.parse((await app.call("GET", `${PATH}/history`)).body).changes.slice(-2);
  expect(told.map(({ differences }) => differences)).toEqual([
    [{ path: "idleTimeout", before: "300", after: "100" }],
    [{ path: "mode", after: '"act"' }],
  ]);
  await app.call("PUT", PATH, { mode: "observe" });
  const { body } = await app.call("GET", "/api/clusters/demo/comparison");
  expect(body).toMatchObject({ observing: expect.any(Array) });
});

describe("the name that the platform gives", () => {
  const from = (name: string, platformSignsIn = true) =>
    callerOf(new Headers({ [NAME]: name }), platformSignsIn);

  test("without App Service authentication nobody removes a sender's own header, so it is not believed", () => {
    expect(from("ada@example.org", false)).toBeUndefined();
  });

  test.each([
    { name: "  ada@example.org ", who: "ada@example.org" },
    { name: "ada\tlovelace", who: "adalovelace" },
    { name: "a\u0085\u00adda", who: "ada" },
    { name: "   ", who: undefined },
    { name: "x".repeat(200), who: "x".repeat(128) },
  ])("$name: printable characters, at most 128", ({ name, who }) => {
    expect(from(name)).toBe(who);
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
    mode: "act",
  };

  test("defaults, then what was put, at once", async () => {
    const arrays = async () =>
      arraysPage.parse((await app.call("GET", "/api/clusters/two%20words")).body).nodearrays;
    await expect.poll(arrays, patiently).not.toEqual([]);
    expect((await app.call("GET", path)).body).toEqual({ ...defaults, version: 1 });
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
      version: 2,
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
      version: 3,
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
    expect(shown.body).toMatchObject({ ...defaults, idleTimeout: 240, bootTimeout: 3600 });
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
    expect(await app.call("POST", `${path}/rollback?to=0`)).toMatchObject({ status: 200, body: defaults });
    expect(await app.call("POST", `${path}/rollback?to=-1`)).toMatchObject({
      status: 400,
      body: { problems: [{ path: "to", found: '"-1"', expected: "the number of a version" }] },
    });
  });

  test("a PUT for what a GET showed before the mode was written at the beginning replaces it", async () => {
    const first = `${app.host.url}/api/clusters/begun/config`;
    const putFor = (version: string) =>
      fetch(first, {
        method: "PUT",
        headers: { "x-functions-key": app.host.keys.host, "if-match": version },
        body: JSON.stringify({ idleTimeout: 111 }),
      });
    expect((await putFor('"0"')).headers.get("etag")).toBe('"2"');
    // Now it has changed.
    expect((await putFor('"0"')).status).toBe(412);
  });

  test("the first change is taken back to what was written at the beginning", async () => {
    const first = "/api/clusters/unchanged/config";
    await app.call("PUT", first, { idleTimeout: 111 });
    expect((await app.call("POST", `${first}/rollback`)).body).toMatchObject({
      idleTimeout: defaults.idleTimeout,
    });
    expect((await app.call("GET", `${first}/history`)).body).toMatchObject({
      changes: [{ number: 3, rollbackTo: 1 }, { number: 2 }, { number: 1, who: "written at the beginning" }],
    });
  });

  test("observed: the state page and every answer say so", async () => {
    await app.call("PUT", path, { enabled: false });
    expect((await app.call("GET", path)).body).toMatchObject({ ...defaults, mode: "observe" });
    // Functions use a new configuration within 15 s.
    await expect
      .poll(async () => (await app.call("GET", path)).body, patiently)
      .toMatchObject({
        ...defaults,
        mode: "observe",
        observing: "observing only: nothing is created or stopped",
      });
    await expect
      .poll(async () => (await stateOf(app, "two words")).health.notes, patiently)
      .toContain("observing only: nothing is created or stopped");
  });
});

describe("a change of single keys", () => {
  const path = "/api/clusters/patched/config";
  const patch = (change: unknown) => app.call("PATCH", path, change);
  const put = (document: object) => app.call("PUT", path, document);
  const get = async () => (await app.call("GET", path)).body;
  const versions = z.object({ version: z.number() });
  const versionNow = async () => versions.parse(await get()).version;
  const putFor = (version: string, document: object) =>
    fetch(`${app.host.url}${path}`, {
      method: "PUT",
      headers: { "x-functions-key": app.host.keys.host, "if-match": version },
      body: JSON.stringify(document),
    });

  test("the first hour: a switch by one key leaves caps, prices and timeouts as they are, and says what it changed", async () => {
    await put({ idleTimeout: 900, caps: { users: { zoe: { nodes: 4 } } }, mode: "act" });
    expect(await patch({ set: { mode: "observe" } })).toMatchObject({
      status: 200,
      body: {
        mode: "observe",
        idleTimeout: 900,
        caps: { users: { zoe: { nodes: 4 } } },
        differences: [{ path: "mode", before: '"act"', after: '"observe"' }],
        version: 3,
      },
    });
    // The typing error of that story: an array that is not there is named.
    expect(await patch({ set: { "idleTimeout.htx": 4 } })).toMatchObject({
      status: 200,
      body: { idleTimeout: { default: 900, htx: 4 }, caps: { users: { zoe: { nodes: 4 } } } },
    });
    expect(await patch({ unset: ["idleTimeout.htx", "caps.users.ada"] })).toMatchObject({
      status: 200,
      body: { idleTimeout: 900, differences: [{ path: "idleTimeout" }] },
    });
  });

  test("a user's name with a dot, one array's mode, and the history of each change", async () => {
    await patch({ set: { 'caps.users["anna.smith"].nodes': 10, "mode.execute": "act" } });
    expect(await get()).toMatchObject({
      caps: { users: { zoe: { nodes: 4 }, "anna.smith": { nodes: 10 } } },
      mode: { default: "observe", execute: "act" },
    });
    const { body } = await app.call("GET", `${path}/history`);
    expect(body).toMatchObject({
      changes: expect.arrayContaining([
        expect.objectContaining({
          differences: [
            { path: 'caps.users["anna.smith"]', after: '{"nodes":10}' },
            { path: "mode", before: '"observe"', after: '{"default":"observe","execute":"act"}' },
          ],
        }),
      ]),
    });
  });

  test("what PUT refuses, PATCH refuses, and nothing is kept", async () => {
    const before = await versionNow();
    expect(await patch({ set: { idleTimout: 5, "mode.execute": "off" } })).toMatchObject({
      status: 400,
      body: {
        problems: [
          { found: '"idleTimout"', didYouMean: "idleTimeout" },
          { path: "mode.execute", found: '"off"' },
        ],
      },
    });
    expect(await patch({ unset: ["mode"] })).toMatchObject({
      status: 400,
      body: { detail: 'unset: found "mode", expected a mode: set "mode" to "observe" or "act" instead' },
    });
    expect(await patch({ set: { mode: "act", read_only: true } })).toMatchObject({ status: 400 });
    expect(await patch("not JSON")).toMatchObject({ status: 400 });
    expect(await versionNow()).toBe(before);
  });

  test("changes of other keys that come meanwhile are merged; one of the same key is 409 and names it", async () => {
    meanwhile = () => patch({ set: { bootTimeout: 1234 } });
    expect(await patch({ set: { planHistory: 4321 } })).toMatchObject({
      status: 200,
      body: { bootTimeout: 1234, planHistory: 4321 },
    });
    meanwhile = () => patch({ set: { "caps.users.zoe.nodes": 5 } });
    expect(await patch({ set: { "caps.users.zoe.nodes": 6 } })).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/ is in force: caps\.users\.zoe\.nodes: 4 -> 5$/) },
    });
    expect(await get()).toMatchObject({ caps: { users: { zoe: { nodes: 5 } } } });
  });

  test("ifVersion: for an older version, the same key is 409, another is merged, and the same change again is done already", async () => {
    const ifVersion = await versionNow();
    await patch({ set: { "caps.users.zoe.nodes": 7 } });
    expect(await patch({ set: { "caps.users.zoe.nodes": 8 }, ifVersion })).toMatchObject({ status: 409 });
    expect(await patch({ set: { groupFillTimeout: 60 }, ifVersion })).toMatchObject({ status: 200 });
    expect(await patch({ set: { "caps.users.zoe.nodes": 7 }, ifVersion })).toMatchObject({
      status: 200,
      body: { differences: [] },
    });
    expect(await patch({ set: { among: "cheapest" }, ifVersion: 4000 })).toMatchObject({ status: 409 });
  });

  test("PUT with If-Match: a stale version is 412 with what changed; the one in force is replaced", async () => {
    const version = await versionNow();
    await patch({ set: { "caps.users.zoe.nodes": 9 } });
    const stale = await putFor(`"${version}"`, { idleTimeout: 1 });
    expect([stale.status, z.object({ detail: z.string() }).parse(await stale.json()).detail]).toEqual([
      412,
      `version ${version} was seen, and version ${version + 1} is in force: caps.users.zoe.nodes: 7 -> 9`,
    ]);
    expect((await putFor("W/what", {})).status).toBe(400);
    const response = await fetch(`${app.host.url}${path}`, {
      headers: { "x-functions-key": app.host.keys.host },
    });
    expect(response.headers.get("etag")).toBe(`"${version + 1}"`);
    const fresh = await putFor(`W/"${version + 1}"`, { idleTimeout: 1 });
    expect([fresh.status, fresh.headers.get("etag")]).toEqual([200, `"${version + 2}"`]);
  });

  test("PUT and rollback without a mode keep the one in force, and say so", async () => {
    await put({ mode: { default: "observe", execute: "act" } });
    const kept = { mode: { default: "observe", execute: "act" } };
    expect(await put({ idleTimeout: 60 })).toMatchObject({
      status: 200,
      body: {
        ...kept,
        notes: [
          'the document says no mode, so the one in force is kept: mode {"default":"observe","execute":"act"}',
        ],
      },
    });
    expect(await app.call("POST", `${path}/rollback?to=0`)).toMatchObject({
      status: 200,
      body: { ...kept, differences: [{ path: "idleTimeout", before: "60", after: "300" }] },
    });
    expect(await put({ mode: { execute: "observe" } })).toMatchObject({
      body: { mode: { default: "observe", execute: "observe" } },
    });
  });

  test("read_only is mode observe; beside a mode that acts it is refused with both keys", async () => {
    expect(await put({ read_only: true })).toMatchObject({
      status: 200,
      body: { mode: "observe", used: [{ key: "read_only", as: "mode: observe" }], notes: [] },
    });
    expect(await put({ read_only: true, mode: { default: "observe", execute: "act" } })).toMatchObject({
      status: 400,
      body: {
        problems: [
          {
            path: "read_only",
            found: "true",
            expected: "read_only or mode, not both: read_only means observe, and mode says act",
          },
        ],
      },
    });
    expect(await put({ read_only: true, mode: "observe" })).toMatchObject({ status: 200 });
    await put({ mode: "act" });
    expect(await patch({ set: { read_only: true } })).toMatchObject({
      status: 200,
      body: { mode: "observe" },
    });
  });
});
