import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { PortError } from "../../src/app/ports.ts";
import { instant } from "../../src/domain/units.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";

/** What a PUT or DELETE of a request set leads to, where neither timer nor queue brings a plan. */

let app: LocalApp;
let wakes: { readonly askedAt: number; readonly at: number }[] = [];
let isQueueDown = false;
beforeAll(async () => {
  app = await startLocalApp({
    clusters: ["prod", "lame"],
    speed: 1,
    settings: { "AzureWebJobs.snapshot.Disabled": "true" },
    decorate: (ports) => ({
      ...ports,
      queue: {
        ...ports.queue,
        wake: async (_cluster, at) => {
          wakes.push({ askedAt: ports.clock.now(), at });
          if (isQueueDown) throw new PortError("unreachable", "send to queue demand", "no connection");
        },
      },
      sites: new Map(
        [...ports.sites].map(([name, site]) => [
          name,
          {
            ...site,
            cyclecloud: {
              ...site.cyclecloud,
              status: (cluster, now) =>
                name === "lame"
                  ? Promise.reject(new Error("a defect"))
                  : site.cyclecloud.status(cluster, now),
            },
          },
        ]),
      ),
    }),
  });
});
afterAll(() => app.close());
beforeEach(() => {
  wakes = [];
  isQueueDown = false;
});

const patiently = { timeout: 10_000, interval: 20 };
const put = (set: string, count: number, cluster = "prod") =>
  app.call("PUT", `/api/clusters/${cluster}/request-sets/${set}`, {
    version: 1,
    expirationInterval: 3600,
    nodearrays: [{ Name: "execute", TargetCount: count }],
  });
const created = (): number => app.simulator.log.filter(({ kind }) => kind === "node-created").length;

test("the plan is made at once, without the wake message", async () => {
  expect(await put("first", 1)).toMatchObject({ status: 202 });
  await expect.poll(created, patiently).toBe(1);
});

test("the wake message is sent before the answer, to be seen 2 s later", async () => {
  expect(await put("second", 2)).toMatchObject({ status: 202 });
  const [wake] = wakes;
  expect((wake?.at ?? instant(0)) - (wake?.askedAt ?? 0)).toBe(2000);
  await expect.poll(created, patiently).toBe(2);
});

test("a DELETE is taken into account at once, too", async () => {
  expect(await app.call("DELETE", "/api/clusters/prod/request-sets/second")).toMatchObject({ status: 202 });
  await expect
    .poll(async () => (await app.call("GET", "/api/clusters/prod/request-sets/second")).body, patiently)
    .toMatchObject({ observed: true });
});

test("a wake message that cannot be sent is logged: the demand is durable all the same", async () => {
  isQueueDown = true;
  expect(await put("third", 3)).toMatchObject({ status: 202 });
  expect(app.events).toContainEqual(
    expect.objectContaining({ event: "wake-not-sent", cluster: "prod", kind: "unreachable" }),
  );
});

test("a plan that fails is no failure of the PUT; it is logged", async () => {
  expect(await put("any", 4, "lame")).toMatchObject({ status: 202 });
  await expect
    .poll(() => app.events, patiently)
    .toContainEqual({ event: "reconcile-failed", cluster: "lame", kind: "defect", message: "a defect" });
});
