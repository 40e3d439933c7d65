import { TableClient } from "@azure/data-tables";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { PortError } from "../../src/app/ports/port-error.ts";
import type { Policy } from "../../src/domain/policy.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { BAD_QUESTIONS, quota } from "./bad-questions.ts";
import { loseTicks } from "../support/lose-ticks.ts";
import { PATIENCE_MS, paced } from "../support/patience.ts";

/** POST /api/clusters/{c}/plan against the whole system: its forecast comes true, and a dry run changes nothing. */

let app: LocalApp;
/** Whether keeping a plan fails. */
let full = false;
/** What reading the configuration waits for. */
let reading: PromiseWithResolvers<void> | undefined;
/** How often it was read while that was awaited. */
let waiting = 0;
/** Parts of a stored configuration that a new one could not have. */
let stored: Partial<Policy> = {};
/** Cores by family, which the simulator reads for each answer. At first there is room for two nodes of four cores. */
const family: Record<string, number> = { standardFFamily: 8 };

beforeAll(async () => {
  app = await startLocalApp({
    clusters: ["prod"],
    table: "azurite",
    // A create may be sent for 30 s, which are 1.5 s or more here.
    speed: paced(20),
    // Only the requests of a test change the record.
    settings: { "AzureWebJobs.snapshot.Disabled": "true" },
    simulator: { quotas: { family } },
    decorate: (ports) => ({
      ...loseTicks(ports),
      policyOf: async (cluster) => {
        if (reading !== undefined) waiting += 1;
        await reading?.promise;
        return { ...(await ports.policyOf(cluster)), ...stored };
      },
      plans: {
        ...ports.plans,
        keep: (cluster, kept) =>
          full
            ? Promise.reject(new PortError("unreachable", "write row", "no answer"))
            : ports.plans.keep(cluster, kept),
      },
    }),
  });
  await tick();
  await app.call("PUT", "/api/clusters/prod/request-sets/mine", {
    version: 1,
    expirationInterval: 86_400,
    nodearrays: [{ Name: "execute", TargetCount: 6 }],
  });
  await vi.waitFor(async () => expect(await tick().then(readyNodes)).toBe(2), patiently);
});
afterAll(() => app.close());

const patiently = { timeout: PATIENCE_MS, interval: 100 };
const tick = () => app.call("POST", "/api/clusters/prod/tick");
const dryRun = (body?: unknown) => app.call("POST", "/api/clusters/prod/plan", body);

async function readyNodes(): Promise<number> {
  const { body } = await app.call("GET", "/api/clusters/prod");
  return JSON.stringify(body).split('"phase":"ready"').length - 1;
}

/** Every row of the app's table, with its version. */
async function storedRows(): Promise<readonly string[]> {
  const table = TableClient.fromConnectionString(app.azurite.connectionString, "autoscaler", {
    allowInsecureConnection: true,
  });
  const rows: string[] = [];
  for await (const row of table.listEntities()) rows.push(`${row.partitionKey} ${row.rowKey} ${row.etag}`);
  return rows.toSorted();
}

const where = { nodearray: "execute", machineType: "Standard_F4" };

test("nothing changed: nothing to do, and what is short is told with its reasons", async () => {
  expect(await dryRun()).toMatchObject({
    status: 200,
    body: {
      cluster: "prod",
      acting: true,
      plan: {
        creates: [],
        outcomes: [
          {
            requestSet: "mine",
            id: "nodearray:execute",
            asked: 6,
            placed: 2,
            unmet: 4,
            reasons: [expect.stringContaining("family quota standardFFamily: 8 of 8 cores used")],
            binding: expect.stringContaining("16 more cores of family quota standardFFamily"),
          },
        ],
      },
      without: { nodesCreated: 0, demands: 1, unmet: 1 },
      difference: { nodesCreated: 0, creates: [], demands: [], demandCount: 0 },
      rejectedJobs: [],
    },
  });
});

