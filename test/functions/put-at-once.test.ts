import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { PortError } from "../../src/app/ports/port-error.ts";
import { composition } from "../../src/compose.ts";
import { clusterName, digest, setName } from "../../src/domain/ids.ts";
import type { SetEntry } from "../../src/domain/request-sets.ts";
import { plusSeconds } from "../../src/domain/units.ts";
import { EMPTY_RECORD } from "../support/build-record.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";

/** The effects of a PUT or DELETE of a request set where neither timer nor queue causes a plan. */

let app: LocalApp;
let wakes: { readonly askedAt: number; readonly at: number }[] = [];
let isQueueDown = false;
beforeAll(async () => {
  app = await startLocalApp({
    clusters: ["prod", "lame", "full"],
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

const patiently = { interval: 20 };
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
  const before = app.clock.now();
  expect(await put("second", 2)).toMatchObject({ status: 202 });
  // The plan of another test may ask for wake messages, too.
  const isIn2Seconds = ({ at, askedAt }: (typeof wakes)[number]) =>
    at >= before + 2000 && at <= askedAt + 2000;
  expect(wakes.filter(isIn2Seconds)).not.toEqual([]);
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

test("a set for which the cluster has no room is refused with what was found and allowed; one that is there is renewed", async () => {
  const { clock, store } = composition().app.ports;
  const now = clock.now();
  const body = { demands: [], pools: [], rejectedJobs: [] };
  const entry: SetEntry = {
    revision: { value: now - 60_000, tieBreak: "" },
    intervalSeconds: 3600,
    sentAt: now,
    acceptedAt: now,
    expiresAt: plusSeconds(now, 3600),
    digest: digest("held"),
    live: true,
    size: { jobs: 1, bytes: 20, memory: 80 },
  };
  const sets = new Map(
    Array.from({ length: 5000 }, (_, index) => [setName(`held-${index}`), entry] as const),
  );
  const record = { ...EMPTY_RECORD, cluster: clusterName("full"), sets };
  await store.save(record, { demands: new Map([[entry.digest, body]]) }, undefined);
  const found = "5001 live request sets with this message";
  const expected = "at most 5000 live request sets in a cluster; a set that lapses or is deleted makes room";
  expect(await put("new", 1, "full")).toMatchObject({
    status: 409,
    type: "application/problem+json",
    body: {
      title: "Too much demand",
      detail: `found ${found}, expected ${expected}`,
      problems: [{ path: "", found, expected }],
    },
  });
  expect(await put("held-7", 1, "full")).toMatchObject({ status: 202 });
  const dryRun = { requestSets: { new: { jobs: [{}] } } };
  await app.call("POST", "/api/clusters/full/tick");
  expect(await app.call("POST", "/api/clusters/full/plan", dryRun)).toMatchObject({
    status: 400,
    body: { problems: [{ path: "requestSets.new", found, expected }] },
  });
  expect(await app.call("DELETE", "/api/clusters/full/request-sets/held-8")).toMatchObject({ status: 202 });
  expect(await put("new", 1, "full")).toMatchObject({ status: 202 });
});
