import type { VirtualFleet } from "./virtual-fleet.ts";
import type { ClusterRecord, Ledger } from "./record.ts";
import type { Questions } from "./questions.ts";
import type { Plan } from "./plan.ts";
import type { Snapshot } from "./cluster.ts";

/** The outcome of one reconcile: the next record, its bodies, and the plan that says why. */
export interface Decision {
  readonly record: ClusterRecord;
  readonly ledger: Ledger;
  /** What is left of the nodes' questions: their marks and accepted stops are in the ledger now. */
  readonly questions: Questions;
  /** The look as it is believed: with the nodes that it lacks and that are not yet taken for gone. */
  readonly seen: Snapshot;
  readonly plan: Plan;
  /** The virtual fleet after this plan; absent: it is as it was. */
  readonly virtual?: VirtualFleet;
  /** The plan stops nodes of no use that count as there until their stop is accepted: what replaces them comes with the next look. */
  readonly waitsForStops?: true;
}
