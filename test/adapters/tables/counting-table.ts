import type { Table } from "../../../src/adapters/tables/table.ts";

/** What was asked of a table since the last reset. */
export interface TableCounts {
  /** Rows read whole. */
  rowsRead: number;
  /** Rows of which some properties were read. */
  glances: number;
  bodyRowsWritten: number;
  recordsWritten: number;
}

/** A table that counts what goes through it. */
export function countingTable(table: Table): {
  readonly table: Table;
  readonly counts: TableCounts;
  reset: () => void;
} {
  const counts: TableCounts = { rowsRead: 0, glances: 0, bodyRowsWritten: 0, recordsWritten: 0 };
  return {
    counts,
    reset: () =>
      void Object.assign(counts, { rowsRead: 0, glances: 0, bodyRowsWritten: 0, recordsWritten: 0 }),
    table: {
      ...table,
      read(partition, rowKey, select) {
        if (select === undefined) counts.rowsRead++;
        else counts.glances++;
        return table.read(partition, rowKey, select);
      },
      put(partition, rowKey, values) {
        counts.bodyRowsWritten++;
        return table.put(partition, rowKey, values);
      },
      insert(partition, rowKey, values) {
        counts.recordsWritten++;
        return table.insert(partition, rowKey, values);
      },
      replace(partition, rowKey, values, etag) {
        counts.recordsWritten++;
        return table.replace(partition, rowKey, values, etag);
      },
    },
  };
}
