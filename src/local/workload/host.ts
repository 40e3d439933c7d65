import type { HostReport, JobReport } from "./scheduler-report.ts";
import type { WorkloadJob } from "./workload-job.ts";

/** One machine as the scheduler sees it. */
export interface Host {
  readonly hostname: string;
  readonly instanceId: string;
  /** Where it asks whether it may stop; `undefined` when its configuration names no such place. */
  readonly stopUrl: string | undefined;
  readonly cores: number;
  /** Counts up with every host that ever joined. */
  readonly order: number;
  free: number;
  /** Closed hosts keep their jobs and get no new ones. */
  open: boolean;
  present: boolean;
  /** Since when no job is on it; meaningless while one is. */
  idleSince: number;
  readonly occupants: Map<Run, number>;
  /** The last report, kept until something about the host changes. */
  report: HostReport | undefined;
}

/** One attempt at a job, from its start to its end or to the loss of one of its hosts. */
export interface Run {
  readonly job: WorkloadJob;
  readonly sequence: number;
  readonly submittedAt: number;
  readonly startedAt: number;
  readonly endsAt: number;
  readonly expectedEnd: number;
  readonly shares: readonly Share[];
  /** Its slots on open hosts: those that other jobs can have when it ends. */
  openSlots: number;
  over: boolean;
  readonly report: JobReport;
}

/** The slots that one job has on one host. */
export interface Share {
  readonly host: Host;
  readonly slots: number;
}
