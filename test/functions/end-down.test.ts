import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { runCommand } from "../cli/run-command.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";

/** An operator ends the nodes of a node array that are down. */

let app: LocalApp;
const ROUTE = "/api/clusters/prod/nodearrays/execute/end-down";

beforeAll(async () => {
  app = await startLocalApp({ clusters: ["prod"], speed: 30 });
});
afterAll(() => app.close());

const page = z.object({
  nodes: z.object({
    list: z.array(z.object({ name: z.string(), phase: z.string(), downSince: z.string().optional() })),
  }),
});

async function nodes() {
  await app.call("POST", "/api/clusters/prod/tick");
  return page.parse((await app.call("GET", "/api/clusters/prod")).body).nodes.list;
}

const endDown = (nodearray: string) =>
  runCommand(["end-down", nodearray, "-c", "prod", "--url", app.host.url, "--key", app.host.keys.host]);

test("nothing is down: it says so, and remembers no order", async () => {
  const message = { version: 1, nodearrays: [{ Name: "execute", TargetCount: 2 }], expirationInterval: 3600 };
  await app.call("PUT", "/api/clusters/prod/request-sets/standard", message);
  await expect.poll(async () => (await nodes()).map(({ phase }) => phase)).toEqual(["ready", "ready"]);
  expect(await app.call("POST", ROUTE)).toMatchObject({ status: 202, body: { count: 0, nodes: [] } });
  expect(await endDown("execute")).toEqual({ code: 0, out: "no node of execute is shut down", err: "" });
});

test("names the nodes that the last observation shows as shut down, and until when", async () => {
  const config = { downTimeout: { default: 600, execute: "never" }, failedTimeout: 3600 };
  const put = await app.call("PUT", "/api/clusters/prod/config", config);
  expect(put).toMatchObject({ status: 200, body: config });
  const id = app.simulator.log.find(({ kind }) => kind === "node-ready");
  if (id === undefined || !("nodeId" in id)) throw new Error("two nodes are Ready");
  app.simulator.faults.shutDown(id.nodeId);
  await expect
    .poll(async () => (await nodes()).filter(({ downSince }) => downSince !== undefined))
    .toHaveLength(1);

  const [down] = (await nodes()).filter(({ downSince }) => downSince !== undefined);
  expect(await app.call("POST", ROUTE)).toMatchObject({
    status: 202,
    body: { cluster: "prod", nodearray: "execute", count: 1, nodes: [down?.name] },
  });
  const { code, out, err } = await endDown("execute");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(
    new RegExp(
      `^this node ends, at most 10 % of the node array in ten minutes, until \\S+Z: ${down?.name ?? "?"}$`,
    ),
  );
  expect(app.events.filter(({ event }) => event === "end-down")).toHaveLength(2);
});

test("an unknown node array is 404, and a name that none can have 400", async () => {
  expect((await app.call("POST", "/api/clusters/prod/nodearrays/nosuch/end-down")).status).toBe(404);
  expect((await app.call("POST", "/api/clusters/prod/nodearrays/a%2Fb/end-down")).status).toBe(400);
  expect((await endDown("nosuch")).code).toBe(1);
});
