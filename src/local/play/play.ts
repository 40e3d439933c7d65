import type { SchedulerModel } from "../workload/scheduler-model.ts";
import type { WorkloadJob } from "../workload/workload-job.ts";
import type { AuditFeed } from "./audit-feed.ts";
import type { PlayedCluster } from "./cluster.ts";
import type { SchedulerAgent } from "./scheduler-agent.ts";

/** One workload on one cluster. */
export interface Play {
  readonly cluster: PlayedCluster;
  readonly jobs: readonly WorkloadJob[];
  readonly seed: number;
}

/** What a run leaves behind, to be summed up. */
export interface Played {
  readonly scheduler: SchedulerModel;
  readonly agent: SchedulerAgent;
  readonly feed: AuditFeed;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly messagesRejected: number;
  /** Every job of the workload was submitted and has ended. */
  readonly finished: boolean;
}

/** The habits of the modelled scheduler, in simulated seconds. */
export const AGENT_TIMES = {
  expirationSeconds: 300,
  renewSeconds: 120,
  pushApartSeconds: 15,
  idleSeconds: 300,
};

/** A run whose cluster is not empty so long after the last job arrived is given up. */
export const MOST_DAYS_AFTER_LAST_JOB = 60;
