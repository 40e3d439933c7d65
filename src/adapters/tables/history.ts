import type { History, HistoryRow } from "../../app/ports/record-store.ts";
import { instant } from "../../domain/units.ts";
import { asPortCall } from "../system/azure-errors.ts";
import { historyPartition } from "./keys.ts";
import type { Table } from "./table.ts";
import { TRANSACTION_ROWS } from "./table.ts";

/** Beyond every moment that a Date can hold. */
const END_OF_TIME = 9_000_000_000_000_000;

/** Newest first: tables sort by RowKey in ascending order only, so the key counts down. */
function keyOf(at: number): string {
  return String(END_OF_TIME - at).padStart(16, "0");
}

/** Rows removed by one prune. */
const ROWS_PER_PRUNE = 300;

/** History in Table Storage: a partition per cluster, a row per moment. */
export function tableHistory(table: Table): History {
  return {
    append: (cluster, row) =>
      table.put(historyPartition(cluster), keyOf(row.at), { counts: JSON.stringify(row) }),
    read: (cluster, from, to, limit) =>
      asPortCall(`read history of ${cluster}`, async () => {
        const range = { from: keyOf(to), to: keyOf(from - 1) };
        const rows = await table.list(historyPartition(cluster), range, ["counts"], limit);
        return rows.map(({ values }) => readRow(String(values["counts"])));
      }),
    async prune(cluster, before) {
      const partition = historyPartition(cluster);
      const range = { from: keyOf(instant(before - 1)), to: keyOf(0) };
      const old = await table.list(partition, range, [], ROWS_PER_PRUNE);
      for (let start = 0; start < old.length; start += TRANSACTION_ROWS) {
        const together = old.slice(start, start + TRANSACTION_ROWS).map(({ rowKey }) => rowKey);
        // A conflict: another instance prunes the same rows. The next call continues.
        if ((await table.removeTogether(partition, together)).kind === "conflict") return start;
      }
      return old.length;
    },
  };
}

/** Only `append` above writes it, so it is not validated again. */
function readRow(text: string): HistoryRow {
  const row: HistoryRow = JSON.parse(text);
  return row;
}