test("a bucket that is not offered, prices, another array: each by the same rules", async () => {
  const closed = await dryRun({
    buckets: [{ ...where, enabled: false }],
    limits: [{ ...quota, more: 100 }],
  });
  expect(closed).toMatchObject({
    body: { plan: { creates: [], outcomes: [{ reasons: [expect.stringContaining("not offered")] }] } },
  });
  const elsewhere = await dryRun({
    limits: [{ ...quota, max: 20 }],
    requestSets: {
      mine: null,
      other: { nodearrays: [{ Name: "other", TargetCoreCount: 9 }], jobs: [{ name: "bad", iterations: 0 }] },
    },
    config: {
      prices: { currency: "EUR", locations: { westeurope: { Standard_F4: 0.25 } } },
    },
  });
  expect(elsewhere).toMatchObject({
    body: {
      plan: {
        creates: [{ nodearray: "other", machineType: "Standard_F4", count: 3 }],
        pricePerHour: 0.75,
        nodesCreated: 3,
      },
      difference: {
        demands: [
          { requestSet: "other", id: "nodearray:other", asked: 9, placed: 9, askedWithout: 0 },
          { requestSet: "mine", asked: 0, placed: 0, askedWithout: 6, placedWithout: 2 },
        ],
        demandCount: 2,
      },
      rejectedJobs: [{ requestSet: "other", jobs: [{ name: "bad" }] }],
    },
  });
});

test("a group: its nodes by bucket and placement group", async () => {
  const grouped = { Name: "other", TargetGroupCount: 2, GroupInstanceCount: 2 };
  const { body } = await dryRun({
    limits: [{ ...quota, more: 16 }],
    requestSets: { mine: { nodearrays: [grouped] } },
  });
  const place = { nodearray: "other", machineType: "Standard_F4", count: 2 };
  const group = expect.stringMatching(/./);
  expect(body).toMatchObject({
    plan: {
      creates: [
        { ...place, placementGroup: group },
        { ...place, placementGroup: group },
      ],
      outcomes: [{ kind: "groups", unit: "groups", asked: 2, placed: 2, pending: 2, unmet: 0 }],
    },
  });
  const { plan } = z
    .object({ plan: z.object({ creates: z.array(z.object({ placementGroup: z.string() })) }) })
    .parse(body);
  expect(new Set(plan.creates.map(({ placementGroup }) => placementGroup)).size).toBe(2);
});

test("asking changes nothing: every stored row is as it was, to its version", async () => {
  const bodies = [
    {},
    { limits: [{ ...quota, more: 12 }] },
    { requestSets: { mine: null, fresh: { nodearrays: [{ Name: "other", TargetCount: 3 }] } } },
    { config: { idle_timeout: { default: 60, execute: 5 }, bootTimeout: { other: 7200 } } },
    { config: { enabled: false, idleTimeout: 1 }, buckets: [{ ...where, enabled: true }] },
  ];
  // A tick may change rows meanwhile. A change by a dry run would show each time.
  let before = await storedRows();
  let after: readonly string[] = [];
  expect(before.length).toBeGreaterThan(3);
  for (let tries = 0; tries < 8 && before.join() !== after.join(); tries += 1) {
    before = await storedRows();
    for (const body of bodies) expect((await dryRun(body)).status).toBe(200);
    after = await storedRows();
  }
  expect(after).toEqual(before);
  expect((await app.call("GET", "/api/clusters/prod/request-sets/fresh")).status).toBe(404);
});

describe("a body that makes no sense: 400 with path, found and expected", () => {
  test.each(BAD_QUESTIONS)("$name", async ({ body, problems }) => {
    expect(await dryRun(body)).toMatchObject({
      status: 400,
      type: "application/problem+json",
      body: { title: "Bad request", problems },
    });
  });
});

