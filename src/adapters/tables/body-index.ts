import type { ClusterRecord } from "../../domain/record.ts";
import type { SetEntry } from "../../domain/request-sets.ts";
import { entriesOf } from "../../domain/request-sets.ts";
import { ROW_BYTES } from "./rows.ts";

/**
 * Where the bodies of a record are. A small demand or report is in the pack that its key hashes to, a large one in a body of its own. So
 * the index grows with packs and large sets, not with sets.
 */
export interface BodyIndex {
  readonly seen?: BodyRef;
  readonly ledger?: BodyRef;
  /** Absent: no node has asked yet. */
  readonly questions?: BodyRef;
  readonly plan?: BodyRef;
  /** The virtual fleet and the comparison. Absent: no node array was ever observed. */
  readonly virtual?: BodyRef;
  /** A power of two of places. Undefined: no small body hashes here. */
  readonly packs: readonly (BodyRef | undefined)[];
  /** The large ones. */
  readonly own: ReadonlyMap<EntryKey, BodyRef>;
  /** The remembered parts of finished sets, by the hash of their names: a power of two of places. Absent: none has left the record yet. */
  readonly finished?: readonly (BodyRef | undefined)[];
}

/** "d" or "r" (demand, report), then the digest. */
export type EntryKey = string;

export const EMPTY_INDEX: BodyIndex = { packs: [undefined], own: new Map() };

/** Above this much JSON a demand or report has a body of its own. */
export const OWN_BODY_LENGTH = 64 * 1024;

/** Every body that the index names. */
export function refsOf(index: BodyIndex): readonly BodyRef[] {
  const { seen, ledger, questions, plan, virtual, packs, own, finished = [] } = index;
  return [seen, ledger, questions, plan, virtual, ...packs, ...own.values(), ...finished].filter(
    (ref) => ref !== undefined,
  );
}

export const demandKey = (entry: SetEntry): EntryKey => `d${entry.digest}`;
export const reportKey = (entry: SetEntry): EntryKey | undefined =>
  entry.report === undefined ? undefined : `r${entry.report}`;

/** The demands and reports that a record's live entries name. */
export function entryKeys(record: ClusterRecord | undefined): ReadonlySet<EntryKey> {
  const keys = new Set<EntryKey>();
  for (const entry of record === undefined ? [] : entriesOf(record)) {
    if (!entry.live) continue;
    keys.add(demandKey(entry));
    const report = reportKey(entry);
    if (report !== undefined) keys.add(report);
  }
  return keys;
}

/** The name of an immutable body. `id` is the SHA-256 of the compressed bytes, so that every writer writes equal rows. */
export interface BodyRef {
  readonly id: string;
  /** Compressed size. It determines the number of rows. */
  readonly bytes: number;
}

/**
 * How small demands and reports share packs. A key's hash determines its pack. A small change rewrites one pack, a load reads all of them.
 * Up to eight packs, their mean size stays below 128 KiB (gzip), so that little is rewritten. With more, it may grow to most of a row, so
 * that the rows read grow only with compressed bytes / 700 KiB (architecture.md, Storage).
 */
const FEW = 8;
const LARGEST_MEAN_OF_FEW = 128 * 1024;
const LARGEST_MEAN = 0.85 * ROW_BYTES;

/** The mean size above which the number of packs doubles. */
const largestMean = (count: number): number => (count < FEW ? LARGEST_MEAN_OF_FEW : LARGEST_MEAN);

/** Halving happens only at half of the size after a doubling, so that the number does not oscillate. */
const smallestMean = (count: number): number => largestMean(count / 2) / 4;

/** The number of packs for a number of compressed bytes. Starts from the present number, which stays while the mean size is acceptable. */
export function packCountFor(bytes: number, present: number): number {
  let count = present;
  while (bytes / count > largestMean(count)) count *= 2;
  while (count > 1 && bytes / count < smallestMean(count)) count /= 2;
  return count;
}

/** The pack of a key among `count` (a power of two): FNV-1a. The same in every release, because it is part of the stored form. */
export function packOf(key: string, count: number): number {
  if (count === 1) return 0;
  let hash = 0x811c9dc5;
  for (let position = 0; position < key.length; position++) {
    hash = Math.imul(hash ^ key.charCodeAt(position), 0x01000193);
  }
  // FNV's low bits are weak: fold in the high half.
  return ((hash >>> 16) ^ hash) & (count - 1);
}
