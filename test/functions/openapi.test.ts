import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { describeAnswers } from "../../infra/describe-answers.ts";
import { loadApp } from "../../src/local/host/load-app.ts";
import { readStopUrl } from "../../src/local/play/stop-url.ts";
import { describeApi } from "../../src/wire/api/document.ts";
import { OPERATIONS } from "../../src/wire/api/operations.ts";
import { SCHEMAS } from "../../src/wire/api/schemas.ts";
import { JOB_KEYS } from "../../src/wire/message/job.ts";
import { HOST_KEYS } from "../../src/wire/message/scheduler-node.ts";
import { findUndescribed, operationOf, validatorOf } from "../support/check-answer.ts";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { paced } from "../support/patience.ts";

/** The description of the HTTP API is complete, has nothing else, and stays so. */

const written = new URL("../../functions/openapi.json", import.meta.url);

let app: LocalApp;
let stopUrl = "";
let instance = "";

beforeAll(async () => {
  app = await startLocalApp({ clusters: ["prod"], speed: paced(60) });
  app.simulator.onEvent((event) => {
    if (event.kind !== "node-ready") return;
    stopUrl = readStopUrl(event.configuration) ?? "";
    instance = event.instanceId;
  });
});
afterAll(() => app.close());

const patiently = { interval: 50 };

const httpBinding = z.object({
  type: z.literal("httpTrigger"),
  route: z.string(),
  methods: z.array(z.string()),
  authLevel: z.string(),
});

test("every registered route, method and key level is described, and nothing else", async () => {
  const registry = await loadApp(() => import("../../functions/main.ts"));
  const registered = [...registry.functions.values()].flatMap(({ metadata }) =>
    Object.values(metadata.bindings).flatMap((one) => {
      const { data } = httpBinding.safeParse(one);
      return (data?.methods ?? []).map((method) =>
        `${method} /${data?.route} ${data?.authLevel}`.toLowerCase(),
      );
    }),
  );
  const described = OPERATIONS.map(({ method, path, role }) =>
    `${method} ${path} ${role === "anyone" ? "anonymous" : "function"}`.toLowerCase(),
  );
  // The page is for people, and docs/http.md describes it.
  const pages = ["get /page anonymous", "get /page/{file} anonymous"];
  expect([...described, ...pages].toSorted()).toEqual(registered.toSorted());
  expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
});

test("functions/openapi.json is what the schemas make (else: npm run openapi), and is served", async () => {
  const file: unknown = JSON.parse(await readFile(written, "utf8"));
  expect(file).toEqual(JSON.parse(JSON.stringify(describeApi())));
  expect((await app.call("GET", "/api/openapi.json")).body).toEqual(file);
});

test("src/client/answers.ts is what functions/openapi.json makes (else: npm run openapi)", async () => {
  // The formatter decides on white space, brackets and line ends.
  const bare = (text: string) => text.replaceAll(/[\s;|()]/g, "");
  const made = await readFile(new URL("../../src/client/answers.ts", import.meta.url), "utf8");
  expect(bare(made)).toBe(bare(await describeAnswers(await readFile(written, "utf8"))));
  expect((await app.callBare("GET", "/api/openapi.json")).status).toBe(401);
});

test("it is whole: every reference leads to a schema, every schema is one, and each is used", () => {
  const text = JSON.stringify(describeApi());
  const refs = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
  expect(new Set(refs)).toEqual(new Set(Object.keys(SCHEMAS)));
  for (const name of Object.keys(SCHEMAS)) {
    expect(validatorOf(name, "open")).toBeTypeOf("function");
    expect(validatorOf(name, "closed")).toBeTypeOf("function");
  }
});

test("what only describes a reader knows the reader's keys", () => {
  expect(new Set(Object.keys(SCHEMAS.Job.shape))).toEqual(JOB_KEYS);
  expect(new Set(Object.keys(SCHEMAS.SchedulerNode.shape))).toEqual(HOST_KEYS);
});

describe("an answer that is not described is found", () => {
  const tick = { cluster: "prod", outcome: "planned", plan: 3 };
  const find = (status: number, body: unknown, type = "application/json") =>
    findUndescribed("POST", "/api/clusters/prod/tick", { status, type, body });

  test.each([
    { name: "as described", found: find(200, tick), expected: [] },
    { name: "another status", found: find(204, tick), expected: ["status 204 is not described"] },
    {
      name: "another type",
      found: find(200, tick, "text/html"),
      expected: ["the type is text/html, not application/json"],
    },
    {
      name: "a member more",
      found: find(200, { ...tick, more: 1 }),
      expected: [' must NOT have additional properties {"additionalProperty":"more"}'],
    },
    {
      name: "a member less",
      found: find(200, { outcome: "planned" }),
      expected: [' must have required property \'cluster\' {"missingProperty":"cluster"}'],
    },
    {
      name: "an error that is no problem",
      found: find(404, { title: "Unknown cluster" }, "application/problem+json"),
      expected: ["type", "status", "detail"].map((key) => expect.stringContaining(`'${key}'`)),
    },
  ])("$name", ({ found, expected }) => {
    expect(found).toEqual(expected);
  });
});

