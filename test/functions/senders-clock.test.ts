import { afterEach, expect, test, vi } from "vitest";
import { z } from "zod";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { PATIENCE_MS, paced } from "../support/patience.ts";

/**
 * In the demo the app's clock is scaled, and the senders' clocks are real. Messages of curl without a revision, of the command line, and of
 * a script that writes `date +%s%3N` must still replace each other in one request set.
 */
let app: LocalApp;
afterEach(() => app.close());

const SET = "/api/clusters/prod/request-sets/mixed";
const patiently = { timeout: PATIENCE_MS, interval: 20 };
const shown = z.object({ revision: z.number(), demands: z.number(), state: z.string() });

test("messages with a real revision and without one follow one another by HTTP and queue", async () => {
  const settings = { "AzureWebJobs.snapshot.Disabled": "true" };
  app = await startLocalApp({ clusters: ["prod"], speed: paced(60), settings });
  const message = { version: 1, cluster: "prod", requestSet: "mixed", expirationInterval: 86_400 };
  const put = async (jobs: number, revision?: number) => {
    const named = Array.from({ length: jobs }, (_, index) => ({ name: String(index) }));
    return (await app.call("PUT", SET, { ...message, revision, jobs: named })).status;
  };
  const state = async () => shown.parse((await app.call("GET", SET)).body);

  expect(await put(1)).toBe(202);
  expect(await put(2, Date.now())).toBe(202);
  expect(await put(1)).toBe(202);
  expect((await app.call("DELETE", SET)).status).toBe(202);
  expect(await put(3, Date.now())).toBe(202);
  expect(await state()).toMatchObject({ demands: 3, state: "live" });

  // The queue gives times in whole seconds: a message that is sent in the second of an earlier revision counts as older.
  const second = Math.floor(Date.now() / 1000);
  await vi.waitUntil(() => Date.now() >= (second + 1) * 1000, patiently);
  await app.send("demand", JSON.stringify({ ...message, jobs: [] }));
  await expect.poll(async () => (await state()).demands, patiently).toBe(0);
  const revision = Date.now();
  expect(await put(2, revision)).toBe(202);
  expect(await state()).toMatchObject({ demands: 2, revision });
});
