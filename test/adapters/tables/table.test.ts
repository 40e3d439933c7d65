import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { TableClient } from "@azure/data-tables";
import { tableRecordStore } from "../../../src/adapters/tables/record-store.ts";
import type { Table } from "../../../src/adapters/tables/table.ts";
import { openTable } from "../../../src/adapters/tables/open-table.ts";
import { azuriteForThisFile } from "../../support/azurite.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { SAMPLE_BODIES } from "../../support/sample-bodies.ts";
import { SAMPLE_RECORD, SAMPLE_TIME } from "../../support/sample-record.ts";

const azurite = azuriteForThisFile();

function accountAt(port: number, key = Buffer.from("key").toString("base64")) {
  const connectionString = `DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=${key};TableEndpoint=http://127.0.0.1:${port}/devstoreaccount1;`;
  return { kind: "connection-string", connectionString } as const;
}

/** A service that answers everything with one status. */
async function withAnswers<T>(status: number, body: string, use: (port: number) => Promise<T>): Promise<T> {
  const server = createServer(
    (_, response) => void response.writeHead(status, { "retry-after": "0" }).end(body),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A listening TCP server's address is never a text.
  const { port } = server.address() as AddressInfo;
  try {
    return await use(port);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

test.each([
  { name: "busy", status: 503, kind: "throttled" },
  { name: "too many requests", status: 429, kind: "throttled" },
  { name: "not allowed", status: 403, kind: "denied" },
  { name: "not authenticated", status: 401, kind: "denied" },
  { name: "broken", status: 500, kind: "unexpected" },
  { name: "malformed request", status: 400, kind: "unexpected" },
])("an answer $status ($name) is $kind", async ({ status, kind }) => {
  const failing = withAnswers(status, "{}", (port) =>
    openTable(accountAt(port), { name: "demo" }).read("p", "r"),
  );
  await expect(failing).rejects.toMatchObject({
    name: "PortError",
    kind,
    status,
    operation: "read row p/r of table demo",
  });
});

test("a port where nobody listens is unreachable, after a few quick retries", async () => {
  const free = await withAnswers(200, "", (port) => Promise.resolve(port));
  const started = performance.now();
  await expect(openTable(accountAt(free)).read("p", "r")).rejects.toMatchObject({
    kind: "unreachable",
    status: undefined,
  });
  expect(performance.now() - started).toBeLessThan(PATIENCE_MS);
});

test("a table that does not exist is made by the first call, whatever it is", async () => {
  const calls: readonly ((table: Table) => Promise<unknown>)[] = [
    async (table) => expect(await table.read("p", "r")).toBeUndefined(),
    async (table) => expect(await table.list("p", { from: "a", to: "z" }, [], 10)).toEqual([]),
    async (table) => expect(await table.insert("p", "r", {})).toMatchObject({ kind: "written" }),
    async (table) => expect(await table.replace("p", "r", {}, SOME_ETAG)).toEqual({ kind: "conflict" }),
    async (table) => expect(await table.removeTogether("p", ["r"])).toEqual({ kind: "conflict" }),
    (table) => table.put("p", "r", {}),
    (table) => table.remove("p", "r"),
  ];
  for (const call of calls) {
    const table = openTable(azurite.account(), { name: azurite.freshName() });
    await call(table);
    await table.put("p", "after", {});
    expect(await table.read("p", "after")).toBeDefined();
  }
});

test("a table that is deleted while it is used is made again, by any number of callers at one time", async () => {
  const name = azurite.freshName();
  const table = openTable(azurite.account(), { name });
  await table.ensure();
  await table.put("p", "r", { n: 1 });
  for (let round = 0; round < 2; round += 1) {
    await deleteTable(name);
    expect(await Promise.all([1, 2, 3, 4, 5].map(() => table.read("p", "r")))).toEqual(
      Array.from({ length: 5 }, () => undefined),
    );
    await table.put("p", "r", { n: round });
    expect((await table.read("p", "r"))?.values).toMatchObject({ n: round });
  }
});

test("a record whose table is deleted under it is born again, with all its bodies", async () => {
  const name = azurite.freshName();
  const store = tableRecordStore(openTable(azurite.account(), { name }), { now: () => SAMPLE_TIME });
  const first = await store.save(SAMPLE_RECORD, SAMPLE_BODIES, undefined);
  await deleteTable(name);
  const { cluster } = SAMPLE_RECORD;
  expect(await store.load(cluster)).toBeUndefined();
  expect(first.kind === "saved" && (await store.save(SAMPLE_RECORD, {}, first.loaded))).toEqual({
    kind: "conflict",
  });
  await store.save(SAMPLE_RECORD, SAMPLE_BODIES, undefined);
  const cold = tableRecordStore(openTable(azurite.account(), { name }), { now: () => SAMPLE_TIME });
  const loaded = await cold.load(cluster);
  expect(loaded && (await cold.bodies(loaded))).toStrictEqual(SAMPLE_BODIES);
});

const SOME_ETAG = `W/"datetime'2026-01-01T00%3A00%3A00.0000000Z'"`;

async function deleteTable(name: string): Promise<void> {
  const account = azurite.account();
  if (account.kind !== "connection-string") throw new Error("Azurite has a connection string");
  const options = { allowInsecureConnection: true };
  await TableClient.fromConnectionString(account.connectionString, name, options).deleteTable();
}

test("creating the table twice, and at one time, is no error", async () => {
  const name = azurite.freshName();
  const [one, two] = [openTable(azurite.account(), { name }), openTable(azurite.account(), { name })];
  await Promise.all([one.ensure(), one.ensure(), two.ensure()]);
  await two.ensure();
  expect(await one.read("p", "r")).toBeUndefined();
});

test("a failure to create the table is not remembered", async () => {
  const port = await withAnswers(400, "{}", async (port) => {
    await expect(openTable(accountAt(port)).ensure()).rejects.toMatchObject({ status: 400 });
    return port;
  });
  const table = openTable(accountAt(port));
  await expect(table.ensure()).rejects.toMatchObject({ kind: "unreachable" });
  await expect(table.ensure()).rejects.toMatchObject({ kind: "unreachable" });
});

test("a guarded removal is all or nothing", async () => {
  const table = openTable(azurite.account(), { name: azurite.freshName() });
  await table.ensure();
  await table.insert("p", "guard", { n: 1 });
  const stale = (await table.read("p", "guard"))?.etag ?? "";
  await table.put("p", "guard", { n: 2 });
  await table.put("p", "a", {});
  const guard = { rowKey: "guard", values: { touched: true } };
  expect(await table.removeTogether("p", ["a"], { ...guard, etag: stale })).toStrictEqual({
    kind: "conflict",
  });
  expect(await table.read("p", "a")).toBeDefined();

  const etag = (await table.read("p", "guard"))?.etag ?? "";
  expect(await table.removeTogether("p", ["a", "gone"], { ...guard, etag })).toStrictEqual({
    kind: "conflict",
  });
  expect(await table.read("p", "a")).toBeDefined();

  const outcome = await table.removeTogether("p", ["a"], { ...guard, etag });
  const after = await table.read("p", "guard");
  expect(outcome).toStrictEqual({ kind: "written", etag: after?.etag });
  expect(after?.values).toMatchObject({ n: 2, touched: true });
  expect(await table.read("p", "a")).toBeUndefined();
});
