import { TableClient } from "@azure/data-tables";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { LocalApp } from "../support/local-app.ts";
import { startLocalApp } from "../support/local-app.ts";
import { PATIENCE_MS, paced } from "../support/patience.ts";

/** The template's Configuration is sent to CycleCloud with each create, and appears nowhere else. */

const CANARY = "canary-7b2e91";
const CONFIGURATION = {
  cyclecloud: { credentials: { password: CANARY }, mounts: [{ key: `${CANARY}-in-a-list` }] },
  autoscale: { token: CANARY, resources: { scratch: 4 } },
  site: { licence: { key: CANARY } },
  // Plain values under names that do not look like secrets.
  db_pw: CANARY,
  sas: CANARY,
  munge: CANARY,
  rack: "r7",
};

const patiently = { timeout: PATIENCE_MS, interval: 100 };
let app: LocalApp;
const answers: string[] = [];

beforeAll(async () => {
  const array = { name: "execute", region: "westeurope", machineTypes: ["Standard_F4"], maxCount: 10 };
  app = await startLocalApp({
    clusters: ["prod"],
    table: "azurite",
    speed: paced(60),
    settings: { "AzureWebJobs.snapshot.Disabled": "true" },
    simulator: { clusters: [{ name: "prod", arrays: [{ ...array, configuration: CONFIGURATION }] }] },
  });
  await call("PUT", "/api/clusters/prod/config", { default_resources: [reading("rack", "rack")] });
  await tick();
  // CycleCloud refuses the first creates and quotes the request in its message. The message shows for a minute, which is one second here.
  app.simulator.faults.failNext({ method: "POST", pathIncludes: "nodes/create" }, 10, {
    status: 400,
    body: { Message: `Configuration.cyclecloud.credentials.password ${CANARY} is not valid` },
  });
  await push("refused", 1);
  await vi.waitFor(async () => {
    await tick();
    expect(JSON.stringify(await call("GET", "/api/clusters/prod"))).toContain("is not valid");
  }, patiently);
  app.simulator.faults.clear();
  await push("mine", 3);
  await vi.waitFor(async () => expect(await tick().then(readyNodes)).toBe(3), patiently);
  for (const [method, path, body] of REQUESTS) await call(method, path, body);
});
afterAll(() => app.close());

const reading = (name: string, key: string) => ({
  select: {},
  name,
  value: `node.software_configuration.${key}`,
});

/** A dry run asks for secrets as if they were resources. The job's reasons say what resources nodes have. */
const READING_ALL = {
  config: { default_resources: [reading("peek", "db_pw"), reading("rack", "rack")] },
  requestSets: {
    curious: {
      jobs: [
        { name: "j", constraints: [{ peek: "nope" }] },
        { name: "k", constraints: [{ rack: "nope" }] },
      ],
    },
  },
};

const REQUESTS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ["GET", "/api/health"],
  ["GET", "/api/clusters"],
  ["GET", "/api/clusters/prod"],
  ["GET", "/api/clusters/prod/config"],
  ["GET", "/api/clusters/prod/history"],
  ["GET", "/api/clusters/prod/request-sets/mine"],
  ["GET", "/api/clusters/prod/explain?job=nodearray:execute"],
  ["GET", "/api/clusters/prod/explain?node=execute-1"],
  ["POST", "/api/clusters/prod/plan"],
  ["POST", "/api/clusters/prod/plan", READING_ALL],
];

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await app.call(method, path, body);
  answers.push(`${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

const tick = () => call("POST", "/api/clusters/prod/tick");

const push = (set: string, count: number) =>
  call("PUT", `/api/clusters/prod/request-sets/${set}`, {
    version: 1,
    expirationInterval: 86_400,
    nodearrays: [{ Name: "execute", TargetCount: count, Configuration: { site: { row: 2 } } }],
  });

async function readyNodes(): Promise<number> {
  return JSON.stringify(await call("GET", "/api/clusters/prod")).split('"phase":"ready"').length - 1;
}

/** Every row of the app's table, unpacked. */
async function storedRows(): Promise<readonly string[]> {
  const table = TableClient.fromConnectionString(app.azurite.connectionString, "autoscaler", {
    allowInsecureConnection: true,
  });
  const rows: string[] = [];
  for await (const row of table.listEntities()) {
    const values = Object.values(row).map((value) =>
      value instanceof Uint8Array ? gunzipSync(value).toString("utf8") : String(value),
    );
    rows.push(`${row.partitionKey} ${row.rowKey} ${values.join(" ")}`);
  }
  return rows;
}

test("the nodes have it, so it was sent", () => {
  const ready = app.simulator.log.filter((event) => event.kind === "node-ready");
  expect(ready).toHaveLength(3);
  for (const { configuration } of ready)
    expect(configuration).toMatchObject({ ...CONFIGURATION, site: { licence: { key: CANARY }, row: 2 } });
});

describe("the canary is", () => {
  test("in no stored row", async () => {
    const rows = await storedRows();
    expect(rows.some((row) => row.includes("scratch"))).toBe(true);
    expect(rows.some((row) => row.includes('"rack":"r7"'))).toBe(true);
    expect(rows.some((row) => row.includes("credentials.password *** is not valid"))).toBe(true);
    expect(rows.filter((row) => row.includes("canary"))).toEqual([]);
  });

  test("in no answer", () => {
    expect(answers.filter((answer) => !/ 20[0-9] /.test(answer))).toEqual([]);
    expect(answers.some((answer) => answer.includes("credentials.password *** is not valid"))).toBe(true);
    expect(answers.some((answer) => answer.includes("rack is r7"))).toBe(true);
    expect(answers.filter((answer) => answer.includes("canary"))).toEqual([]);
  });

  test("in no line of the log", () => {
    expect(app.events.some(({ event }) => event === "intent")).toBe(true);
    expect(JSON.stringify(app.events)).not.toContain("canary");
    expect(app.lines.filter((line) => line.includes("canary"))).toEqual([]);
  });

  test("in no queue", async () => {
    for (const queue of ["demand", "demand-poison", "demand-rejected"])
      expect((await app.peek(queue)).filter((text) => text.includes("canary"))).toEqual([]);
  });
});
