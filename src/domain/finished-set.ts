import type { SetEntry } from "./request-sets.ts";

/**
 * The last message of each part of a request set that has lapsed or was deleted, and that has left the record. A later message of the set
 * must not be older.
 */
export interface FinishedSet {
  readonly demand?: FinishedPart;
  /** The report that came without demand, as in the record. */
  readonly report?: FinishedPart;
  readonly pools?: FinishedPart;
}

/** The last message of one part of a finished set. */
export type FinishedPart = Pick<SetEntry, "revision" | "intervalSeconds" | "acceptedAt" | "expiresAt">;
