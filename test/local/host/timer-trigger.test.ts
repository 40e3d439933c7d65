import { TableClient } from "@azure/data-tables";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startAzurite } from "../../../src/local/azurite.ts";
import { checkTimer } from "../../../src/local/host/timer-trigger.ts";
import { scaledClock } from "../../../src/local/scaled-clock.ts";
import { paced } from "../../support/patience.ts";
import { journal, seenBy } from "../../support/toy-app/journal.ts";
import { startToyHost, type ToyOptions } from "../../support/toy-app/start.ts";

type Azurite = Awaited<ReturnType<typeof startAzurite>>;

const patiently = { interval: 20 };
const MINUTE = 60_000;

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

const due = async (): Promise<number> => {
  const rows = table.listEntities<{ next?: string }>({ queryOptions: { filter: "PartitionKey eq 'timer'" } });
  for await (const { next = "" } of rows) return Date.parse(next);
  return Number.NaN;
};

const start = (timer: string, options: Omit<ToyOptions, "connectionString"> = {}) =>
  startToyHost({
    connectionString: azurite.connectionString,
    settings: { [`AzureWebJobs.${timer}.Disabled`]: "false" },
    ...options,
  });

test("a timer runs at each full minute of the scaled clock, and remembers the next", async () => {
  const origin = Date.UTC(2026, 0, 1);
  const speed = paced(120);
  const scaled = (real: number) => origin + (real - origin) * speed;
  const before = scaled(Date.now());
  const host = await start("tick", { origin, speed });
  await expect.poll(() => seenBy("tick").length, patiently).toBeGreaterThanOrEqual(2);
  await host.stop();
  const minutes = seenBy("tick").map((real) => Math.floor(scaled(Number(real)) / MINUTE));
  // The clock is that of the origin: further from it than real time is, by the speed.
  expect(minutes[0]).toBeGreaterThan(before / MINUTE - 1);
  expect(new Set(minutes).size).toBe(minutes.length);
  expect(await due()).toBeGreaterThan((minutes.at(-1) ?? 0) * MINUTE);
});

const HALF_PAST = Date.UTC(2026, 10, 20, 10, 20, 30);

test.each([
  { name: "the first one: it waits for its minute", stored: undefined, runs: 0 },
  { name: "before the minute that it remembers: it waits", stored: HALF_PAST + MINUTE / 2, runs: 0 },
  { name: "two hours after a minute that was missed: it runs once", stored: HALF_PAST - 7_200_000, runs: 1 },
])("at a start: $name", async ({ stored, runs }) => {
  if (stored !== undefined)
    await table.createEntity({ partitionKey: "timer", rowKey: "tick", next: new Date(stored).toISOString() });
  const host = await start("tick", {
    clock: { ...scaledClock({ origin: 0, speed: 1 }), now: () => HALF_PAST },
    speed: 1,
  });
  await expect.poll(due, patiently).toBe(HALF_PAST + MINUTE / 2);
  // Long enough for a run that should not be.
  await new Promise((resolve) => setTimeout(resolve, 100));
  await host.stop();
  expect(seenBy("tick")).toHaveLength(runs);
});

test("a run that takes longer than a minute is followed at once by one more, and never overlaps itself", async () => {
  const host = await start("overlong", { speed: 720 }); // a minute every 83 real ms; a run takes 250
  await expect.poll(() => seenBy("overlong").length, patiently).toBeGreaterThanOrEqual(6);
  await host.stop();
  const seen = seenBy("overlong");
  expect(seen.filter((_, i) => i % 2 === 0)).toEqual(seen.filter((_, i) => i % 2 === 0).map(() => "begin"));
  expect(seen.filter((_, i) => i % 2 === 1)).toEqual(seen.filter((_, i) => i % 2 === 1).map(() => "end"));
  expect(seen.length % 2).toBe(0); // stop waited for the last run
});

test("two hosts, one timer: only one runs it; when that one stops, the other takes over", async () => {
  const ran: string[] = [];
  const origin = Date.now(); // one clock for both
  const startNamed = (instanceId: string) =>
    start("tick", {
      origin,
      speed: 240, // four times a real second
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

test("another schedule is refused", () => {
  const bindings = { t: { type: "timerTrigger", schedule: "0 */5 * * * *" } };
  const registered = { metadata: { name: "t", bindings }, callback: () => undefined };
  expect(() => checkTimer(registered)).toThrow("schedule");
});
