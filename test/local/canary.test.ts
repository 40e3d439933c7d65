import { TableClient, TableServiceClient } from "@azure/data-tables";
import { QueueServiceClient } from "@azure/storage-queue";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { askToStop, openApi, sendDemand } from "../../src/client/index.ts";
import { startAzurite } from "../../src/local/azurite.ts";
import { readStopUrl } from "../../src/local/play/stop-url.ts";
import type { LocalSystem } from "../../src/local/system.ts";
import { startSystem } from "../../src/local/system.ts";
import type { CommandEnd } from "../cli/run-command.ts";
import { runCommand } from "../cli/run-command.ts";
import { PATIENCE_MS, paced } from "../support/patience.ts";

type Azurite = Awaited<ReturnType<typeof startAzurite>>;

/**
 * The system of `npm start` as processes of its own, with every kind of secret in it. They are then looked for in everything that the run
 * wrote and answered. Demand comes in by a storage account of its own.
 */
const TEMPLATE = "CANARY-TEMPLATE-91c2";
const REJECTED = "CANARY-REJECTED-5f08";
const patiently = { timeout: PATIENCE_MS, interval: 50 };

let system: LocalSystem;
/** The account of the queues that senders write to. */
let demand: Azurite;
const lines: string[] = [];
const answers: string[] = [];
const stops: { readonly url: string; readonly instance: string }[] = [];

beforeAll(async () => {
  demand = await startAzurite();
  system = await startSystem({
    speed: paced(60),
    onHostLine: (line) => lines.push(line),
    extraSettings: { AUTOSCALER_DEMAND: demand.connectionString },
    simulator: {
      clusters: [
        {
          name: "prod",
          arrays: [
            {
              name: "execute",
              region: "westeurope",
              machineTypes: ["Standard_F4"],
              maxCount: 10,
              configuration: {
                db_pw: TEMPLATE,
                sas: TEMPLATE,
                cyclecloud: { credentials: { password: TEMPLATE } },
              },
            },
          ],
        },
      ],
      machineTypes: { Standard_F4: { vcpuCount: 4, memory: 8, family: "standardFFamily" } },
      timings: { secondsToAllocate: 1, secondsToAcquire: 1, secondsToPrepare: 1, secondsToTerminate: 1 },
    },
  });
  system.simulator.onEvent((event) => {
    if (event.kind !== "node-ready") return;
    const url = readStopUrl(event.configuration);
    if (url !== undefined) stops.push({ url, instance: event.instanceId });
  });
  // CycleCloud quotes what it was sent, and does not know the password for a moment.
  system.simulator.faults.failNext({ method: "POST", pathIncludes: "nodes/create" }, 1, {
    status: 400,
    body: { Message: `Configuration.db_pw ${TEMPLATE} is not valid` },
  });
  await play();
});
afterAll(async () => {
  await system.close();
  await demand.close();
});

/** CycleCloud's words that quote the template, and the rows of the app while it keeps them. */
const REFUSED_WORDS = "Configuration.db_pw *** is not valid";
let refusedRows: readonly string[] = [];

/** A sender by the queue, a sender's mistakes, a reader and an operator over HTTP, and a node. */
async function play(): Promise<void> {
  const message = { version: 1 as const, cluster: "prod", requestSet: "work", expirationInterval: 86_400 };
  const nodearrays = [{ Name: "execute", TargetCount: 2 }];
  await sendDemand({ queue: demand.connectionString }, { ...message, nodearrays });
  const queue = QueueServiceClient.fromConnectionString(demand.connectionString).getQueueClient("demand");
  await queue.sendMessage(`{"version":1, password=${REJECTED}`);
  await queue.sendMessage(
    JSON.stringify({ ...message, nodearrays: [{ Name: "execute", Configuration: REJECTED }] }),
  );
  await vi.waitFor(async () => {
    refusedRows = await storedRows();
    expect(refusedRows.some((row) => row.includes(REFUSED_WORDS))).toBe(true);
  }, patiently);
  await vi.waitFor(() => expect(stops.length).toBeGreaterThanOrEqual(2), patiently);
  const { sender, reader, operator } = system.roleKeys;
  const set = "/api/clusters/prod/request-sets/work";
  await call("PUT", set, sender, {
    ...message,
    requestSet: undefined,
    jobs: [{ name: "j", priority: REJECTED }],
  });
  await call("PUT", set, sender, `{ ${REJECTED}`);
  for (const path of READ) await call("GET", path, reader);
  await call("POST", "/api/clusters/prod/plan", reader, {
    config: { default_resources: [{ select: {}, name: "peek", value: "node.software_configuration.db_pw" }] },
    requestSets: { curious: { jobs: [{ name: "j", constraints: [{ peek: "nope" }] }] } },
  });
  await call("PUT", "/api/clusters/prod/config", operator, { idleTimeout: REJECTED });
  await playEcho(operator, reader);
  await call("POST", "/api/clusters/prod/tick", operator);
  for (const { url, instance } of stops) answers.push(JSON.stringify(await askToStop(url, instance)));
  const reading = openApi({ url: system.url, key: reader });
  await vi.waitFor(async () => expect((await reading.clusters()).rejectedMessages.count).toBe(2), patiently);
  for (const path of READ) await call("GET", path, reader);
}

