import type { Snapshot } from "./cluster.ts";
import type { SchedulerNode, SetDemand } from "./demand.ts";
import type { Digest } from "./ids.ts";
import type { Plan } from "./plan.ts";
import type { Questions } from "./questions.ts";
import type { Ledger } from "./record.ts";
import type { VirtualFleet } from "./virtual-fleet.ts";

/** The large, immutable parts of a record, in the store named by digest. */
export interface Bodies {
  readonly demands: ReadonlyMap<Digest, SetDemand>;
  readonly reports: ReadonlyMap<Digest, readonly SchedulerNode[]>;
  readonly seen?: Snapshot;
  readonly ledger: Ledger;
  /** What nodes have asked lately; absent: nothing, or an older release saved the record last. */
  readonly questions?: Questions;
  /** The last plan, with its reasons: what the state page shows. */
  readonly plan?: Plan;
  /** What observed node arrays would have, and the comparison; absent: none was ever observed, or it was lost. */
  readonly virtual?: VirtualFleet;
}
