import type { SchedulerNode, SetDemand, Revision } from "../../domain/demand.ts";
import { memoryOf, memoryOfReport } from "../../domain/demand-memory.ts";
import type { FinishedSet, ClusterRecord } from "../../domain/record.ts";
import type { NodeId, SetName } from "../../domain/ids.ts";
import type { Question, Questions } from "../../domain/questions.ts";
import type { Intent, CreateSet, Effect } from "../../domain/intent.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { Bytes } from "../../domain/units.ts";
import type { Held, SetEntries, SetEntry } from "../../domain/request-sets.ts";
import { shareConstraints } from "../../domain/shared-constraints.ts";
import type { BodyIndex, BodyRef } from "./body-index.ts";
import { compareRevisions } from "../../domain/demand.ts";
import { setName } from "../../domain/ids.ts";

/** The content of the cluster row. */
type StoredManifest =
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

/**
 * Reports and pools that came without demand are stored among the sets, under names of their own. The release before this one treats them
 * as sets: it keeps their bodies, counts their hosts and pools, and lets them lapse. So the stored form keeps its version.
 */
type StoredEntry = readonly [SetName, SetEntry];

/** No sender can use such a name: names in messages have no control character. */
const REPORT_OF = "\u0000report";
const POOLS_OF = "\u0000pools";

/** All entries that a record holds of its senders, as the manifest lists them. */
function storedEntries({ sets, separateReports, separatePools }: Held): readonly StoredEntry[] {
  const under = (suffix: string, entries: SetEntries) =>
    [...entries].map(([set, entry]): StoredEntry => [setName(set + suffix), entry]);
  return [...sets, ...under(REPORT_OF, separateReports), ...under(POOLS_OF, separatePools)];
}

function readEntries(stored: readonly StoredEntry[]): Held {
  const isSeparate = ([name]: StoredEntry): boolean => name.endsWith(REPORT_OF) || name.endsWith(POOLS_OF);
  const sets = new Map(stored.filter((entry) => !isSeparate(entry)));
  const under = (suffix: string): SetEntries =>
    new Map(
      stored
        .filter(([name]) => name.endsWith(suffix))
        .map(([name, entry]): StoredEntry => [setName(name.slice(0, -suffix.length)), entry])
        .filter(([set, { revision }]) => !isOlder(revision, sets.get(set)?.revision)),
    );
  return { sets, separateReports: under(REPORT_OF), separatePools: under(POOLS_OF) };
}

/** The release before this one accepts a newer demand, and leaves what it replaces. */
function isOlder(revision: Revision, stated: Revision | undefined): boolean {
  return stated !== undefined && compareRevisions(revision, stated) < 0;
}

/**
 * The stored form of intents: a create of several sets is one entry for each set, all with the same id. The release before this one knows
 * only requests with one set. It settles such entries one after the other, and at worst waits for nodes that do not come.
 */
type StoredIntent = Omit<Intent, "effect"> & { readonly effect: StoredEffect };
type StoredEffect = Exclude<Effect, { readonly kind: "create" }> | StoredCreate;
type StoredCreate = CreateSet & { readonly kind: "create" };

function storedIntents(intents: readonly Intent[]): readonly StoredIntent[] {
  return intents.flatMap((intent): readonly StoredIntent[] => {
    const { effect } = intent;
    if (effect.kind !== "create") return [{ ...intent, effect }];
    return effect.sets.map((set) => ({ ...intent, effect: { kind: effect.kind, ...set } }));
  });
}

/** Entries with one id appear in the record once, at the position of the first. */
function readIntents(stored: readonly StoredIntent[]): readonly Intent[] {
  const sets = new Map<Intent["id"], CreateSet[]>();
  const read: Intent[] = [];
  for (const intent of stored) {
    const { effect } = intent;
    if (effect.kind !== "create") {
      read.push({ ...intent, effect });
      continue;
    }
    const { kind, ...set } = effect;
    const known = sets.get(intent.id);
    if (known !== undefined) {
      known.push(set);
      continue;
    }
    const all = [set];
    sets.set(intent.id, all);
    read.push({ ...intent, effect: { kind, sets: all } });
  }
  return read;
}
