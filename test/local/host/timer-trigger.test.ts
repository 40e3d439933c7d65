import { TableClient } from "@azure/data-tables";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startAzurite, type Azurite } from "../../../src/local/azurite.ts";
import { scaledClock } from "../../../src/local/scaled-clock.ts";
import { readStatus, writeStatus, type ScheduleStatus } from "../../../src/local/host/timer-trigger.ts";
import { paced } from "../../support/patience.ts";
import { journal, seenBy } from "../../support/toy-app/journal.ts";
import { startToyHost } from "../../support/toy-app/start.ts";

const patiently = { interval: 20 };

let azurite: Azurite;
let table: TableClient;

beforeAll(async () => {
  azurite = await startAzurite();
  table = TableClient.fromConnectionString(azurite.connectionString, "LocalFunctionsHost", {
    allowInsecureConnection: true,
  });
  await table.createTable();
});
afterAll(() => azurite.close());
// Each test gets a clean store.
beforeEach(async () => {
  journal.length = 0;
  for await (const { partitionKey = "", rowKey = "" } of table.listEntities()) {
    await table.deleteEntity(partitionKey, rowKey);
  }
});

const start = (settings: Readonly<Record<string, string>>, origin = Date.now(), speed = 60) =>
  startToyHost({ connectionString: azurite.connectionString, settings, origin, speed });

test("a timer runs at its occurrences on the scaled clock, knows its schedule, and remembers it", async () => {
  const origin = Date.UTC(2026, 0, 1);
  const speed = paced(120);
  const scaled = () => origin + (Date.now() - origin) * speed;
  const before = scaled();
  const host = await start({ TICK: "0 * * * * *" }, origin, speed); // once in a simulated minute, half a real second
  await expect.poll(() => seenBy("tick").length, patiently).toBeGreaterThanOrEqual(2);
  await host.stop();
  const seen = seenBy("tick");
  const [first, second] = seen as [TimerSeen, TimerSeen];
  expect(first).toMatchObject({ isPastDue: false, scheduleStatus: { last: "0001-01-01T00:00:00+00:00" } });
  const minute = Date.parse(first.scheduleStatus.next);
  expect(minute % 60_000).toBe(0);
  expect(Date.parse(second.scheduleStatus.next)).toBe(minute + 60_000);
  // The clock is that of the origin: further from it than real time is, by the speed.
  expect(minute).toBeGreaterThan(before);
  expect(minute).toBeLessThan(scaled() + 2 * 60_000);
  const status = await readStatus(table, "tick");
  // A busy machine may see a third one before it looks.
  expect(status?.next).toBe(minute + seen.length * 60_000);
});

type TimerSeen = { readonly scheduleStatus: { readonly last: string; readonly next: string } };

describe("at a start", () => {
  const now = Date.UTC(2026, 10, 20, 10, 20);
  const past = Date.UTC(2026, 10, 20, 8, 20);
  const nine = Date.UTC(2026, 10, 20, 9);
  test.each<{ name: string; stored: ScheduleStatus | undefined; runs: readonly unknown[] }>([
    { name: "the first one: it waits for its occurrence", stored: undefined, runs: [] },
    {
      name: "two hours after an occurrence that nobody ran: it runs once, late",
      stored: { last: past, next: nine, lastUpdated: past },
      runs: [{ isPastDue: true }],
    },
    {
      name: "with another schedule than it remembers: it waits",
      stored: { last: past, next: nine + 60_000, lastUpdated: past },
      runs: [],
    },
  ])("$name", async ({ stored, runs }) => {
    if (stored !== undefined) await writeStatus(table, "rare", stored);
    const host = await startToyHost({
      connectionString: azurite.connectionString,
      settings: { RARE: "0 0 * * * *" },
      clock: { ...scaledClock({ origin: 0, speed: 1 }), now: () => now },
      speed: 1,
    });
    await expect.poll(() => readStatus(table, "rare"), patiently).toBeDefined();
    await expect.poll(() => seenBy("rare"), patiently).toHaveLength(runs.length);
    // Long enough for a run that should not be.
    await new Promise((resolve) => setTimeout(resolve, 100));
    await host.stop();
    expect(seenBy("rare")).toMatchObject(runs);
    expect((await readStatus(table, "rare"))?.next).toBe(Date.UTC(2026, 10, 20, 11));
  });

  test("runOnStartup runs it, every time", async () => {
    for (const runs of [1, 2]) {
      const host = await start({ "AzureWebJobs.at-start.Disabled": "false" });
      await expect.poll(() => seenBy("at-start"), patiently).toHaveLength(runs);
      await host.stop();
    }
    expect(seenBy("at-start")).toMatchObject([{ isPastDue: false }, { isPastDue: false }]);
  });
});

test("a run that takes longer than its interval is followed at once by one more, and never overlaps itself", async () => {
  const host = await start({ OVERLONG: "*/5 * * * * *" }); // every 83 real ms; a run takes 250
  await expect.poll(() => seenBy("overlong").length, patiently).toBeGreaterThanOrEqual(6);
  await host.stop();
  const seen = seenBy("overlong");
  expect(seen.filter((_, i) => i % 2 === 0)).toEqual(seen.filter((_, i) => i % 2 === 0).map(() => "begin"));
  expect(seen.filter((_, i) => i % 2 === 1)).toEqual(seen.filter((_, i) => i % 2 === 1).map(() => "end"));
  expect(seen.length % 2).toBe(0); // stop waited for the last run
});

test("a timer that fires more than once a minute is told nothing of its schedule and remembers nothing", async () => {
  const host = await start({ TICK: "*/10 * * * * *" });
  await expect.poll(() => seenBy("tick"), patiently).not.toHaveLength(0);
  await host.stop();
  expect(seenBy("tick")[0]).toMatchObject({ scheduleStatus: null, isPastDue: false });
  expect(await readStatus(table, "tick")).toBeUndefined();
});

test("two hosts, one timer: only one runs it; when that one stops, the other takes over", async () => {
  const settings = { TICK: "*/15 * * * * *" }; // four times a real second
  const ran: string[] = [];
  const origin = Date.now(); // one clock for both
  const startNamed = (instanceId: string) =>
    startToyHost({
      connectionString: azurite.connectionString,
      settings,
      origin,
      instanceId,
      log: ({ message }) => {
        if (message === "tick ticked") ran.push(instanceId);
      },
    });
  const first = await startNamed("first");
  await expect.poll(() => ran.length, patiently).toBeGreaterThan(0);
  const second = await startNamed("second");
  const once = ran.length;
  await expect.poll(() => ran.length, patiently).toBeGreaterThan(once + 5);
  expect(new Set(ran)).toEqual(new Set(["first"]));
  await first.stop();
  await expect.poll(() => ran.at(-1), patiently).toBe("second");
  await second.stop();
});
