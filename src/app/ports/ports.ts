import type { ClusterName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Clock } from "./clock.ts";
import type { CredentialBreaker } from "./credential-breaker.ts";
import type { DemandQueue } from "./demand-queue.ts";
import type { Documents } from "./documents.ts";
import type { Entropy } from "./entropy.ts";
import type { History } from "./history.ts";
import type { Log } from "./log.ts";
import type { PlanArchive } from "./plan-archive.ts";
import type { RecordStore } from "./record-store.ts";
import type { Site } from "./site.ts";
import type { TriggerLog } from "./trigger-log.ts";

/**
 * The checked configuration of a cluster, with defaults. `recent`, the default: at most 15 s old. `now`: the document is read now. `with-mode`:
 * the same, and where the document gives no mode for the cluster, the mode of the app setting is written into it first.
 */
export type PolicyReader = (cluster: ClusterName, how?: "recent" | "now" | "with-mode") => Promise<Policy>;

/** All that the use cases need from outside. src/compose provides it. They throw PortError and nothing else. */
export interface Ports {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly store: RecordStore;
  readonly history: History;
  readonly plans: PlanArchive;
  readonly documents: Documents;
  readonly breaker: CredentialBreaker;
  readonly triggers: TriggerLog;
  readonly queue: DemandQueue;
  readonly sites: ReadonlyMap<ClusterName, Site>;
  readonly log: Log;
  readonly policyOf: PolicyReader;
}