/** CycleCloud, or a proxy in front of it, sends back what it was sent. The trouble is in the record until an observation succeeds. */
async function playEcho(operator: string, reader: string): Promise<void> {
  const sent = Buffer.from(`autoscaler:${system.settings["CYCLECLOUD_PASSWORD"]}`).toString("base64");
  await vi.waitFor(async () => {
    system.simulator.faults.failNext({ method: "GET", pathIncludes: "/status" }, 2, {
      status: 500,
      body: { Message: `cannot serve Authorization: Basic ${sent}` },
    });
    expect(await call("POST", "/api/clusters/prod/tick", operator)).toContain("Authorization: Basic ***");
    for (const path of ["/api/clusters/prod", "/api/clusters"])
      expect(await call("GET", path, reader)).toContain("Authorization: Basic ***");
  }, patiently);
}

/** What the command line prints of the run, with an operator's key. */
async function commandLines(): Promise<readonly string[]> {
  const at = ["--url", system.url, "--key", system.roleKeys.operator];
  const ends: CommandEnd[] = [];
  for (const words of COMMANDS) ends.push(await runCommand([...words.split(" "), ...at], {}));
  expect(ends.filter(({ out }) => out.length === 0)).toEqual([]);
  return ends.map(({ out, err }) => `${out}\n${err}`);
}

const COMMANDS = [
  "status --cluster prod",
  "status --cluster prod --json",
  "nodes --cluster prod",
  "demand --cluster prod",
  "explain node execute-1 --cluster prod",
  "history --cluster prod",
  "config get --cluster prod",
  "verify",
];

const READ = [
  "/api/health",
  "/api/clusters",
  "/api/clusters/prod",
  "/api/clusters/prod/comparison",
  "/api/clusters/prod/config",
  "/api/clusters/prod/config/history",
  "/api/clusters/prod/history",
  "/api/clusters/prod/request-sets/work",
  "/api/clusters/prod/explain?job=nodearray:execute",
  "/api/clusters/prod/explain?node=execute-1",
  "/api/clusters/prod/explain?job=unknown",
  "/api/openapi.json",
  "/api/nowhere",
];

