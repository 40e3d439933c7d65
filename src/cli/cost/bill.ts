import type { Assumptions } from "./assumptions.ts";
import {
  ALERT_SERIES,
  DAY_SECONDS,
  LOG_ALERTS,
  MONTH_DAYS,
  BLOBS_READ_AT_START,
  INSTANCE_POLL_SECONDS,
  LEASES_EACH_SECONDS,
  LOG_BYTES_PER_EXECUTION,
  LOG_BYTES_PER_LINE,
  PLATFORM_POLL_SECONDS,
  POLLS_AFTER_MESSAGE,
  STATUS_WRITES_PER_TIMER_RUN,
  TIMER_SECONDS,
  TRIGGERED_QUEUES,
} from "./assumptions.ts";
import type { StorageCounts, DayCounts } from "./day-counts.ts";
import type { PriceName, Prices } from "./prices.ts";
import { STORAGE_KINDS } from "./day-counts.ts";

/** The groups of the bill. */
export type BillGroup =
  | "executions, storage, polling"
  | "the host's own blobs"
  | "alerts"
  | "logs"
  | "network";

export interface Line {
  readonly group: BillGroup;
  readonly what: string;
  readonly quantity: number;
  readonly unit: string;
  readonly price: PriceName;
  /** US dollars a month. */
  readonly list: number;
  /** The same after the grant, if no other app uses the grant. */
  readonly afterGrant: number;
  /** How the quantity is known. */
  readonly from: "counted" | "assumed";
}

type Item = Pick<Line, "group" | "what" | "quantity" | "price" | "from">;

/** The bill of a month, line by line. Lines without a quantity are left out. */
export function billOf(month: Month, assumed: Assumptions, prices: Prices): readonly Line[] {
  const items = [...executionItems(month, assumed), ...storageItems(month), ...otherItems(month, assumed)];
  return items
    .filter(({ quantity }) => quantity > 0)
    .map((item) => {
      const { usd, per, unit, grant = 0 } = prices[item.price];
      const cost = (quantity: number) => (quantity / per) * usd;
      return {
        ...item,
        unit,
        list: cost(item.quantity),
        afterGrant: cost(Math.max(0, item.quantity - grant)),
      };
    });
}

/** The total of a group. Without a group, of all lines. */
export function totalOf(
  lines: readonly Line[],
  group?: BillGroup,
): { readonly list: number; readonly afterGrant: number } {
  const chosen = lines.filter((line) => group === undefined || line.group === group);
  return {
    list: chosen.reduce((sum, { list }) => sum + list, 0),
    afterGrant: chosen.reduce((sum, { afterGrant }) => sum + afterGrant, 0),
  };
}

function executionItems(
  { executions }: Month,
  { executionSeconds, memoryMb, alwaysReady }: Assumptions,
): readonly Item[] {
  const group = "executions, storage, polling";
  const gb = memoryMb / 1024;
  // Azure bills at least a second, and then tenths of a second.
  const seconds = Math.max(1, Math.ceil(executionSeconds * 10) / 10);
  return [
    { group, what: "executions", quantity: executions, price: "executions", from: "counted" },
    {
      group,
      what: "their time",
      quantity: executions * seconds * gb,
      price: "executionTime",
      from: "assumed",
    },
    {
      group,
      what: "always ready",
      quantity: alwaysReady * gb * DAY_SECONDS * MONTH_DAYS,
      price: "alwaysReady",
      from: "assumed",
    },
  ];
}

function storageItems({
  operations,
  platformPolls,
  instancePolls,
  blobWrites,
  blobOthers,
}: Month): readonly Item[] {
  const group = "executions, storage, polling";
  const blobs = "the host's own blobs";
  return [
    {
      group,
      what: "table operations",
      quantity: sumOf(operations, "table"),
      price: "tableOperations",
      from: "counted",
    },
    {
      group,
      what: "queue operations",
      quantity: sumOf(operations, "queue"),
      price: "queueOperations",
      from: "counted",
    },
    {
      group,
      what: "polls by the platform",
      quantity: platformPolls,
      price: "queueOperations",
      from: "assumed",
    },
    { group, what: "polls by instances", quantity: instancePolls, price: "queueOperations", from: "assumed" },
    { group: blobs, what: "status of the timer", quantity: blobWrites, price: "blobWrites", from: "assumed" },
    { group: blobs, what: "leases and starts", quantity: blobOthers, price: "blobOthers", from: "assumed" },
  ];
}

function otherItems({ logGb }: Month, { privateEndpoints }: Assumptions): readonly Item[] {
  return [
    {
      group: "alerts",
      what: "metric alerts",
      quantity: ALERT_SERIES,
      price: "metricAlerts",
      from: "assumed",
    },
    { group: "alerts", what: "log alert", quantity: LOG_ALERTS, price: "logAlerts", from: "assumed" },
    { group: "logs", what: "ingestion", quantity: logGb, price: "logs", from: "assumed" },
    {
      group: "network",
      what: "private endpoints",
      quantity: privateEndpoints,
      price: "privateEndpoints",
      from: "assumed",
    },
  ];
}

function sumOf(operations: StorageCounts, service: "table" | "queue"): number {
  return Object.entries(operations).reduce(
    (sum, [kind, count]) => (kind.startsWith(service) ? sum + count : sum),
    0,
  );
}

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
  const messages = sumOfClusters(clusters, (day) => day.executions["demand"] ?? 0);
  const others = sumOfClusters(clusters, (day) =>
    Object.entries(day.executions).reduce((sum, [name, count]) => (name === TIMER ? sum : sum + count), 0),
  );
  const { staysSeconds, executionSeconds } = assumed;
  const timerSeconds = Math.min(TIMER_SECONDS, executionSeconds + staysSeconds);
  const isTimerAlive = timerSeconds >= TIMER_SECONDS;
  const starts = isTimerAlive ? 1 : timerRuns;
  const timerAlive = Math.min(DAY_SECONDS, timerRuns * timerSeconds);
  const demandAlive = Math.min(DAY_SECONDS, messages * (executionSeconds + staysSeconds));
  const leases = LEASES_EACH_SECONDS.reduce((sum, seconds) => sum + timerAlive / seconds, 0);
  const lines = sumOfClusters(clusters, (day) => day.logLines);
  const bytes = sumOfClusters(clusters, (day) => day.logBytes);
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
    const ofClusters = sumOfClusters(
      clusters,
      ({ perCluster, bySenders, byTrigger }) =>
        (perCluster[kind] ?? 0) + (bySenders[kind] ?? 0) + (byTrigger[kind] ?? 0),
    );
    return [kind, inMonth(own + ofClusters)] as const;
  });
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

function sumOfClusters(clusters: readonly Clusters[], countOf: (day: DayCounts) => number): number {
  return clusters.reduce((sum, { count, day }) => sum + count * perDay(day, countOf(day)), 0);
}

const perDay = ({ hours }: DayCounts, count: number): number => (count * 24) / hours;
const inMonth = (aDay: number): number => Math.round(aDay * MONTH_DAYS);