test("what it says of a larger quota is what happens when the quota is raised", async () => {
  const foretold = await dryRun({ limits: [{ ...quota, more: 12 }] });
  const difference = {
    nodesCreated: 3,
    creates: [{ ...where, count: 3 }],
    demands: [{ requestSet: "mine", placed: 5, placedWithout: 2 }],
  };
  expect(foretold).toMatchObject({
    body: { plan: { creates: [{ ...where, count: 3 }], unmet: 1 }, difference },
  });
  family["standardFFamily"] = 20;
  expect(await tick()).toMatchObject({ body: { outcome: "planned" } });
  expect(await app.call("GET", "/api/clusters/prod")).toMatchObject({
    body: {
      plan: {
        creates: [{ bucket: "execute/Standard_F4", count: 3 }],
        unmet: [{ id: "nodearray:execute", asked: 6, placed: 5 }],
      },
    },
  });
});

test("a past plan that changed something is explained as it was then", async () => {
  const history = z.object({
    rows: z.array(z.object({ at: z.string() })),
    keptPlans: z.array(z.number()),
    planCounts: z.array(z.looseObject({ at: z.string() })),
  });
  const read = async (query: string) =>
    history.parse((await app.call("GET", `/api/clusters/prod/history${query}`)).body);
  const { keptPlans, planCounts } = await read("");
  const [first, last] = [keptPlans.at(0), keptPlans.at(-1)];
  expect(planCounts.map(({ plan }) => plan)).toEqual(keptPlans);
  expect(planCounts.at(0)).toMatchObject({ at: expect.any(String), created: 2, unmet: 1 });
  expect(planCounts.at(-1)).toMatchObject({ created: 3, nodes: 2, unmet: 1 });
  expect(planCounts.length).toBeGreaterThanOrEqual(2);
  const [firstAt = ""] = planCounts.map(({ at }) => at);
  expect(await read(`?to=${firstAt}`)).toMatchObject({ keptPlans: [first] });
  const before = new Date(Date.parse(firstAt) - 1).toISOString();
  expect(await read(`?to=${before}`)).toMatchObject({ keptPlans: [] });
  // The first kept plan is older than the last plan of the oldest row in this time.
  const [row] = (await read("?limit=1")).rows;
  expect(await read(`?from=${firstAt}&to=${row?.at}`)).toMatchObject({ keptPlans });
  const explain = (query: string) => app.call("GET", `/api/clusters/prod/explain?${query}`);
  expect(await explain(`job=nodearray:execute&plan=${first}`)).toMatchObject({
    status: 200,
    body: {
      plan: first,
      planAt: expect.any(String),
      asked: 6,
      placed: 2,
      reasonTexts: [expect.stringContaining("family quota standardFFamily: 8 of 8 cores used")],
      counts: { created: 2, started: 0, terminated: 0, demands: 1, unmet: 1 },
    },
  });
  expect(await explain(`job=nodearray:execute&plan=${last}`)).toMatchObject({
    body: { plan: last, placed: 5, counts: { created: 3, nodes: 2 } },
  });
  expect(await explain(`job=nodearray:exekute&plan=${last}`)).toMatchObject({
    status: 404,
    body: { title: "Unknown job", nearest: ["nodearray:execute"] },
  });
  expect(await explain("node=execute-1&plan=0")).toMatchObject({
    status: 404,
    type: "application/problem+json",
    body: {
      title: "Unknown plan",
      detail: `plan 0 changed nothing, or is not kept any more (kept near it: ${keptPlans.join(", ")})`,
      near: keptPlans,
    },
  });
  expect(await explain("plan=last")).toMatchObject({
    status: 400,
    body: { problems: [{ path: "" }, { path: "plan", found: '"last"' }] },
  });
});

test("a plan that cannot be kept is carried out all the same, and the log says so", async () => {
  full = true;
  family["standardFFamily"] = 24;
  const ticked = await tick();
  expect(ticked).toMatchObject({ body: { outcome: "planned" } });
  const { plan } = z.object({ plan: z.number() }).parse(ticked.body);
  expect(await app.call("GET", "/api/clusters/prod")).toMatchObject({
    body: { plan: { number: plan, creates: [{ count: 1 }] } },
  });
  expect(app.events).toContainEqual(
    expect.objectContaining({ event: "plan-not-kept", cluster: "prod", plan, kind: "unreachable" }),
  );
});

