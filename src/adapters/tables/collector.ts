import type { Instant } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import { BODY_KEYS, RECORD_KEY, bodyIdOf } from "./keys.ts";
import type { Table } from "./table.ts";
import { TRANSACTION_ROWS } from "./table.ts";

/** A body is written shortly before the manifest that names it; an hour is far beyond any save that is still under way. */
const YOUNG_SECONDS = 3600;

/** Rows looked at in one collection; the next one goes on. */
const ROWS_PER_COLLECTION = 20_000;

/** The manifest that says what is named, and its version. */
export interface CollectorView {
  readonly etag: string;
  /** Ids of the bodies that the manifest names. */
  readonly named: ReadonlySet<string>;
}

/**
 * Removes body rows that are not named and were written over an hour before `now`. Each transaction touches the manifest under its ETag:
 * a save that is under way and was about to name one of the bodies conflicts, starts over, and writes it again. If the manifest has moved
 * the collection ends; the next one goes on. Returns the number of rows removed.
 */
export async function collectBodies(
  table: Table,
  partition: string,
  view: CollectorView,
  now: Instant,
): Promise<number> {
  const rows = await table.list(partition, BODY_KEYS, ["writtenAt"], ROWS_PER_COLLECTION);
  const oldest = plusSeconds(now, -YOUNG_SECONDS);
  const garbage = rows
    .filter(({ rowKey, values }) => !view.named.has(bodyIdOf(rowKey)) && Number(values["writtenAt"]) < oldest)
    .map(({ rowKey }) => rowKey);
  const perTransaction = TRANSACTION_ROWS - 1;
  let { etag } = view;
  for (let start = 0; start < garbage.length; start += perTransaction) {
    const outcome = await table.removeTogether(partition, garbage.slice(start, start + perTransaction), {
      rowKey: RECORD_KEY,
      etag,
      values: { collectedAt: BigInt(now) },
    });
    if (outcome.kind === "conflict") return start;
    etag = outcome.etag;
  }
  return garbage.length;
}
