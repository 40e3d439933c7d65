import type { SetEntry } from "./record.ts";

/**
 * What is remembered of a request set that is over (lapsed or deleted) and has left the record: the last message of each of its parts. A
 * later message of the set must not be older.
 */
export interface FinishedSet {
  readonly demand?: FinishedPart;
  /** What came without demand, as in the record. */
  readonly report?: FinishedPart;
  readonly pools?: FinishedPart;
}

export type FinishedPart = Pick<SetEntry, "revision" | "intervalSeconds" | "acceptedAt" | "expiresAt">;
