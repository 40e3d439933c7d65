import type { JobLogEntry, WaitSummary } from "./job-log.ts";
import type { Milliseconds } from "../../domain/units.ts";

/** The input and output of the scheduler model. Times are milliseconds on one axis. */

export interface SchedulerOptions {
  /** The slots of the whole cluster with all nodes that it may have. */
  readonly maxSlots: number;
  /** For how long the head of the queue counts on slots of nodes that do not exist yet. Default 30 minutes. */
  readonly patienceMs?: Milliseconds;
  /** Maximum number of jobs behind the head that one backfilling pass considers. Default 500, as Slurm's `bf_max_job_test`. */
  readonly backfillDepth?: number;
  readonly observer?: SchedulerObserver;
}

/** Called when a host gets its first job and when its last job ends. Not called when the host itself is lost. */
export interface SchedulerObserver {
  readonly hostBusy: (event: HostEvent) => void;
  readonly hostIdle: (event: HostEvent) => void;
}

export interface HostEvent {
  readonly at: number;
  readonly hostname: string;
  readonly instanceId: string;
}

export interface JoiningHost {
  readonly hostname: string;
  readonly instanceId: string;
  readonly cores: number;
  readonly stopUrl?: string;
}

export interface IdleHost {
  readonly hostname: string;
  readonly instanceId: string;
  readonly stopUrl: string | undefined;
  readonly idleSince: number;
}

export type SubmitOutcome =
  | { readonly kind: "queued" }
  /** The job could never start. As the head of the queue it would block all jobs behind it. */
  | { readonly kind: "too-wide"; readonly processors: number; readonly maxSlots: number }
  | { readonly kind: "name-taken"; readonly name: string };

/** The events since `advance` was last called. */
export interface Progress {
  readonly started: readonly { readonly name: string; readonly at: number; readonly hostnames: string[] }[];
  readonly ended: readonly JobLogEntry[];
}

export interface SchedulerStatistics extends WaitSummary {
  readonly submitted: number;
  readonly completed: number;
  /** Attempts that were lost with a host. Each of these jobs was queued again. */
  readonly killed: number;
  readonly waiting: number;
  readonly running: number;
  /** Slots of all waiting and running jobs, which the demand message asks for. */
  readonly slotsAsked: number;
  readonly hosts: number;
  readonly freeSlots: number;
}
