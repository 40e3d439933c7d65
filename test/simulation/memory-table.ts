import type { ReadRow, Row, Table, WriteOutcome } from "../../src/adapters/tables/table.ts";

interface Kept {
  readonly etag: string;
  readonly values: Row;
}

export type Rows = ReadonlyMap<string, Kept>;

/** A table in memory, as the table store needs it, whose rows can be lost or set back. */
export interface MemoryTable extends Table {
  /** Keys of rows whose key begins so. */
  keys(prefix: string): readonly string[];
  lose(keys: readonly string[]): void;
  /** All rows as they are now, to be put back later. */
  copy(): Rows;
  /** The table as it was then. Its rows get new versions, as a restore writes them. */
  restore(rows: Rows): void;
}

/** Keys are "partition\nrow key". */
export function memoryTable(): MemoryTable {
  const rows = new Map<string, Kept>();
  let writes = 0;
  const keyOf = (partition: string, rowKey: string): string => `${partition}\n${rowKey}`;
  const write = (key: string, values: Row): WriteOutcome => {
    const etag = String((writes += 1));
    rows.set(key, { etag, values });
    return { kind: "written", etag };
  };
  const read = (key: string, rowKey: string): ReadRow | undefined => {
    const kept = rows.get(key);
    return kept === undefined ? undefined : { rowKey, etag: kept.etag, values: kept.values };
  };
  return {
    ensure: () => Promise.resolve(),
    read: async (partition, rowKey) => read(keyOf(partition, rowKey), rowKey),
    insert: async (partition, rowKey, values) =>
      rows.has(keyOf(partition, rowKey)) ? { kind: "conflict" } : write(keyOf(partition, rowKey), values),
    replace: async (partition, rowKey, values, etag) =>
      rows.get(keyOf(partition, rowKey))?.etag === etag
        ? write(keyOf(partition, rowKey), values)
        : { kind: "conflict" },
    put: async (partition, rowKey, values) => void write(keyOf(partition, rowKey), values),
    remove: async (partition, rowKey) => void rows.delete(keyOf(partition, rowKey)),
    list: async (partition, { from, to }, _select, limit) => {
      const found: ReadRow[] = [];
      for (const key of [...rows.keys()].toSorted()) {
        if (found.length >= limit) break;
        if (key < keyOf(partition, from) || key >= keyOf(partition, to)) continue;
        const row = read(key, key.slice(partition.length + 1));
        if (row !== undefined) found.push(row);
      }
      return found;
    },
    removeTogether: async (partition, rowKeys, guard) => {
      const keys = rowKeys.map((rowKey) => keyOf(partition, rowKey));
      const guarded = guard === undefined ? undefined : rows.get(keyOf(partition, guard.rowKey));
      if (guard !== undefined && guarded?.etag !== guard.etag) return { kind: "conflict" };
      if (keys.some((key) => !rows.has(key))) return { kind: "conflict" };
      for (const key of keys) rows.delete(key);
      if (guard === undefined || guarded === undefined) return { kind: "written", etag: "" };
      return write(keyOf(partition, guard.rowKey), { ...guarded.values, ...guard.values });
    },
    keys: (prefix) => [...rows.keys()].filter((key) => key.startsWith(prefix)),
    lose: (keys) => keys.forEach((key) => rows.delete(key)),
    copy: () => new Map(rows),
    restore: (before) => {
      rows.clear();
      for (const [key, { values }] of before) write(key, values);
    },
  };
}
