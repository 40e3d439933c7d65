import type { HostReport, JobReport } from "./scheduler-report.ts";
import type { WorkloadJob } from "./workload-job.ts";

/** One machine as the scheduler sees it. */
export interface Host {
  readonly hostname: string;
  readonly instanceId: string;
  /** The URL to ask whether it may stop. Undefined if its configuration has none. */
  readonly stopUrl: string | undefined;
  readonly cores: number;
  /** The number of hosts that joined before. */
  readonly order: number;
  free: number;
  /** A closed host keeps its jobs and gets no new ones. */
  open: boolean;
  present: boolean;
  /** When its last job ended, or when it joined. Without meaning while it has a job. */
  idleSince: number;
  readonly occupants: Map<Run, number>;
  /** The last report, until the host changes. */
  report: HostReport | undefined;
}

/** One attempt to run a job, from its start to its end or to the loss of one of its hosts. */
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
