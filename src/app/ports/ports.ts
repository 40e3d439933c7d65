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
  /** The checked configuration of the cluster, with defaults. At most a few seconds old. */
  readonly policyOf: (cluster: ClusterName) => Promise<Policy>;
}
