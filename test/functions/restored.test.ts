import { TableClient } from "@azure/data-tables";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { RECORD_KEY, clusterPartition } from "../../src/adapters/tables/keys.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { runCommand } from "../cli/run-command.ts";
import { paced } from "../support/patience.ts";

/** An operator reports that storage was restored from a backup. */

let app: LocalApp;

beforeAll(async () => {
  app = await startLocalApp({ clusters: ["prod", "other"], table: "azurite", speed: paced(30) });
});
afterAll(() => app.close());

const answer = z.object({
  cluster: z.literal("prod"),
  epoch: z.string(),
  plan: z.number(),
  restingUntil: z.iso.datetime(),
  createsFrom: z.iso.datetime(),
});
const page = z.object({
  health: z.object({ restingUntil: z.string().optional(), notes: z.array(z.string()) }),
});

test("each call begins a new epoch: scale-down rests for five minutes, and creates wait for one", async () => {
  const message = { version: 1, nodearrays: [{ Name: "execute", TargetCount: 1 }], expirationInterval: 3600 };
  await app.call("PUT", "/api/clusters/prod/request-sets/standard", message);
  await expect
    .poll(async () => (await app.call("GET", "/api/clusters/prod")).body)
    .toMatchObject({ plan: {} });
  const first = await app.call("POST", "/api/clusters/prod/restored");
  expect(first.status).toBe(200);
  const began = answer.parse(first.body);
  const rest = Date.parse(began.restingUntil) - Date.parse(began.createsFrom);
  expect(rest).toBe(240_000);
  const { health } = page.parse((await app.call("GET", "/api/clusters/prod")).body);
  expect(health.restingUntil).toBe(began.restingUntil);
  const second = answer.parse((await app.call("POST", "/api/clusters/prod/restored")).body);
  expect(second.epoch).not.toBe(began.epoch);
  expect(second.plan).toBeGreaterThanOrEqual(began.plan);
});

test("other clusters keep their epoch, and an unknown cluster is 404", async () => {
  const { health } = page.parse((await app.call("GET", "/api/clusters/other")).body);
  expect(health.notes.join()).not.toContain("restored");
  expect((await app.call("POST", "/api/clusters/nobody/restored")).status).toBe(404);
});

test("the command line says what follows", async () => {
  const reach = ["--url", app.host.url, "--key", app.host.keys.host];
  const { code, out, err } = await runCommand(["restored", "-c", "prod", ...reach]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(
    /^prod begins a new epoch\nscale-down rests until \d{4}-\S+Z\nif the cluster has nodes, nothing is created before \d{4}-\S+Z$/,
  );
});

test("a row that is set back under the running app begins a new epoch by itself", async () => {
  const table = TableClient.fromConnectionString(app.azurite.connectionString, "autoscaler", {
    allowInsecureConnection: true,
  });
  const set = "/api/clusters/other/request-sets/standard";
  const push = (count: number) =>
    app.call("PUT", set, {
      version: 1,
      nodearrays: [{ Name: "execute", TargetCount: count }],
      expirationInterval: 3600,
    });
  const observed = () =>
    expect.poll(async () => (await app.call("GET", set)).body).toMatchObject({ observed: true });
  await push(1);
  await observed();
  const row = await table.getEntity(clusterPartition("other"), RECORD_KEY);
  await push(2);
  await observed();
  const setBack = () => app.events.filter(({ event }) => event === "record-set-back");
  expect(setBack()).toEqual([]);
  const { etag: _etag, timestamp: _timestamp, ...rest } = row;
  const { partitionKey, rowKey } = row;
  if (partitionKey === undefined || rowKey === undefined) throw new Error("a row has keys");
  await table.updateEntity({ ...rest, partitionKey, rowKey }, "Replace");
  await push(2);
  // Each load logs it until one has saved the new epoch. A tick may load beside the push.
  expect(setBack().at(0)).toMatchObject({ cluster: "other" });
  await observed();
  const { health } = page.parse((await app.call("GET", "/api/clusters/other")).body);
  expect(health.restingUntil).toBeDefined();
});
