import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { SchedulerNode, SetDemand } from "../../domain/demand.ts";
import type { NodeId, SetName } from "../../domain/ids.ts";
import type { NodeVerdict, Plan } from "../../domain/plan.ts";
import type { ClusterRecord, Intent, Ledger, LedgerNode, SetEntry } from "../../domain/record.ts";
import type { BodyRef } from "./bodies.ts";
import type { BodyIndex } from "./body-index.ts";

/**
 * The stored form: JSON in which a Map is the list of its entries, gzipped. What is read back was written by this file, under a state
 * version that was checked and a digest that was checked, so it is not validated again.
 */
const deflate = promisify(gzip);
const inflate = promisify(gunzip);

/** Level 1: a quarter of the time of level 6 for a fifth more bytes (100,000 jobs), and a reconcile waits for it. */
export async function compress(text: string): Promise<Buffer> {
  return deflate(text, { level: 1 });
}

export async function decompress(bytes: Uint8Array): Promise<string> {
  return (await inflate(bytes)).toString("utf8");
}

/** What the cluster row holds. */
export type StoredManifest =
  | { readonly record: StoredRecord; readonly index: StoredIndex }
  /** Too large for the row: the manifest is a body itself. */
  | { readonly spilled: BodyRef };

type StoredRecord = Omit<ClusterRecord, "sets"> & {
  readonly sets: readonly (readonly [SetName, SetEntry])[];
  /**
   * Intents to start nodes; absent: none. Apart from the others, because the release before this one takes every intent that is no create
   * for a terminate, and would stop those nodes once the lease has ended. It carries this field along unread.
   */
  readonly startIntents?: readonly Intent[];
};
type StoredIndex = Omit<BodyIndex, "packs" | "own"> & {
  readonly packs: readonly (BodyRef | null)[];
  readonly own: readonly (readonly [string, BodyRef])[];
};

export interface Manifest {
  readonly record: ClusterRecord;
  readonly index: BodyIndex;
}

export function writeManifest({ record, index }: Manifest): string {
  const stored: StoredManifest = {
    record: storedRecord(record),
    index: { ...index, packs: index.packs.map((ref) => ref ?? null), own: [...index.own] },
  };
  return JSON.stringify(stored);
}

function storedRecord(record: ClusterRecord): StoredRecord {
  const starts = record.intents.filter(({ effect }) => effect.kind === "start");
  const sets = [...record.sets];
  if (starts.length === 0) return { ...record, sets };
  const intents = record.intents.filter(({ effect }) => effect.kind !== "start");
  return { ...record, sets, intents, startIntents: starts };
}

function readRecord({ startIntents = [], ...stored }: StoredRecord): ClusterRecord {
  return { ...stored, intents: [...startIntents, ...stored.intents], sets: new Map(stored.sets) };
}

export function writeSpilled(spilled: BodyRef): string {
  const stored: StoredManifest = { spilled };
  return JSON.stringify(stored);
}

export function readManifest(text: string): Manifest | { readonly spilled: BodyRef } {
  const stored: StoredManifest = JSON.parse(text);
  if ("spilled" in stored) return stored;
  const { record, index } = stored;
  return {
    record: readRecord(record),
    index: { ...index, packs: index.packs.map((ref) => ref ?? undefined), own: new Map(index.own) },
  };
}

/** How a kind of body is written and read. */
export interface BodyCodec<T> {
  write(value: T): string;
  read(text: string): T;
}

/** Bodies without Maps. */
export function plainCodec<T>(): BodyCodec<T> {
  return { write: (value) => JSON.stringify(value), read: (text): T => JSON.parse(text) };
}

/** A demand or a report: the body of one digest. */
export type EntryValue = SetDemand | readonly SchedulerNode[];

/** Small bodies that share one stored body, by their key in the index. */
export type Pack = ReadonlyMap<string, EntryValue>;

function mapCodec<K extends string, V>(): BodyCodec<ReadonlyMap<K, V>> {
  return {
    write: (map) => JSON.stringify([...map]),
    read(text) {
      const entries: readonly (readonly [K, V])[] = JSON.parse(text);
      return new Map(entries);
    },
  };
}

type StoredPlan = Omit<Plan, "nodes"> & { readonly nodes: readonly (readonly [NodeId, NodeVerdict])[] };

export const planCodec: BodyCodec<Plan> = {
  write(plan) {
    const stored: StoredPlan = { ...plan, nodes: [...plan.nodes] };
    return JSON.stringify(stored);
  },
  read(text) {
    const stored: StoredPlan = JSON.parse(text);
    return { ...stored, nodes: new Map(stored.nodes) };
  },
};

export const ledgerCodec: BodyCodec<Ledger> = mapCodec<NodeId, LedgerNode>();
export const packCodec: BodyCodec<Pack> = mapCodec<string, EntryValue>();
