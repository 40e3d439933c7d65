import type { VirtualFleet } from "./virtual-fleet.ts";
import type { Ledger } from "./ledger.ts";
import type { ClusterRecord } from "./record.ts";
import type { Questions } from "./questions.ts";
import type { Plan } from "./plan.ts";
import type { Snapshot } from "./cluster.ts";
import type { SetName } from "./ids.ts";

/** The result of one reconcile: the next record, its bodies, and the plan with its reasons. */
export interface Decision {
  readonly record: ClusterRecord;
  readonly ledger: Ledger;
  /** The remaining questions of nodes. Their marks and accepted stops are now in the ledger. */
  readonly questions: Questions;
  /** The observation as accepted, with missing nodes that do not count as gone yet. */
  readonly seen: Snapshot;
  readonly plan: Plan;
  /** What of the plan's cost each request set spent, in steps. */
  readonly stepsBySet: ReadonlyMap<SetName, number>;
  /** The virtual fleet after this plan. Absent: unchanged. */
  readonly virtual?: VirtualFleet;
  /** The plan stops useless nodes that count as present until their stop is accepted. The next observation plans their replacements. */
  readonly waitsForStops?: true;
}
