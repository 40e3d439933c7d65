import type { HostReport, JobReport } from "./scheduler-report.ts";
import type { WorkloadJob } from "./workload-job.ts";

/** One machine as the scheduler sees it. */
export interface Host {
  readonly hostname: string;
  readonly instanceId: string;
  /** The URL to ask whether it may stop. Undefined if its configuration has none. */
  readonly stopUrl: string | undefined;
  readonly cores: number;
  /** Counts up with every host that ever joined. */
  readonly order: number;
  free: number;
  /** Closed hosts keep their jobs and get no new ones. */
  open: boolean;
  present: boolean;
  /** Since when it has no job. Without meaning while it has one. */
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
  /** Its slots on open hosts, which other jobs can use when it ends. */
  openSlots: number;
  over: boolean;
  readonly report: JobReport;
}

/** The slots that one job has on one host. */
export interface Share {
  readonly host: Host;
  readonly slots: number;
}
