import type { Assumptions } from "./assumptions.ts";
import {
  BLOBS_READ_AT_START,
  DAY_SECONDS,
  INSTANCE_POLL_SECONDS,
  LEASES_EACH_SECONDS,
  LOG_BYTES_PER_EXECUTION,
  LOG_BYTES_PER_LINE,
  MONTH_DAYS,
  PLATFORM_POLL_SECONDS,
  POLLS_AFTER_MESSAGE,
  STATUS_WRITES_PER_TIMER_RUN,
  TIMER_SECONDS,
  TRIGGERED_QUEUES,
} from "./assumptions.ts";
import type { DayCounts, StorageCounts } from "./day-counts.ts";
import { STORAGE_KINDS } from "./day-counts.ts";

/** Number of clusters with the same counts in a day. */
export interface Clusters {
  readonly count: number;
  readonly day: DayCounts;
}

/** Counts of an app in a month of 30 days. */
export interface Month {
  readonly executions: number;
  /** Counted operations by kind: those of the app, of senders, and of the trigger for delivered messages. */
  readonly operations: StorageCounts;
  /** Receives from queues that the day counts do not contain: by the platform, and by instances that wait for messages. */
  readonly platformPolls: number;
  readonly instancePolls: number;
  /** The host's own blobs. */
  readonly blobWrites: number;
  readonly blobOthers: number;
  readonly logGb: number;
}

/** The function of the timer. The number of its executions does not depend on the number of clusters. */
const TIMER = "snapshot";

/** The month of one app with these clusters. The operations of the timer for the app itself are those of the first kind of cluster. */
export function monthOf(clusters: readonly Clusters[], assumed: Assumptions): Month {
  const [first] = clusters;
  if (first === undefined) throw new Error("no clusters");
  const timerRuns = perDay(first.day, first.day.executions[TIMER] ?? 0);
  const messages = sumOf(clusters, (day) => day.executions["demand"] ?? 0);
  const others = sumOf(clusters, (day) =>
    Object.entries(day.executions).reduce((sum, [name, count]) => (name === TIMER ? sum : sum + count), 0),
  );
  const { staysSeconds, executionSeconds } = assumed;
  const timerSeconds = Math.min(TIMER_SECONDS, executionSeconds + staysSeconds);
  const isTimerAlive = timerSeconds >= TIMER_SECONDS;
  const starts = isTimerAlive ? 1 : timerRuns;
  const timerAlive = Math.min(DAY_SECONDS, timerRuns * timerSeconds);
  const demandAlive = Math.min(DAY_SECONDS, messages * (executionSeconds + staysSeconds));
  const leases = LEASES_EACH_SECONDS.reduce((sum, seconds) => sum + timerAlive / seconds, 0);
  const lines = sumOf(clusters, (day) => day.logLines);
  const bytes = sumOf(clusters, (day) => day.logBytes);
  const executions = timerRuns + others;
  const logged = executions * LOG_BYTES_PER_EXECUTION + lines * LOG_BYTES_PER_LINE + bytes;
  return {
    executions: inMonth(executions),
    operations: operationsOf(clusters, first.day, starts),
    platformPolls: inMonth((TRIGGERED_QUEUES * DAY_SECONDS) / PLATFORM_POLL_SECONDS),
    instancePolls: inMonth(demandAlive / INSTANCE_POLL_SECONDS + messages * POLLS_AFTER_MESSAGE),
    blobWrites: inMonth(timerRuns * STATUS_WRITES_PER_TIMER_RUN),
    blobOthers: inMonth(leases + starts * BLOBS_READ_AT_START),
    logGb: (logged * MONTH_DAYS) / 1e9,
  };
}

function operationsOf(clusters: readonly Clusters[], app: DayCounts, starts: number): StorageCounts {
  const counts = STORAGE_KINDS.map((kind) => {
    const own = starts * (app.perStart[kind] ?? 0) + perDay(app, app.perApp[kind] ?? 0);
    const ofClusters = sumOf(
      clusters,
      ({ perCluster, bySenders, byTrigger }) =>
        (perCluster[kind] ?? 0) + (bySenders[kind] ?? 0) + (byTrigger[kind] ?? 0),
    );
    return [kind, inMonth(own + ofClusters)] as const;
  });
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

function sumOf(clusters: readonly Clusters[], countOf: (day: DayCounts) => number): number {
  return clusters.reduce((sum, { count, day }) => sum + count * perDay(day, countOf(day)), 0);
}

const perDay = ({ hours }: DayCounts, count: number): number => (count * 24) / hours;
const inMonth = (aDay: number): number => Math.round(aDay * MONTH_DAYS);
