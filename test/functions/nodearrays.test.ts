import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../cli/run-command.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { patiently } from "./api-stage.ts";

/** Dynamic and grouped node arrays are listed and read as arrays of their own. */

let app: LocalApp;
const set = "/api/clusters/prod/request-sets/standard";
beforeAll(async () => {
  app = await startLocalApp({ clusters: ["prod"], speed: 20 });
  const nodearrays = [
    { Name: "execute", TargetGroupCount: 2, GroupCoreCount: 8 },
    { Name: "licensed", Dynamic: true, Extends: "other", TargetCount: 1 },
  ];
  await app.call("PUT", set, { nodearrays, expirationInterval: 86_400 });
});
afterAll(() => app.close());

async function run(...words: readonly string[]): Promise<string> {
  const address = ["-c", "prod", "--url", app.host.url, "--key", app.host.keys.host];
  const { code, out, err } = await runCommand([...words, ...address]);
  expect([code, err]).toEqual([0, ""]);
  return out;
}
const squeezed = (text: string): readonly string[] =>
  text.split("\n").map((line) => line.replaceAll(/ +/g, " "));

test("the nodes of two groups and of a dynamic array come", async () => {
  const ready = () => app.simulator.log.filter(({ kind }) => kind === "node-ready").length;
  await expect.poll(ready, patiently).toBe(5);
  await app.call("POST", "/api/clusters/prod/tick");
});

test("nodearrays lists those of the template, dynamic and grouped ones", async () => {
  expect(squeezed(await run("nodearrays"))).toEqual([
    "NODEARRAY OF MODE TARGET ASKED BY NODES",
    "execute - act none standard 4 ready",
    "other - act none - none",
    "licensed other act 1 nodes standard 1 ready",
    "execute:8 execute - 2 groups, 2 whole standard 4 ready",
  ]);
});

test("nodearrays NAME reads one, with its groups; --json has the same part of the answer", async () => {
  const lines = squeezed(await run("nodearrays", "execute:8"));
  expect(lines.slice(0, 5)).toEqual([
    "NODEARRAY OF TARGET ASKED BY NODES",
    "execute:8 execute 2 groups, 2 whole standard 4 ready",
    "",
    "execute:8:",
    "GROUP SIZE STATE READY NODES OF WHY",
  ]);
  expect(lines.slice(5)).toHaveLength(2);
  const { nodearrays, groups } = JSON.parse(await run("nodearrays", "execute:8", "--json"));
  expect([nodearrays, groups]).toMatchObject([[], [{ name: "execute:8", groupsWhole: 2 }]]);
  expect(await run("nodearrays", "no-such")).toBe("no such node array");
});

test("nodes names the array that a node counts for, and filters by it", async () => {
  expect(squeezed(await run("nodes", "--nodearray", "execute:8"))).toHaveLength(5);
  expect(squeezed(await run("nodes", "--nodearray", "execute"))).toHaveLength(5);
  expect(squeezed(await run("nodes", "--nodearray", "licensed"))[1]).toMatch(
    /^licensed-1 licensed Standard_F4 /,
  );
});

test("a change of a dynamic array's attributes says which nodes have the old ones", async () => {
  const change = {
    Name: "licensed",
    Dynamic: true,
    Extends: "other",
    TargetCount: 2,
    Configuration: { version: "2" },
  };
  await app.call("PUT", "/api/clusters/prod/request-sets/standard", {
    nodearrays: [{ Name: "execute", TargetGroupCount: 2, GroupCoreCount: 8 }, change],
    expirationInterval: 86_400,
  });
  const [, line] = await (async () => squeezed(await run("nodearrays", "licensed")))();
  expect(line).toContain("1 node has the attributes of before: licensed-1");
  const ready = () => app.simulator.log.filter(({ kind }) => kind === "node-ready").length;
  await expect.poll(ready, patiently).toBe(6);
  await app.call("POST", "/api/clusters/prod/tick");
  // The new node has the new ones.
  expect(squeezed(await run("nodearrays", "licensed"))[1]).toMatch(/ 2 ready 1 node has .*: licensed-1$/);
});

test("end-down takes a dynamic and a grouped array, and ends none of the others", async () => {
  const config = { downTimeout: "never" };
  expect((await app.call("PUT", "/api/clusters/prod/config", config)).status).toBe(200);
  const ready = app.simulator.log.filter(({ kind }) => kind === "node-ready");
  for (const event of ready) if ("nodeId" in event) app.simulator.faults.shutDown(event.nodeId);
  const down = async () => {
    await app.call("POST", "/api/clusters/prod/tick");
    return (await run("nodes", "--json")).split('"downSince"').length - 1;
  };
  await expect.poll(down, patiently).toBe(6);
  expect(await run("end-down", "licensed")).toMatch(/^these 2 nodes end, .*: licensed-1, licensed-2$/);
  expect(await run("end-down", "execute:8")).toMatch(/^these 4 nodes end, /);
  expect(await run("end-down", "other")).toMatch(/: licensed-1, licensed-2$/);
});

test("buckets --constraint shows those whose new nodes meet it, and -o chooses the columns", async () => {
  const chosen = ["buckets", "-o", "size,nodearray,price,group", "--constraint"];
  expect(squeezed(await run(...chosen, '{"ncpus": 4, "node.nodearray": "other"}'))).toEqual([
    "SIZE NODEARRAY PRICE GROUP",
    "Standard_F4 other - -",
  ]);
  // A row for each placement group that exists.
  expect(squeezed(await run(...chosen, '[{"in-a-placement-group": true}]'))).toHaveLength(3);
  expect(await run(...chosen, '{"ncpus": 5}')).toBe("no bucket has such nodes");
  const { buckets } = JSON.parse(
    await run("buckets", "--json", "--constraint", '{"node.nodearray": "other"}'),
  );
  expect(buckets).toMatchObject([{ nodearray: "other" }]);
});

test("a constraint or a column that is wrong is named", async () => {
  const words = ["buckets", "-c", "prod", "--url", app.host.url, "--key", app.host.keys.host];
  const wrong = async (...more: readonly string[]) => runCommand([...words, ...more]);
  expect(await wrong("--constraint", '{"node.size": "F4"}')).toMatchObject({
    code: 2,
    err: expect.stringContaining("fits"),
  });
  expect(await wrong("--constraint", "ncpus=4")).toMatchObject({ code: 2 });
  expect(await wrong("-o", "size,sise")).toMatchObject({ code: 2, err: expect.stringContaining("bound-by") });
  expect(await app.call("GET", "/api/clusters/prod?fits=4")).toMatchObject({ status: 400 });
  expect(await app.call("GET", "/api/clusters/prod?fits=%7B")).toMatchObject({
    status: 400,
    body: { problems: [{ path: "fits" }] },
  });
});
