import { randomUUID } from "node:crypto";
import type { Clock } from "../../app/ports/ports.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { minusSeconds, secondsBetween } from "../../domain/units.ts";
import { BODY_KEYS, RECORD_KEY, bodyIdOf } from "./keys.ts";
import type { KeyRange, ReadRow, Table } from "./table.ts";
import { TRANSACTION_ROWS } from "./table.ts";

/** A body is written shortly before the manifest that names it. An hour is far longer than any save. */
const YOUNG_SECONDS: Seconds = 3600;

/** Rows examined in one collection. The next one continues behind them. */
const ROWS_PER_COLLECTION = 20_000;

/** Maximum duration of one collection within a tick. */
const SECONDS_PER_COLLECTION = 20;

/** Maximum number of tries of one transaction when the manifest has changed. */
const TRIES = 20;

/** The manifest with the names in use, and its version. */
export interface CollectorView {
  readonly etag: string;
  /** Ids of the bodies that the manifest names. */
  readonly named: ReadonlySet<string>;
}

/** The part of the table that a pass has not examined yet, in order. Empty: the pass is complete. */
export type Rest = readonly KeyRange[];

export const WHOLE_TABLE: Rest = [BODY_KEYS];

interface Collected {
  /** Rows removed. */
  readonly removed: number;
  readonly rest: Rest;
}

/** The inputs of a collection. */
interface Collection {
  readonly table: Table;
  readonly partition: string;
  readonly clock: Pick<Clock, "now">;
  /** The current manifest. Undefined if there is none. */
  readonly view: () => Promise<CollectorView | undefined>;
  /** A number in [0, 1): where a pass continues in a large table. */
  readonly fraction: () => number;
}

/**
 * Removes body rows that are not named and were written over an hour before `now`, in at most 20,000 rows of `rest` and for about 20 s.
 * Each transaction touches the manifest under its ETag: a save in progress that was about to name one of the bodies conflicts, starts over,
 * and writes it again. (The SDK puts no condition on a delete inside a transaction.) If a save came first, the manifest is loaded again,
 * the names are checked, and the transaction is tried again (docs/protocol.md, Storage).
 */
export async function collectBodies(collection: Collection, rest: Rest, now: Instant): Promise<Collected> {
  const { clock } = collection;
  const begun = clock.now();
  const run: Run = { ...collection, oldest: minusSeconds(now, YOUNG_SECONDS) };
  let removed = 0;
  let seen = 0;
  let left = rest;
  while (left[0] !== undefined && seen < ROWS_PER_COLLECTION) {
    const [range, ...others] = left;
    const limit = ROWS_PER_COLLECTION - seen;
    const rows = await listBodies(run, range, limit);
    seen += rows.length;
    for (const batch of batchesOf(run, rows)) {
      const outcome = await removeBatch(run, batch);
      removed += outcome.removed;
      const isLate = secondsBetween(begun, clock.now()) > SECONDS_PER_COLLECTION;
      if (outcome.kind === "given-up" || isLate)
        return { removed, rest: [{ ...range, from: batch[0] }, ...others] };
    }
    const last = rows.at(-1)?.rowKey;
    left = last === undefined || rows.length < limit ? others : [...split(run, last, range), ...others];
  }
  return { removed, rest: left };
}

interface Run extends Collection {
  /** Rows written before are old enough. */
  readonly oldest: Instant;
  /** The manifest that this collection loaded last. */
  known?: CollectorView | undefined;
}

const listBodies = ({ table, partition }: Run, range: KeyRange, limit: number) =>
  table.list(partition, range, ["writtenAt"], limit);

/** Keys of rows that one transaction removes. */
type Batch = readonly [string, ...string[]];

function batchesOf(run: Run, rows: readonly ReadRow[]): readonly Batch[] {
  const old = oldKeys(run, rows);
  const batches: Batch[] = [];
  for (let start = 0; start < old.length; start += TRANSACTION_ROWS - 1) {
    const [first, ...others] = old.slice(start, start + TRANSACTION_ROWS - 1);
    if (first !== undefined) batches.push([first, ...others]);
  }
  return batches;
}

/** Named or not: names are checked just before the removal. */
function oldKeys({ oldest }: Run, rows: readonly ReadRow[]): readonly string[] {
  return rows.filter(({ values }) => Number(values["writtenAt"]) < oldest).map(({ rowKey }) => rowKey);
}

/**
 * The rest of the table behind key `last`. In a large table the pass continues at a random place, and returns to the earlier part later: a
 * process may end before its pass does, and the next one must not begin with the same rows each time. The place is in memory: a row for it
 * would cost a write in each tick.
 */
function split({ fraction }: Run, last: string, { to }: KeyRange): Rest {
  const from = `${last}!`;
  const middle = `b-${Math.floor(fraction() * 2 ** 32)
    .toString(16)
    .padStart(8, "0")}`;
  if (middle <= from || middle >= to) return [{ from, to }];
  return [
    { from: middle, to },
    { from, to: middle },
  ];
}

interface Removed {
  /** `given-up`: others saved first each time, or the record is gone. */
  readonly kind: "done" | "given-up";
  readonly removed: number;
}

async function removeBatch(run: Run, batch: Batch): Promise<Removed> {
  const { table, partition } = run;
  let keys: readonly string[] = batch;
  for (let tries = 0; tries <= TRIES; tries += 1) {
    const view = (run.known ??= await run.view());
    if (view === undefined) return { kind: "given-up", removed: 0 };
    const garbage = keys.filter((key) => !view.named.has(bodyIdOf(key)));
    if (garbage.length === 0) return { kind: "done", removed: 0 };
    const outcome = await table.removeTogether(partition, garbage, {
      rowKey: RECORD_KEY,
      etag: view.etag,
      // A save that wrote its bodies earlier sees by this that they may be gone.
      values: { collectedAt: BigInt(run.clock.now()), collection: randomUUID() },
    });
    if (outcome.kind === "written") {
      run.known = { ...view, etag: outcome.etag };
      return { kind: "done", removed: garbage.length };
    }
    run.known = await run.view();
    // The manifest has not changed: another collector has removed one of the rows.
    if (run.known?.etag === view.etag) keys = await relist(run, garbage);
  }
  return { kind: "given-up", removed: 0 };
}

async function relist(run: Run, keys: readonly string[]): Promise<readonly string[]> {
  const [from, last] = [keys[0], keys.at(-1)];
  if (from === undefined || last === undefined) return [];
  const wanted = new Set(keys);
  const rows = await listBodies(run, { from, to: `${last}!` }, ROWS_PER_COLLECTION);
  return oldKeys(run, rows).filter((key) => wanted.has(key));
}
