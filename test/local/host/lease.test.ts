import { TableClient } from "@azure/data-tables";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startAzurite } from "../../../src/local/azurite.ts";
import { acquireLease } from "../../../src/local/host/lease.ts";
import { VirtualClock } from "../../../src/local/play/virtual-clock.ts";

type Azurite = Awaited<ReturnType<typeof startAzurite>>;

const clock = new VirtualClock(Date.UTC(2026, 0, 1));
const minute = 60_000;
const patiently = { interval: 5 };

let azurite: Azurite;
let table: TableClient;

beforeAll(async () => {
  azurite = await startAzurite();
  table = TableClient.fromConnectionString(azurite.connectionString, "leases", {
    allowInsecureConnection: true,
  });
  await table.createTable();
});
afterAll(() => azurite.close());

/** Until when the lease holds. */
const heldUntil = async (name: string): Promise<number> => {
  const { until } = await table.getEntity<{ until: string }>("lease", name);
  return Date.parse(until);
};

const acquire = (name: string, owner: string, durationMs = minute) =>
  acquireLease({ table, name, owner, clock, durationMs });

describe("a lease", () => {
  test("has one owner, however many ask at once", async () => {
    const owners = Array.from({ length: 10 }, (_, i) => `owner-${i}`);
    const leases = await Promise.all(owners.map((owner) => acquire("contended", owner)));
    expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1);
    for (const lease of leases) await lease?.release();
  });

  test("is kept for longer than it lasts, as long as its owner lives", async () => {
    const lease = await acquire("kept", "a");
    for (let third = 1; third <= 4; third += 1) {
      clock.moveTo(clock.now() + minute / 3);
      await expect.poll(() => heldUntil("kept"), patiently).toBe(clock.now() + minute);
    }
    expect(await acquire("kept", "b")).toBeUndefined();
    expect(lease?.lost.aborted).toBe(false);
    await lease?.release();
  });

  test("can be taken at once when it was given up", async () => {
    await (await acquire("given-up", "a"))?.release();
    const next = await acquire("given-up", "b");
    expect(next).toBeDefined();
    await next?.release();
  });

  test("runs out when its owner is gone", async () => {
    const until = new Date(clock.now() + minute).toISOString();
    await table.createEntity({ partitionKey: "lease", rowKey: "orphan", owner: "gone", until });
    expect(await acquire("orphan", "b")).toBeUndefined();
    clock.moveTo(clock.now() + minute + 1000);
    const next = await acquire("orphan", "b");
    expect(next).toBeDefined();
    await next?.release();
  });

  test("says that it is lost when another owner has taken it, and then releases nothing", async () => {
    const lease = await acquire("stolen", "a");
    const until = new Date(clock.now() + 60 * minute).toISOString();
    await table.upsertEntity({ partitionKey: "lease", rowKey: "stolen", owner: "thief", until }, "Replace");
    clock.moveTo(clock.now() + minute / 3);
    await expect.poll(() => lease?.lost.aborted, patiently).toBe(true);
    await lease?.release();
    expect(await table.getEntity("lease", "stolen")).toMatchObject({ owner: "thief" });
  });
});
