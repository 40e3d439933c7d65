import type { BucketKey } from "./bucket.ts";
import type { ArrayName } from "./ids.ts";
import type { Instant, Seconds } from "./units.ts";

/** A pause of a bucket that refused a request, granted too few nodes, or whose nodes failed. No request goes to it before `until`. */
export interface Backoff {
  readonly bucket: BucketKey;
  /**
   * Only nodes of this dynamic array wait: a refusal or failed boot of its nodes says little about others. Absent: all nodes of the bucket
   * wait.
   */
  readonly dynamic?: ArrayName;
  readonly until: Instant;
  /** Length of this pause. The next refusal doubles it. */
  readonly seconds: Seconds;
  readonly cause: "refused" | "fell-short" | "boot-failed" | "unhealthy" | "went-down";
  readonly message: string;
}