test("each operation of the running system answers as described (startLocalApp compares every answer)", async () => {
  const answered = new Set<string>();
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await app.call(method, `/api${path}`, body);
    const id = operationOf(method, `/api${path}`)?.id ?? path;
    answered.add(`${id} ${answer.status}`);
    return answer;
  };
  const set = "/clusters/prod/request-sets/mine";
  await call("PUT", set, {
    version: 1,
    expirationInterval: 3600,
    nodearrays: [
      { Name: "execute", TargetCount: 2 },
      { Name: "gpu", TargetCount: 1 },
    ],
    jobs: [
      { name: "small", constraints: { ncpus: 1 }, iterations: 3 },
      { name: "wide", constraints: [{ ncpus: 64 }], spot: "never" },
      { name: "gang", "node-count": 2, colocated: true, constraints: { exclusive: true } },
      {
        name: "huge",
        span: true,
        "node-count": 0,
        walltime: 60,
        placed: [{ hostname: "ip-1", iterations: 1 }],
      },
    ],
    schedulerNodes: [{ hostname: "ip-1", jobs: ["small"], state: "open", resources: { ncpus: 4 } }],
    pools: [
      { name: "licence", total: 3, used: 1 },
      { name: "mark", value: "blue" },
    ],
  });
  const odd = { version: 1, jobs: [{ name: "odd" }, { name: "odder", iterations: 0 }] };
  expect(await call("PUT", "/clusters/prod/request-sets/odd", odd)).toMatchObject({
    body: { rejectedJobs: [{ name: "odder" }] },
  });
  await expect.poll(() => stopUrl, patiently).not.toBe("");
  await expect.poll(async () => (await call("GET", set)).body, patiently).toMatchObject({ observed: true });
  await expect
    .poll(async () => (await call("GET", "/clusters/prod/history")).body, patiently)
    .toMatchObject({
      rows: expect.arrayContaining([expect.anything()]),
      keptPlans: expect.arrayContaining([expect.any(Number)]),
    });
  await expect
    .poll(async () => (await call("GET", "/clusters/prod/history/nodes")).body, patiently)
    .toMatchObject({ rows: expect.arrayContaining([expect.objectContaining({ phase: "ready" })]) });
  await call("GET", "/clusters/prod/history/nodes?limit=0");
  await call("GET", "/clusters/prod/comparison?since=2026-01-01");
  await call("GET", "/clusters/prod/comparison?since=never");
  await app.send("demand", "{}");
  await expect
    .poll(async () => (await call("GET", "/clusters")).body, patiently)
    .toMatchObject({ rejectedMessages: { count: 1 } });
  await call("GET", "/rejected-messages");
  await call("GET", "/clusters/prod");
  for (const query of ["job=small", "job=wide", "job=nodearray:execute"]) {
    expect((await call("GET", `/clusters/prod/explain?${query}`)).body).toMatchObject({ kind: "demand" });
  }
  // The name of a node is known once an observation has shown it, which may be later than the plan that created it.
  await expect
    .poll(async () => (await call("GET", "/clusters/prod/explain?node=execute-1")).body, patiently)
    .toMatchObject({ kind: "node" });
  const limits = [{ kind: "nodearray", name: "execute", unit: "nodes", max: 3 }];
  await call("POST", "/clusters/prod/plan", { limits, requestSets: { mine: null, odd: { jobs: [{}] } } });
  await call("POST", "/clusters/prod/tick");
  await call("POST", "/clusters/prod/wake");
  await call("POST", "/clusters/prod/nodearrays/execute/end-down");
  await call("POST", "/clusters/prod/restored");
  await call("PUT", "/clusters/prod/config", {
    nodearrays: ["execute"],
    caps: { users: { "*": { nodes: 5 } } },
    prices: { currency: "EUR", locations: { westeurope: { Standard_F4: { onDemand: 0.2, spot: 0.3 } } } },
    default_resources: [{ select: {}, name: "slots", value: 4 }],
    placementGroups: { execute: ["rack"] },
  });
  await call("GET", "/clusters/prod/config");
  await call("PUT", "/clusters/prod/config", { nodearrays: ["execute"] });
  await call("PATCH", "/clusters/prod/config", { set: { idleTimeout: 60 }, unset: ["bootTimeout"] });
  await call("GET", "/clusters/prod/config/history");
  await call("POST", "/clusters/prod/config/rollback");
  await call("GET", "/clusters/prod");
  await call("GET", "/health");
  await call("GET", "/openapi.json");
  const stop = `${new URL(stopUrl).pathname.slice("/api".length)}?instance=${instance}`;
  await call("GET", stop);
  await call("DELETE", set);
  await call("DELETE", "/clusters/prod/request-sets/odd");
  for (const method of ["GET", "POST"]) {
    await expect.poll(async () => (await call(method, stop)).status, patiently).toBe(200);
  }
  await call("GET", "/clusters/prod");
  const described = OPERATIONS.flatMap(({ id, answers }) =>
    Object.keys(answers)
      .filter((status) => Number(status) < 300)
      .map((status) => `${id} ${status}`),
  );
  expect(described.filter((one) => !answered.has(one))).toEqual([]);
});
