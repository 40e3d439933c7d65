import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { runCommand } from "../cli/run-command.ts";

/** An operator says that storage was restored from a backup. */

let app: LocalApp;

beforeAll(async () => {
  app = await startLocalApp({ clusters: ["prod", "other"], speed: 60 });
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
    .poll(async () => (await app.call("GET", "/api/clusters/prod")).body, { timeout: 15_000 })
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
