import type { SchedulerModel } from "../workload/scheduler-model.ts";
import type { WorkloadJob } from "../workload/workload-job.ts";
import type { AuditFeed } from "./audit-feed.ts";
import type { PlayedCluster } from "./cluster.ts";
import type { Progress } from "./progress.ts";
import type { SchedulerAgent } from "./scheduler-agent.ts";
import type { Milliseconds, Seconds } from "../../domain/units.ts";

/** One workload on one cluster. */
export interface Play {
  readonly cluster: PlayedCluster;
  readonly jobs: readonly WorkloadJob[];
  readonly seed: number;
}

/** The results of a run, for the summary. */
export interface Played {
  readonly scheduler: SchedulerModel;
  readonly agent: SchedulerAgent;
  readonly feed: AuditFeed;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly messagesRejected: number;
  /** Every job of the workload was submitted and has ended. */
  readonly finished: boolean;
  /** For how long nothing could change, so that it was not played (still.ts). Absent: a run on a clock that cannot leave time out. */
  readonly leftOut?: Milliseconds;
  /** How much the app's own latency distorts a run on a fast clock. Absent for a virtual run, and for a run without a create. */
  readonly distortion?: Distortion;
}

/** The time from a push to the create that it led to, on a clock that runs `speed` times as fast as real time. */
export interface Distortion {
  /** 95 % of the creates came within this simulated time. */
  readonly latencySeconds: Seconds;
  readonly speed: number;
}

/** The observers of a run, and the signal that ends it. */
export interface Audience {
  readonly progress: Progress;
  /** Once aborted, the run ends where it is, and everything that it started is stopped. */
  readonly signal: AbortSignal;
}

/** The habits of the modelled scheduler, in simulated seconds. */
export const AGENT_TIMES = {
  expirationSeconds: 300,
  renewSeconds: 120,
  pushApartSeconds: 60,
  idleSeconds: 300,
};

/** A run is given up if its cluster is not empty this long after the last job arrived. */
export const MOST_DAYS_AFTER_LAST_JOB = 60;
