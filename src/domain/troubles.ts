import type { Problem } from "./demand.ts";
import type { SetName } from "./ids.ts";
import type { Instant } from "./units.ts";

/**
 * A time in which the autoscaler did not run or could not observe. Afterwards scale-down pauses until each set of `awaiting` has been pushed
 * again, at the latest until `until`.
 */
export interface Outage {
  readonly from: Instant;
  readonly to: Instant;
  readonly until: Instant;
  readonly awaiting: readonly SetName[];
}

/** Why the last reconcile failed: at its observation or at its plan. Published and stored as `trouble`. */
export interface ReconcileFailure {
  readonly at: Instant;
  readonly kind:
    | "unreachable"
    | "throttled"
    | "denied"
    | "unexpected"
    | "suspicious"
    | "not-found"
    /** The autoscaler itself failed at a plan. */
    | "failed";
  readonly message: string;
}

/** A message that could not be read and was put into `demand-rejected`. */
export interface Rejection {
  readonly at: Instant;
  readonly messageId: string;
  readonly set?: string;
  readonly problems: readonly Problem[];
}

/** Bodies that storage lost. */
export interface Lost {
  readonly at: Instant;
  readonly bodies: number;
  /** Sets whose demand was lost. They have lapsed. */
  readonly sets: readonly SetName[];
  /** True if stored facts about nodes were lost: the snapshot, the ledger or others. */
  readonly nodes: boolean;
}
