import type { SchedulerNode, SetDemand } from "../../domain/demand.ts";
import { memoryOf, memoryOfReport } from "../../domain/demand-memory.ts";
import type { FinishedSet } from "../../domain/finished-set.ts";
import type { NodeId, SetName } from "../../domain/ids.ts";
import type { Question, Questions } from "../../domain/questions.ts";
import type { Intent } from "../../domain/intent.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { Bytes } from "../../domain/memory-budget.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Held } from "../../domain/request-sets.ts";
import { shareConstraints } from "../../domain/shared-constraints.ts";
import type { BodyIndex, BodyRef } from "./body-index.ts";
import type { StoredEntry } from "./stored-entries.ts";
import { readEntries, storedEntries } from "./stored-entries.ts";
import type { StoredIntent } from "./stored-intents.ts";
import { readIntents, storedIntents } from "./stored-intents.ts";

/** The content of the cluster row. */
export type StoredManifest =
  | { readonly record: StoredRecord; readonly index: StoredIndex }
  /** Too large for the row: the manifest itself is a body. */
  | { readonly spilled: BodyRef };

type StoredRecord = Omit<ClusterRecord, keyof Held | "intents"> & {
  readonly sets: readonly StoredEntry[];
  readonly intents: readonly StoredIntent[];
  /**
   * Intents to start nodes. Absent: none. Separate from the others, because the release before this one treats every intent that is no
   * create as a terminate, and would stop those nodes once the lease has ended. It carries this field along unread.
   */
  readonly startIntents?: readonly Intent[];
  /** Part of the index. Absent: none. It is here because the release before this one carries along unknown members of a record. */
  readonly finishedBodies?: readonly (BodyRef | null)[];
  /** Part of the index, and here for the same reason. Absent: no node array was ever observed. */
  readonly virtualBody?: BodyRef;
};

type StoredIndex = Omit<BodyIndex, "packs" | "own" | "finished" | "virtual"> & {
  readonly packs: readonly (BodyRef | null)[];
  readonly own: readonly (readonly [string, BodyRef])[];
};

export interface Manifest {
  readonly record: ClusterRecord;
  readonly index: BodyIndex;
}

export function writeManifest(manifest: Manifest): string {
  return JSON.stringify(storedManifest(manifest));
}

export function storedManifest({ record, index }: Manifest): StoredManifest {
  const { finished, virtual, ...bodies } = index;
  return {
    record: {
      ...storedRecord(record),
      ...(finished === undefined ? {} : { finishedBodies: finished.map((ref) => ref ?? null) }),
      ...(virtual === undefined ? {} : { virtualBody: virtual }),
    },
    index: { ...bodies, packs: index.packs.map((ref) => ref ?? null), own: [...index.own] },
  };
}

function storedRecord(record: ClusterRecord): StoredRecord {
  const starts = record.intents.filter(({ effect }) => effect.kind === "start");
  const { separateReports: _reports, separatePools: _pools, ...rest } = record;
  const sets = storedEntries(record);
  const intents = storedIntents(record.intents.filter(({ effect }) => effect.kind !== "start"));
  return { ...rest, sets, intents, ...(starts.length === 0 ? {} : { startIntents: starts }) };
}

function readRecord({ startIntents = [], ...stored }: StoredRecord): ClusterRecord {
  const { sets, ...separate } = readEntries(stored.sets);
  // Members keep their order, so that a decision on the record has the same bytes with every store.
  return { ...separate, ...stored, sets, intents: [...startIntents, ...readIntents(stored.intents)] };
}

export function writeSpilled(spilled: BodyRef): string {
  const stored: StoredManifest = { spilled };
  return JSON.stringify(stored);
}

export function readManifest(text: string): Manifest | { readonly spilled: BodyRef } {
  const stored: StoredManifest = JSON.parse(text);
  if ("spilled" in stored) return stored;
  const { index } = stored;
  const { finishedBodies, virtualBody, ...record } = stored.record;
  const finished = finishedBodies?.map((ref) => ref ?? undefined);
  return {
    record: readRecord(record),
    index: {
      ...index,
      packs: index.packs.map((ref) => ref ?? undefined),
      own: new Map(index.own),
      ...(finished === undefined ? {} : { finished }),
      ...(virtualBody === undefined ? {} : { virtual: virtualBody }),
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

/** The text of a body. */
export function textOf<T>(codec: BodyCodec<T>, value: T): string {
  return JSON.stringify(codec.write(value));
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
