import { TableClient } from "@azure/data-tables";
import { QueueServiceClient } from "@azure/storage-queue";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { startAzurite } from "../../src/local/azurite.ts";
import { spawnAzurite } from "../support/spawn-azurite.ts";

type Azurite = Awaited<ReturnType<typeof startAzurite>>;

const queueOf = ({ connectionString }: Azurite) =>
  QueueServiceClient.fromConnectionString(connectionString).getQueueClient("things");
const tableOf = ({ connectionString }: Azurite) =>
  TableClient.fromConnectionString(connectionString, "things", { allowInsecureConnection: true });

async function leaveThings(azurite: Azurite): Promise<void> {
  await queueOf(azurite).create();
  await queueOf(azurite).sendMessage("hello");
  await tableOf(azurite).createTable();
  await tableOf(azurite).createEntity({ partitionKey: "p", rowKey: "r", text: "hello" });
}

async function findThings(azurite: Azurite): Promise<readonly unknown[]> {
  const { peekedMessageItems } = await queueOf(azurite).peekMessages();
  const entity = await tableOf(azurite).getEntity("p", "r");
  return [peekedMessageItems[0]?.messageText, entity["text"]];
}

test("serves queues and tables on loopback, and nobody after close", async () => {
  const azurite = await startAzurite();
  await leaveThings(azurite);
  expect(await findThings(azurite)).toEqual(["hello", "hello"]);
  expect(azurite.queueEndpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/devstoreaccount1$/);
  expect(azurite.tableEndpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/devstoreaccount1$/);
  await azurite.close();
  await expect(fetch(azurite.queueEndpoint)).rejects.toThrow();
  await expect(fetch(azurite.tableEndpoint)).rejects.toThrow();
});

test("as a child process, keeps its data in a folder when asked to, and has ended when it is closed", async () => {
  const location = await mkdtemp(path.join(tmpdir(), "azurite-"));
  const first = await spawnAzurite({ inMemory: false, location });
  await leaveThings(first);
  expect(await findThings(first)).toEqual(["hello", "hello"]);
  process.kill(first.pid, 0);
  await first.close();
  expect(() => process.kill(first.pid, 0)).toThrow("ESRCH");
  await expect(fetch(first.queueEndpoint)).rejects.toThrow();
  const second = await startAzurite({ inMemory: false, location });
  expect(await findThings(second)).toEqual(["hello", "hello"]);
  await second.close();
  await rm(location, { recursive: true });
});

test("started twice, has separate data on separate ports", async () => {
  const [one, other] = await Promise.all([startAzurite(), startAzurite()]);
  await leaveThings(one);
  expect(await queueOf(other).exists()).toBe(false);
  await Promise.all([one.close(), other.close()]);
});

test("on disk, wants to know where", async () => {
  await expect(startAzurite({ inMemory: false })).rejects.toThrow("needs a location");
});

test("no telemetry library is loaded", async () => {
  const azurite = await startAzurite();
  await azurite.close();
  const { createRequire } = await import("node:module");
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  expect(loaded.some((file) => file.includes("azurite"))).toBe(true);
  expect(loaded.filter((file) => /applicationinsights|opentelemetry/.test(file))).toEqual([]);
});
