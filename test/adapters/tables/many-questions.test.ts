import { expect, test } from "vitest";
import { tableRecordStore } from "../../../src/adapters/tables/record-store.ts";
import { bornRecord } from "../../../src/decide/record/epoch.ts";
import { noteMark, noteStay } from "../../../src/decide/stops/questions.ts";
import { clusterName, epoch, nodeId } from "../../../src/domain/ids.ts";
import type { Questions } from "../../../src/domain/questions.ts";
import { instant } from "../../../src/domain/units.ts";
import { memoryTable } from "../../support/memory-table.ts";

const NOW = instant(Date.UTC(2026, 0, 1));
const CLOCK = { now: () => NOW, sleep: () => Promise.resolve() };
const DEMO = clusterName("demo");

/** Each node has asked, was told to stay, and has asked again and is marked. */
function asked(count: number): Questions {
  const entries = Array.from({ length: count }, (_, number) => {
    const time = NOW - ((number * 7919) % 600_000);
    const asking = { arrivedAt: instant(time), asked: time };
    const stay = noteStay(undefined, asking, instant(time + 40));
    const mark = noteMark(stay, asking, {
      since: instant(time + 45),
      by: "callback",
      plan: number,
      attempts: 0,
    });
    const random = ((number * 2_654_435_761) >>> 0).toString(16).padStart(8, "0");
    return [nodeId(`${random}-0000-4000-8000-${random}0000`), mark] as const;
  });
  return new Map(entries);
}

test.each([
  { nodes: 2500, bytes: 128 * 1024, rows: 1 },
  { nodes: 40_000, bytes: 1400 * 1024, rows: 2 },
])(
  "what $nodes nodes asked in ten minutes is saved and read, in $rows rows",
  async ({ nodes, bytes, rows }) => {
    const table = memoryTable(CLOCK);
    const store = tableRecordStore(table, CLOCK);
    const born = bornRecord(DEMO, epoch("e1"), NOW);
    const questions = asked(nodes);
    await store.save(born, { questions }, undefined);
    expect(table.counts.bodyWrites).toBe(rows);
    expect(table.counts.bytesWritten).toBeLessThan(bytes);
    const fresh = tableRecordStore(table, CLOCK);
    const loaded = await fresh.load(DEMO);
    const bodies = loaded && (await fresh.bodies(loaded));
    expect(bodies?.questions).toEqual(questions);
  },
);
