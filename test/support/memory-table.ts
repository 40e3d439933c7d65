import type { ReadRow, Row, Table, WriteOutcome } from "../../src/adapters/tables/table.ts";
import { compareText } from "../../src/domain/text.ts";
import type { Clock } from "../../src/app/ports/ports.ts";

/** How long the calls take, in milliseconds of the clock. Default: 0. */
export interface Latency {
  readonly read?: number;
  readonly write?: number;
  /** A page of 1,000 rows of a list. */
  readonly page?: number;
  readonly transaction?: number;
}

/** Calls and rows since the last reset. */
export interface MemoryCounts {
  reads: number;
  pages: number;
  writes: number;
  bodyWrites: number;
  bytesWritten: number;
  transactions: number;
  conflicts: number;
  removed: number;
}

export interface MemoryTable extends Table {
  readonly counts: MemoryCounts;
  reset(): void;
  /** The keys of a partition in `from <= key < to`, in order. */
  keys(partition: string, from: string, to: string): readonly string[];
}

interface Stored {
  readonly etag: string;
  readonly values: Row;
}

/**
 * A table in memory with ETags, latency on a given clock, and counts. Each change takes effect when its call ends. Rows are kept in groups by
 * the first characters of their keys, so that a list of a few thousand rows among a hundred thousand sorts only those rows.
 */
export function memoryTable(clock: Pick<Clock, "sleep">, latency: Latency = {}): MemoryTable {
  const partitions = new Map<string, Map<string, Map<string, Stored>>>();
  const counts: MemoryCounts = { ...NOTHING };
  let versions = 0;
  const groupsOf = (partition: string) => getOrAdd(partitions, partition, () => new Map());
  const groupOf = (partition: string, key: string): Map<string, Stored> =>
    getOrAdd(groupsOf(partition), key.slice(0, 4), () => new Map());
  const wait = async (milliseconds = 0) => (milliseconds === 0 ? undefined : clock.sleep(milliseconds));
  const set = (partition: string, key: string, values: Row): WriteOutcome => {
    const etag = String(++versions);
    counts.writes += 1;
    counts.bytesWritten += sizeOf(values);
    if (key.startsWith("b-")) counts.bodyWrites += 1;
    groupOf(partition, key).set(key, { etag, values });
    return { kind: "written", etag };
  };
  const conflict = (): WriteOutcome => {
    counts.conflicts += 1;
    return { kind: "conflict" };
  };
  const keys = function* (partition: string, from: string, to: string): Generator<string> {
    const groups = groupsOf(partition);
    for (const name of [...groups.keys()].toSorted(compareText)) {
      if (name < from.slice(0, 4) || name > to) continue;
      for (const key of [...(groups.get(name)?.keys() ?? [])].toSorted(compareText))
        if (key >= from && key < to) yield key;
    }
  };

  return {
    counts,
    reset: () => void Object.assign(counts, NOTHING),
    keys: (partition, from, to) => [...keys(partition, from, to)],
    ensure: async () => undefined,
    async read(partition, rowKey) {
      counts.reads += 1;
      await wait(latency.read);
      const stored = groupOf(partition, rowKey).get(rowKey);
      return stored && { rowKey, ...stored };
    },
    async insert(partition, rowKey, values) {
      await wait(latency.write);
      return groupOf(partition, rowKey).has(rowKey) ? conflict() : set(partition, rowKey, values);
    },
    async replace(partition, rowKey, values, etag) {
      await wait(latency.write);
      const isCurrent = groupOf(partition, rowKey).get(rowKey)?.etag === etag;
      return isCurrent ? set(partition, rowKey, values) : conflict();
    },
    async put(partition, rowKey, values) {
      await wait(latency.write);
      set(partition, rowKey, values);
    },
    async remove(partition, rowKey) {
      await wait(latency.write);
      groupOf(partition, rowKey).delete(rowKey);
    },
    async list(partition, range, _select, limit) {
      const rows: ReadRow[] = [];
      for (const rowKey of keys(partition, range.from, range.to)) {
        const stored = groupOf(partition, rowKey).get(rowKey);
        if (stored !== undefined) rows.push({ rowKey, ...stored });
        if (rows.length >= limit) break;
      }
      const pages = Math.max(1, Math.ceil(rows.length / 1000));
      counts.pages += pages;
      await wait((latency.page ?? 0) * pages);
      return rows;
    },
    async putTogether(partition, rows) {
      counts.transactions += 1;
      await wait(latency.transaction);
      for (const { rowKey, values } of rows) set(partition, rowKey, values);
    },
    async writeTogether(partition, first, others) {
      counts.transactions += 1;
      await wait(latency.transaction);
      const heldAt = (key: string) => groupOf(partition, key).get(key);
      if (heldAt(first.rowKey)?.etag !== first.etag) return conflict();
      if (others.some(({ how, rowKey }) => how === "merge" && heldAt(rowKey) === undefined))
        return conflict();
      for (const { how, rowKey, values } of others)
        set(partition, rowKey, how === "put" ? values : { ...heldAt(rowKey)?.values, ...values });
      return set(partition, first.rowKey, first.values);
    },
    async removeTogether(partition, rowKeys, guard) {
      counts.transactions += 1;
      await wait(latency.transaction);
      const guarded = guard && groupOf(partition, guard.rowKey).get(guard.rowKey);
      if (guard !== undefined && guarded?.etag !== guard.etag) return conflict();
      if (rowKeys.some((key) => !groupOf(partition, key).has(key))) return conflict();
      for (const key of rowKeys) groupOf(partition, key).delete(key);
      counts.removed += rowKeys.length;
      const etag = String(++versions);
      if (guard !== undefined && guarded !== undefined)
        groupOf(partition, guard.rowKey).set(guard.rowKey, {
          etag,
          values: { ...guarded.values, ...guard.values },
        });
      return { kind: "written", etag };
    },
  };
}

const NOTHING: MemoryCounts = {
  reads: 0,
  pages: 0,
  writes: 0,
  bodyWrites: 0,
  bytesWritten: 0,
  transactions: 0,
  conflicts: 0,
  removed: 0,
};

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function sizeOf(values: Row): number {
  return Object.values(values).reduce(
    (sum: number, value) => sum + (value instanceof Uint8Array ? value.length : 0),
    0,
  );
}
