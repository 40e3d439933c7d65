import type { SchedulerNode, SetDemand } from "../../domain/demand.ts";
import { memoryOf, memoryOfReport } from "../../domain/demand-memory.ts";
import type { FinishedSet, ClusterRecord } from "../../domain/record.ts";
import type { NodeId, SetName } from "../../domain/ids.ts";
import type { Question, Questions } from "../../domain/questions.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { Bytes } from "../../domain/units.ts";
import type { Held, SetEntry } from "../../domain/request-sets.ts";
import { shareConstraints } from "../../domain/shared-constraints.ts";
import type { BodyIndex, BodyRef } from "./body-index.ts";

/** The content of the cluster row. */
type StoredManifest =
  | { readonly record: StoredRecord; readonly index: StoredIndex }
  /** Too large for the row: the manifest itself is a body. */
  | { readonly spilled: BodyRef };

type StoredRecord = Omit<ClusterRecord, keyof Held> & Readonly<Record<keyof Held, readonly StoredEntry[]>>;

type StoredEntry = readonly [SetName, SetEntry];

type StoredIndex = Omit<BodyIndex, "packs" | "own" | "finished"> & {
  readonly packs: readonly (BodyRef | null)[];
  readonly own: readonly (readonly [string, BodyRef])[];
  readonly finished?: readonly (BodyRef | null)[];
};

export interface Manifest {
  readonly record: ClusterRecord;
  readonly index: BodyIndex;
}

export function writeManifest(manifest: Manifest): string {
  return JSON.stringify(storedManifest(manifest));
}

export function storedManifest({ record, index }: Manifest): StoredManifest {
  const { sets, separateReports, separatePools } = record;
  const { finished, ...bodies } = index;
  return {
    // Members keep their order, so that a decision on the record has the same bytes with every store.
    record: {
      ...record,
      sets: [...sets],
      separateReports: [...separateReports],
      separatePools: [...separatePools],
    },
    index: {
      ...bodies,
      packs: index.packs.map((ref) => ref ?? null),
      own: [...index.own],
      ...(finished === undefined ? {} : { finished: finished.map((ref) => ref ?? null) }),
    },
  };
}

export function writeSpilled(spilled: BodyRef): string {
  const stored: StoredManifest = { spilled };
  return JSON.stringify(stored);
}

export function readManifest(text: string): Manifest | { readonly spilled: BodyRef } {
  const stored: StoredManifest = JSON.parse(text);
  if ("spilled" in stored) return stored;
  const { record } = stored;
  const { finished, ...index } = stored.index;
  return {
    record: {
      ...record,
      sets: new Map(record.sets),
      separateReports: new Map(record.separateReports),
      separatePools: new Map(record.separatePools),
    },
    index: {
      ...index,
      packs: index.packs.map((ref) => ref ?? undefined),
      own: new Map(index.own),
      ...(finished === undefined ? {} : { finished: finished.map((ref) => ref ?? undefined) }),
    },
  };
}

/** How one kind of body is written and read. */
export interface BodyCodec<T> {
  /** The stored form: what JSON.stringify writes. */
  write(value: T): object;
  read(text: string): T;
  /** Bytes of memory that the value takes. Absent: about twice its text. */
  weigh?(value: T): Bytes;
}

/** Bodies without Maps. */
export function plainCodec<T extends object>(): BodyCodec<T> {
  return { write: (value) => value, read: (text): T => JSON.parse(text) };
}

/** A demand or a report: the body of one digest. */
export type EntryValue = SetDemand | readonly SchedulerNode[];

/** Small bodies that share one stored body, by their key in the index. */
export type Pack = ReadonlyMap<string, EntryValue>;

function mapCodec<K extends string, V>(): BodyCodec<ReadonlyMap<K, V>> {
  return {
    write: (map) => [...map],
    read(text) {
      const entries: readonly (readonly [K, V])[] = JSON.parse(text);
      return new Map(entries);
    },
  };
}

export const ledgerCodec: BodyCodec<Ledger> = mapCodec<NodeId, LedgerNode>();

export const questionsCodec: BodyCodec<Questions> = mapCodec<NodeId, Question>();

/** A demand or a report that has a body of its own. */
export const entryCodec: BodyCodec<EntryValue> = {
  write: (value) => value,
  read: (text) => lean(JSON.parse(text)),
  weigh: weighEntry,
};

/** Half of what a plan needs for it: the other half is for what the plan makes of it. */
function weighEntry(value: EntryValue): Bytes {
  return (isReport(value) ? memoryOfReport(value) : memoryOf(value)) / 2;
}

export const packCodec: BodyCodec<Pack> = {
  write: (pack) => [...pack],
  read(text) {
    const entries: readonly (readonly [string, EntryValue])[] = JSON.parse(text);
    return new Map(entries.map(([key, value]) => [key, lean(value)]));
  },
  weigh: (pack) => [...pack.values()].reduce((sum, value) => sum + weighEntry(value), 0),
};

const lean = (value: EntryValue): EntryValue => (isReport(value) ? value : shareConstraints(value));

export const isReport = (value: EntryValue): value is readonly SchedulerNode[] => Array.isArray(value);

export const finishedCodec: BodyCodec<ReadonlyMap<SetName, FinishedSet>> = mapCodec<SetName, FinishedSet>();