async function call(method: string, path: string, key: string, body?: unknown): Promise<string> {
  const response = await fetch(`${system.url}${path}`, {
    method,
    headers: { "x-functions-key": key },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = `${method} ${path} ${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`;
  answers.push(text);
  return text;
}

/** Every row of every table, unpacked. */
async function storedRows(): Promise<readonly string[]> {
  const options = { allowInsecureConnection: true };
  const service = TableServiceClient.fromConnectionString(system.connectionString, options);
  const rows: string[] = [];
  for await (const { name = "" } of service.listTables()) {
    const table = TableClient.fromConnectionString(system.connectionString, name, options);
    for await (const row of table.listEntities())
      rows.push(`${name} ${Object.values(row).map(textOf).join(" ")}`);
  }
  return rows;
}

function textOf(value: unknown): string {
  if (value instanceof Uint8Array)
    return (value[0] === 0x1f ? gunzipSync(value) : Buffer.from(value)).toString("utf8");
  // A whole number of 64 bits is no JSON.
  return typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? "");
}

/** Messages that lie in queues of an account, as "queue text". */
async function queued(connectionString: string): Promise<readonly string[]> {
  const service = QueueServiceClient.fromConnectionString(connectionString);
  const messages: string[] = [];
  for await (const { name } of service.listQueues()) {
    const { peekedMessageItems } = await service.getQueueClient(name).peekMessages({ numberOfMessages: 32 });
    messages.push(...peekedMessageItems.map(({ messageText }) => `${name} ${messageText}`));
  }
  return messages;
}

const keyIn = (connectionString: string) => /AccountKey=([^;]+)/.exec(connectionString)?.[1] ?? "no key";

/** Secrets that must appear nowhere. */
function secrets(): Readonly<Record<string, string>> {
  const { CYCLECLOUD_PASSWORD: password = "", AUTOSCALER_AUTOSTOP_KEYS: autostop = "" } = system.settings;
  return {
    "the CycleCloud password": password,
    "the password as it is sent": Buffer.from(`autoscaler:${password}`).toString("base64"),
    "the autostop secret": autostop.split(":")[1] ?? "",
    "a stop token": new URL(stops[0]?.url ?? "").pathname.split("/").at(-1) ?? "",
    "the master key": system.keys.master,
    "the host's key": system.keys.host,
    ...system.roleKeys,
    "the storage key": keyIn(system.connectionString),
    "a value of the template": TEMPLATE,
  };
}

describe("no secret is", () => {
  const found = (texts: readonly string[], among: Readonly<Record<string, string>>) =>
    Object.entries(among).flatMap(([name, secret]) =>
      secret.length < 8
        ? [`${name} is too short to look for`]
        : texts.some((text) => text.includes(secret))
          ? [name]
          : [],
    );

  test("in a line of the log", () => {
    expect(lines.some((line) => line.includes("message-rejected"))).toBe(true);
    expect(found(lines, { ...secrets(), "a rejected value": REJECTED })).toEqual([]);
  });

  test("in an answer to a reader, a sender, an operator or a node", () => {
    const texts = answers.filter((answer) => / (200|400|404|409|503) /.test(answer));
    expect(texts.length).toBeGreaterThan(20);
    expect(found(answers, { ...secrets(), "a rejected value": REJECTED })).toEqual([]);
  });

  test("in what the command line prints, verify included", async () => {
    expect(found(await commandLines(), { ...secrets(), "a rejected value": REJECTED })).toEqual([]);
  });

  test("in a row of a table", async () => {
    const rows = [...refusedRows, ...(await storedRows())];
    expect(rows.some((row) => row.includes("nodearray:execute"))).toBe(true);
    expect(found(rows, { ...secrets(), "a rejected value": REJECTED })).toEqual([]);
  });

  test("in a queue; a rejected message lies in the app's own account alone", async () => {
    const [own, senders] = await Promise.all([
      queued(system.connectionString),
      queued(demand.connectionString),
    ]);
    expect(found([...own, ...senders], secrets())).toEqual([]);
    expect(own.filter((text) => text.includes(REJECTED)).map((text) => text.split(" ")[0])).toEqual([
      "demand-rejected",
      "demand-rejected",
    ]);
    expect(found(senders, { "a rejected value": REJECTED })).toEqual([]);
  });
});

test("keys open their role's functions and no other", async () => {
  const { sender, reader, operator } = system.roleKeys;
  const set = "/api/clusters/prod/request-sets/other";
  const statusOf = async (method: string, path: string, key: string, body?: unknown) =>
    Number((await call(method, path, key, body)).split(" ")[2]);
  const demanded = { version: 1, jobs: [] };
  expect(await statusOf("PUT", set, reader, demanded)).toBe(401);
  expect(await statusOf("GET", set, sender)).toBe(401);
  expect(await statusOf("PUT", set, sender, demanded)).toBe(202);
  expect(await statusOf("GET", set, reader)).toBe(200);
  expect(await statusOf("DELETE", set, reader)).toBe(401);
  expect(await statusOf("PUT", "/api/clusters/prod/config", reader, {})).toBe(401);
  expect(await statusOf("PUT", "/api/clusters/prod/config", sender, {})).toBe(401);
  expect(await statusOf("GET", "/api/rejected-messages", reader)).toBe(401);
  // What a sender wrote is an operator's to see, and the search above would have found it.
  expect(await call("GET", "/api/rejected-messages", operator)).toContain(REJECTED);
  expect(await statusOf("PUT", set, operator, demanded)).toBe(202);
});
