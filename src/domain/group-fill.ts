import type { BucketKey } from "./bucket.ts";
import type { Instant } from "./units.ts";

/**
 * A group that a demand needs and that lacks nodes. Only plans change it. It is stored because the ledger does not say two things: since
 * when nodes are lacking (the ages of the nodes do not show that one of a complete group was lost), and whether the group was given up.
 */
export interface GroupFill {
  readonly bucket: BucketKey;
  /** The array with the group size, as "execute:16n". */
  readonly key: string;
  /** When a plan first found nodes lacking. The entry is removed once all nodes are up. */
  readonly since: Instant;
  /**
   * When the group was given up because it was not complete in time. Its nodes belong to no group until a plan tries its bucket again.
   * Absent: not given up.
   */
  readonly givenUpAt?: Instant;
}
