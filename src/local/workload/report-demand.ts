import type { Host, Run } from "./host.ts";
import type { HostReport, JobReport, SchedulerDemandMessage } from "./scheduler-report.ts";
import type { Waiting } from "./waiting-queue.ts";

/** Where a demand message goes, and for how long it is valid (seconds). */
export type DemandAddress = Pick<SchedulerDemandMessage, "cluster" | "requestSet" | "expirationInterval">;

/**
 * The demand of all jobs that have not ended, and a report of every host. A job or host that has not changed since the last message is the
 * same object again. The revision is `now` in whole milliseconds: two messages with different content must not have the same.
 */
export function reportDemand(
  state: {
    readonly running: Iterable<Run>;
    readonly waiting: Iterable<Waiting>;
    readonly hosts: Iterable<Host>;
  },
  { cluster, requestSet, expirationInterval }: DemandAddress,
  now: number,
): SchedulerDemandMessage {
  const jobs: JobReport[] = [];
  for (const { report } of state.running) jobs.push(report);
  for (const { report } of state.waiting) jobs.push(report);
  const schedulerNodes: HostReport[] = [];
  for (const host of state.hosts) schedulerNodes.push((host.report ??= reportHost(host)));
  const revision = Math.floor(now);
  return { version: 1, cluster, requestSet, revision, expirationInterval, jobs, schedulerNodes };
}

function reportHost(host: Host): HostReport {
  return {
    hostname: host.hostname,
    resources: { ncpus: host.cores },
    available: { ncpus: host.free },
    jobs: Array.from(host.occupants.keys(), (run) => run.job.name),
    state: host.open ? "open" : "closed",
  };
}
