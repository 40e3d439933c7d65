import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { BODY_KEYS, clusterPartition } from "../../../src/adapters/tables/keys.ts";
import { tableRecordStore } from "../../../src/adapters/tables/record-store.ts";
import type { RecordStore } from "../../../src/app/ports/record-store.ts";
import { clusterName } from "../../../src/domain/ids.ts";
import { minusSeconds } from "../../../src/domain/units.ts";
import { VirtualClock } from "../../../src/local/play/virtual-clock.ts";
import type { MemoryTable } from "../../support/memory-table.ts";
import { memoryTable } from "../../support/memory-table.ts";
import { emptyRecord, SAMPLE_RECORD, SAMPLE_TIME } from "../../support/sample-record.ts";
import { SAMPLE_BODIES } from "../../support/sample-bodies.ts";
import { CountingClock, dice, runUntil, steadyGarbage } from "./collector-runs.ts";

/** How the collector removes what no manifest names, while others save and write (docs/protocol.md, Storage). */
const demo = clusterName("demo");
const partition = clusterPartition(demo);

/** Times as measured against Azure: a row 8 to 12 ms, a transaction 25 ms. */
const AZURE = { read: 8, write: 12, page: 100, transaction: 25 };

const bodyRows = (table: MemoryTable) => table.keys(partition, BODY_KEYS.from, BODY_KEYS.to).length;

async function plantGarbage(table: MemoryTable, rows: number, writtenAt: number): Promise<void> {
  for (let number = 0; number < rows; number += 1) {
    const id = createHash("sha256").update(`garbage ${number}`).digest("hex");
    await table.put(partition, `b-${id}-0`, { writtenAt: BigInt(writtenAt) });
  }
}

/** Saves the record again and again, as this many renewals per minute do. */
async function renew(store: RecordStore, clock: VirtualClock, perMinute: number, next: () => number) {
  const until = clock.now() + 60_000;
  for (;;) {
    await clock.sleep((-Math.log(1 - next()) * 60_000) / perMinute);
    if (clock.now() >= until) return;
    const loaded = await store.load(demo);
    if (loaded !== undefined)
      await store.save({ ...loaded.record, generation: loaded.record.generation + 1 }, {}, loaded);
  }
}

describe("while request sets renew at random times", () => {
  test.each([200, 1_000])(
    "%i sets a minute: all garbage of five transactions goes in one collection",
    async (sets) => {
      const clock = new CountingClock(SAMPLE_TIME);
      const table = memoryTable(clock, AZURE);
      const [writer, collector] = [tableRecordStore(table, clock), tableRecordStore(table, clock)];
      await runUntil(clock, writer.save(emptyRecord(demo), {}, undefined));
      await runUntil(clock, plantGarbage(table, 495, minusSeconds(SAMPLE_TIME, 7200)));

      const renewals = renew(writer, clock, sets, dice(sets));
      expect(await runUntil(clock, collector.collect(demo, clock.now()), 2)).toBe(495);
      await runUntil(clock, renewals);
      expect(bodyRows(table)).toBe(0);
      const found = await runUntil(clock, collector.load(demo));
      const kept = await runUntil(clock, writer.load(demo));
      // The collector took nothing of what was saved meanwhile.
      expect(found?.record.generation).toBe(kept?.record.generation);
      expect(found?.record.generation).toBeGreaterThan(sets / 2);
    },
  );
});

describe("what is written at a steady rate goes as fast as it comes", () => {
  // Each for a day, also without the other: test/deep/collector.deep.ts.
  test("60,000 body rows an hour, every second transaction overtaken, by processes that live five minutes: at most two hours' rows are left", async () => {
    const { most, last } = await steadyGarbage({
      rowsAnHour: 60_000,
      hours: 2.5,
      lost: 0.5,
      restartMinutes: 5,
    });
    expect(most).toBeLessThanOrEqual(120_000);
    // An hour's rows are too young to be removed, and a collection begins every ten minutes.
    expect(last).toBeLessThanOrEqual(80_000);
  });
});

test("ticks with nothing to collect: a page of rows and a look at the manifest in ten minutes, as ever", async () => {
  const clock = new VirtualClock(SAMPLE_TIME);
  const table = memoryTable(clock);
  const store = tableRecordStore(table, clock);
  await store.save({ ...SAMPLE_RECORD, cluster: demo }, SAMPLE_BODIES, undefined);
  clock.moveTo(SAMPLE_TIME + 7_200_000);
  table.reset();
  for (let minute = 0; minute < 60; minute += 1) {
    clock.moveTo(SAMPLE_TIME + 7_200_000 + minute * 60_000);
    await store.collect(demo, clock.now(), minute % 10 === 0 ? "begin" : "go-on");
  }
  expect(table.counts).toMatchObject({ reads: 6, pages: 6, transactions: 0, writes: 0 });
});

test("rows that another collector has removed meanwhile do not stop this one", async () => {
  const clock = new VirtualClock(SAMPLE_TIME);
  const table = memoryTable(clock);
  await tableRecordStore(table, clock).save(emptyRecord(demo), {}, undefined);
  await plantGarbage(table, 250, minusSeconds(SAMPLE_TIME, 7200));
  let stolen = false;
  const racing = {
    ...table,
    async removeTogether(...call: Parameters<MemoryTable["removeTogether"]>) {
      const [, rows] = call;
      // The first transaction finds one of its rows gone: that alone moves no version of the record.
      if (!stolen && rows[5] !== undefined) await table.remove(partition, rows[5]);
      stolen = true;
      return table.removeTogether(...call);
    },
  };
  expect(await tableRecordStore(racing, clock).collect(demo, clock.now())).toBe(249);
  expect(bodyRows(table)).toBe(0);
});
