import { describe, expect, test } from "vitest";
import type { Table } from "../../../src/adapters/tables/table.ts";
import { plusSeconds } from "../../../src/domain/units.ts";
import { azuriteForThisFile } from "../../support/azurite.ts";
import { emptyRecord, SAMPLE_TIME } from "../../support/sample-record.ts";
import { SAMPLE_BODIES } from "../../support/sample-bodies.ts";
import { bodyRows, demo, freshTable, mustLoad, mustSave, storeAt } from "./fresh-store.ts";

const azurite = azuriteForThisFile();

describe("collecting", () => {
  /** A record whose ledger was replaced `times` times. No record names the old bodies. */
  async function withGarbage(table: Table, times: number) {
    const store = storeAt(table);
    let loaded = await mustSave(store, emptyRecord(demo), {});
    for (const [number, node] of Array.from(
      { length: times + 1 },
      () => [...SAMPLE_BODIES.ledger.values()][0],
    ).entries()) {
      if (node === undefined) throw new Error("the sample ledger is empty");
      const ledger = new Map([[node.nodeId, { ...node, name: `execute-${number}` }]]);
      loaded = await mustSave(store, { ...loaded.record, plan: number }, { ledger }, loaded);
    }
    return loaded;
  }

  test.each([
    { name: "not a second before the hour", seconds: 3600, removed: 0 },
    { name: "all that is older than an hour", seconds: 3601, removed: 5 },
  ])("unreferenced bodies are removed: $name", async ({ seconds, removed }) => {
    const table = await freshTable(azurite);
    await withGarbage(table, 5);
    expect(await storeAt(table).collect(demo, plusSeconds(SAMPLE_TIME, seconds))).toBe(removed);
    expect(await bodyRows(table)).toHaveLength(6 - removed);
    const other = storeAt(table);
    expect(
      [...((await other.bodies(await mustLoad(other)))?.ledger.values() ?? [])].map((node) => node.name),
    ).toStrictEqual(["execute-5"]);
  });

  test("more garbage than one transaction holds", async () => {
    const table = await freshTable(azurite);
    await withGarbage(table, 120);
    expect(await storeAt(table).collect(demo, plusSeconds(SAMPLE_TIME, 3601))).toBe(120);
    expect(await bodyRows(table)).toHaveLength(1);
  });

  test("a save that meant to name a collected body conflicts, and writes it again when it starts over", async () => {
    const table = await freshTable(azurite);
    const writer = storeAt(table);
    const before = await withGarbage(table, 0);
    const old = await writer.bodies(await mustLoad(writer));
    const after = await mustSave(writer, emptyRecord(demo), { ledger: new Map() }, before);
    // The writer is about to name the old ledger again; the collector, which has not seen that, removes it.
    const inTransit: Table = {
      ...table,
      async replace(...row) {
        await storeAt(table).collect(demo, plusSeconds(SAMPLE_TIME, 3601));
        return table.replace(...row);
      },
    };
    const slow = storeAt(inTransit);
    const ledger = old?.ledger ?? new Map();
    expect(await slow.save(emptyRecord(demo), { ledger }, after)).toStrictEqual({ kind: "conflict" });
    await mustSave(writer, emptyRecord(demo), { ledger }, await mustLoad(writer));
    const other = storeAt(table);
    expect((await other.bodies(await mustLoad(other)))?.ledger).toStrictEqual(ledger);
  });

  test("a record that moves while it is collected loses nothing", async () => {
    const table = await freshTable(azurite);
    const last = await withGarbage(table, 3);
    const racing: Table = {
      ...table,
      async removeTogether(...call) {
        await mustSave(storeAt(table), { ...last.record, plan: 99 }, {}, await mustLoad(storeAt(table)));
        return table.removeTogether(...call);
      },
    };
    expect(await storeAt(racing).collect(demo, plusSeconds(SAMPLE_TIME, 3601))).toBe(0);
    expect(await bodyRows(table)).toHaveLength(4);
    expect((await mustLoad(storeAt(table))).record.plan).toBe(99);
  });
});
