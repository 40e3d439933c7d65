import type { BucketKey, Purpose } from "./bucket.ts";
import type { Digest, NodeId, RequestId } from "./ids.ts";
import type { Instant } from "./units.ts";

/**
 * One set of a create request that CycleCloud accepted. Its nodes are in flight until an observation shows them: see {@link stillInFlight}.
 */
export interface InFlight {
  readonly requestId: RequestId;
  readonly bucket: BucketKey;
  readonly purpose: Purpose;
  /** Digest of the attributes that were sent; the stored name is old. Absent: none. */
  readonly look?: Digest;
  /** The key of the stop URL that was sent. Absent: none was sent, or its key is not known. */
  readonly keyId?: string;
  /** Whether these attributes make them spot nodes. Absent: they do not, or an older release sent them. */
  readonly spot?: boolean;
  readonly added: number;
  /** The answer was lost. `added` is the number requested, and CycleCloud may have granted less. Absent: `added` comes from the answer. */
  readonly unconfirmed?: ListGrowth;
  /** All nodes of this set that an observation has shown, also those that are gone. */
  readonly seen: readonly NodeId[];
  readonly since: Instant;
  /** When the plan that wanted it was committed. Absent: at `since`. */
  readonly plannedAt?: Instant;
  /**
   * When it last was given nodes without the list of the request's nodes. Until a list that was asked for later is read, the request stays, because
   * only the list shows that its nodes are ours. Absent: none, or it was read.
   */
  readonly presumedAt?: Instant;
}

/** Growth of the list of a request's nodes, over all of its sets. */
export interface ListGrowth {
  /** The largest number of nodes listed so far. */
  readonly listed: number;
  /** When the list that first had this number was asked for. */
  readonly since: Instant;
}

/** Number of nodes of an in-flight set that no observation has shown yet. */
export function stillInFlight(entry: InFlight): number {
  return Math.max(0, entry.added - entry.seen.length);
}
