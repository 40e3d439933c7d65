import type { Assumptions } from "./assumptions.ts";
import { ALERT_SERIES, DAY_SECONDS, LOG_ALERTS, MONTH_DAYS } from "./assumptions.ts";
import type { StorageCounts } from "./day-counts.ts";
import type { Month } from "./month.ts";
import type { PriceName, Prices } from "./prices.ts";

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
