import type { Aside } from "./request-sets.ts";
import type { Snapshot } from "./cluster.ts";
import type { SchedulerNode, SetDemand } from "./demand.ts";
import type { Digest } from "./ids.ts";
import type { Plan } from "./plan.ts";
import type { Questions } from "./questions.ts";
import type { Ledger } from "./ledger.ts";
import type { VirtualFleet } from "./virtual-fleet.ts";

/** The large, immutable parts of a record. The store names them by digest. */
export interface Bodies {
  readonly demands: ReadonlyMap<Digest, SetDemand>;
  readonly reports: ReadonlyMap<Digest, readonly SchedulerNode[]>;
  /** Live sets whose demand and report were not read. Absent: none. */
  readonly aside?: Aside;
  readonly seen?: Snapshot;
  readonly ledger: Ledger;
  /** Recent questions of nodes. Absent: none. */
  readonly questions?: Questions;
  /** The last plan with its reasons, for the state page. */
  readonly plan?: Plan;
  /** The virtual fleet of observed node arrays, and the comparison. Absent: none was ever observed, or it was lost. */
  readonly virtual?: VirtualFleet;
}
