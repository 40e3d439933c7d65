import { expect, test } from "vitest";
import { tickAll } from "../../src/app/tick.ts";
import { VirtualClock } from "../../src/local/play/virtual-clock.ts";
import { appOnTable } from "../support/app-on-table.ts";
import { memoryTable } from "../support/memory-table.ts";

/** What a tick of a cluster that rests asks of storage. */
test("a minute of rest reads one row and writes none; the look at the quarter of an hour writes four", async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const table = memoryTable(clock);
  const { app } = appOnTable(clock, table);
  for (let minute = 0; minute < 16; minute += 1) {
    await tickAll(app);
    clock.moveTo(clock.now() + 60_000);
  }
  table.reset();
  expect(await tickAll(app)).toMatchObject([{ outcome: { kind: "not-due" } }]);
  expect(table.counts).toMatchObject({ reads: 1, pages: 0, writes: 0, transactions: 0 });
  table.reset();
  for (let minute = 17; minute <= 30; minute += 1) {
    clock.moveTo(clock.now() + 60_000);
    table.reset();
    await tickAll(app);
  }
  // The record is loaded for the reservation and for the plan; the history and housekeeping read a little.
  expect(table.counts).toMatchObject({
    reads: 3,
    pages: 1,
    writes: 4,
    bodyWrites: 2,
    transactions: 0,
    removed: 0,
  });
});
