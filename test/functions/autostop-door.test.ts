import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readStopUrl } from "../../src/local/play/stop-url.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { paced } from "../support/patience.ts";

/** What the route of the stop URL checks before it reads the record, and its answers to unknown callers. */

let app: LocalApp;
const nodes = new Map<string, { readonly instance: string; readonly path: string }>();

beforeAll(async () => {
  app = await startLocalApp({
    clusters: ["prod"],
    speed: paced(10),
    settings: { "AzureWebJobs.snapshot.Disabled": "true" },
  });
  app.simulator.onEvent((event) => {
    if (event.kind !== "node-ready") return;
    const url = readStopUrl(event.configuration);
    if (url !== undefined)
      nodes.set(event.nodeId, { instance: event.instanceId, path: new URL(url).pathname });
  });
  await app.call("PUT", "/api/clusters/prod/request-sets/work", {
    version: 1,
    expirationInterval: 36_000,
    nodearrays: [{ Name: "execute", TargetCount: 2 }],
  });
  while (nodes.size < 2) await app.clock.sleep(1000);
  await app.call("POST", "/api/clusters/prod/tick");
});
afterAll(() => app.close());

const some = (at = 0) => {
  const node = [...nodes.values()][at];
  if (node === undefined) throw new Error("there are two nodes");
  return node;
};
/** A well-formed token of the key "test" with a wrong signature. */
const FORGED = "test.AAAAAAAAAAAAAAAAAAAAAA";
const wrong = {
  status: 403,
  type: "application/problem+json",
  body: {
    type: "about:blank",
    title: "Forbidden",
    status: 403,
    detail: "the token is not valid for this cluster",
  },
};
const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  app.callBare("GET", path, headers);
const OWN = "0123456789abcdefghij_-";

describe("strangers", () => {
  test("an unknown cluster, an unknown array and a wrong token look alike", async () => {
    const { path } = some();
    const token = path.slice(path.lastIndexOf("/") + 1);
    const answers = [
      await ask(`/api/autostop/nobody/${token}?instance=vm`),
      await ask(`/api/autostop/nobody/${FORGED}?instance=vm`),
      await ask(`/api/autostop/nobody/garbage?instance=vm`),
      await ask(`/api/autostop/prod/${FORGED}?instance=vm`),
      await ask(`/api/autostop/prod/garbage?instance=vm`),
    ];
    for (const answer of answers)
      expect(answer).toEqual({ ...wrong, retryAfter: null, cacheControl: "no-store" });
  });

  test("a body of 5 MB is not read by the routes without a key: 413, also with a right token", async () => {
    const { path, instance } = some();
    const body = new Uint8Array(5_000_000);
    for (const to of [`${path}?instance=${instance}`, "/api/autostop/nobody/x?instance=a"])
      expect((await fetch(`${app.host.url}${to}`, { method: "POST", body })).status).toBe(413);
    const small = await fetch(`${app.host.url}${path}?instance=${instance}`, { method: "POST", body: "{}" });
    expect(small.status).not.toBe(413);
  });

  test.each(["nobody", "prod"])("no instance is the same mistake for cluster %s", async (cluster) => {
    for (const token of [FORGED, "garbage"])
      expect(await ask(`/api/autostop/${cluster}/${token}`)).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining("parameter instance: found nothing") },
      });
  });

  test.each([
    { name: "of 201 characters", instance: "v".repeat(201), found: "201 characters" },
    { name: "with a line's end", instance: "vm%0Aforged", found: String.raw`vm\nforged` },
  ])("an instance $name is refused, for whatever cluster", async ({ instance, found }) => {
    for (const cluster of ["nobody", "prod"])
      expect(await ask(`/api/autostop/${cluster}/${FORGED}?instance=${instance}`)).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining(found) },
      });
  });

  test.each([
    { name: "too short", token: "a".repeat(21), found: "21 characters" },
    { name: "too long", token: "a".repeat(201), found: "201 characters" },
    { name: "of other characters", token: `${"a".repeat(30)}"`, found: "31 characters" },
  ])("a node's own token that is $name is refused and not shown", async ({ token, found }) => {
    const answer = await ask(`${some().path}?instance=vm`, { "x-node-token": token });
    expect(answer).toMatchObject({
      status: 400,
      body: { problems: [{ path: "header x-node-token", found: expect.stringContaining(found) }] },
    });
    expect(JSON.stringify([answer, app.lines, app.events])).not.toContain(token);
  });
});

describe("a node's own token", () => {
  test("binds it at its first call; a neighbour with the same stop URL is refused, and it is shown", async () => {
    const [mine, neighbour] = [some(0), some(1)];
    expect(mine.path).toBe(neighbour.path);
    const path = `${mine.path}?instance=${mine.instance}`;
    // A new record lets no node open for a while, because stops may be under way. The token binds all the same.
    await expect
      .poll(async () => (await ask(`${path}&begin=no`, { "x-node-token": OWN })).status)
      .not.toBe(404);
    for (const headers of [{}, { "x-node-token": `${OWN}x` }])
      expect(await ask(`${path}&reason=unhealthy`, headers)).toMatchObject({
        status: 403,
        body: {
          stop: false,
          detail:
            "earlier calls of this node carried a token of its own in the header x-node-token, and this call does not carry it",
        },
      });
    expect((await ask(path, { "x-node-token": OWN })).status).not.toBe(403);
    // The neighbour has no token of its own, and needs none.
    expect((await ask(`${neighbour.path}?instance=${neighbour.instance}`)).status).not.toBe(403);

    await app.call("POST", "/api/clusters/prod/tick");
    const { body } = await app.call("GET", "/api/clusters/prod");
    const page = JSON.stringify(body);
    expect(page).toContain('"kind":"node-token"');
    expect(body).toMatchObject({
      nodes: {
        list: expect.arrayContaining([
          expect.objectContaining({ instanceId: mine.instance, ownToken: true, stopKey: "test" }),
        ]),
      },
      stopKeys: [{ keyId: "test", nodes: 2, configured: true, signing: true }],
    });
    expect(JSON.stringify([page, app.lines, app.events])).not.toContain(OWN);
    expect(app.simulator.log.filter(({ kind }) => kind === "terminate-accepted")).toEqual([]);
  });
});