test("one dry run at a time: another one is sent away, and told when to come again", async () => {
  const held = Promise.withResolvers<void>();
  reading = held;
  const first = dryRun({});
  await vi.waitFor(() => expect(waiting).toBeGreaterThan(0), patiently);
  // Another one waits for nothing, should it be made.
  reading = undefined;
  expect(await dryRun({})).toMatchObject({
    status: 429,
    type: "application/problem+json",
    retryAfter: "5",
    body: { detail: "another dry run is being made here, and only one is made at a time" },
  });
  held.resolve();
  expect(await first).toMatchObject({ status: 200 });
  // Also after one that could not be read.
  expect(await dryRun({ limits: 5 })).toMatchObject({ status: 400 });
  expect(await dryRun({})).toMatchObject({ status: 200 });
});

describe("a dry run that would cost more than there is, refused before it costs anything", () => {
  const list = <T>(count: number, of: (at: number) => T): readonly T[] =>
    Array.from({ length: count }, (_, at) => of(at));
  const senders = (rules: number, names: number) =>
    list(rules, (rule) => ({ requestSets: list(names, (at) => `*a*b*${rule}_${at}`) }));
  const longNames = () => Object.fromEntries(list(2000, (at) => ["a".repeat(150) + at, { jobs: [] }]));

  test.each([
    {
      name: "20,000 default resources that read each other",
      body: () => ({
        config: {
          default_resources: list(20_000, (at) => ({
            select: { [`r${at - 1}`]: "*a*" },
            name: `r${at}`,
            value: `node.resources.r${at - 1}`,
            add: 1,
          })),
        },
      }),
      problem: {
        path: "config.default_resources",
        found: "20000 entries",
        expected: "at most 200 entries",
      },
    },
    {
      name: "10,000 patterns for 2,000 sets",
      body: () => ({ config: { senders: senders(100, 100) }, requestSets: longNames() }),
      problem: { path: "config.senders", expected: "fewer or shorter patterns, or fewer request sets" },
    },
    {
      name: "900,000 patterns",
      body: () => ({ config: { senders: senders(1000, 900) }, requestSets: longNames() }),
      problem: {
        path: "config.senders",
        found: "900000 names in all rules",
        expected: "at most 10000 names in all rules",
      },
    },
    {
      name: "950,000 jobs in five sets",
      body: () => ({
        requestSets: Object.fromEntries(
          list(5, (set) => [`s${set}`, { jobs: list(190_000, (at) => ({ name: `j${at}` })) }]),
        ),
      }),
      problem: { path: "requestSets", found: "950000 jobs in all sets" },
    },
  ])("$name", async ({ body, problem }) => {
    const packed = gzipSync(JSON.stringify(body())).toString("base64");
    const before = process.cpuUsage();
    expect(await dryRun(packed)).toMatchObject({ status: 400, body: { problems: [problem] } });
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(3);
  });
});

test("with a stored duration of 1e308 s a set can be deleted, and a dry run is made", async () => {
  stored = { maxExpirationSeconds: 1e308, idleTimeoutSeconds: 1e308, planHistorySeconds: 1e308 };
  const path = "/api/clusters/prod/request-sets/short";
  expect(await app.call("PUT", path, { version: 1, jobs: [{ name: "j" }] })).toMatchObject({ status: 202 });
  expect(await app.call("DELETE", path)).toMatchObject({ status: 202 });
  expect(await dryRun({})).toMatchObject({ status: 200 });
  expect(await tick()).toMatchObject({ status: 200 });
  expect(await app.call("GET", "/api/clusters/prod")).toMatchObject({ status: 200 });
  stored = {};
});

test("the oldest date that there is asks for all of history", async () => {
  const from = async (time: string) =>
    z
      .object({ rows: z.array(z.unknown()) })
      .parse((await app.call("GET", `/api/clusters/prod/history?from=${time}`)).body).rows.length;
  expect(await from("-271821-04-20")).toBe(await from("1970-01-01"));
  expect(await from("1970-01-01")).toBeGreaterThan(0);
});

test("without a key: 401", async () => {
  expect((await app.callBare("POST", "/api/clusters/prod/plan")).status).toBe(401);
});
