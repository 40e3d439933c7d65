import { renderTable } from "../table.ts";
import type { Assumptions } from "./assumptions.ts";
import {
  DAY_SECONDS,
  INSTANCE_POLL_SECONDS,
  MONTH_DAYS,
  PLATFORM_POLL_SECONDS,
  TIMER_SECONDS,
} from "./assumptions.ts";
import type { BillGroup, Line } from "./bill.ts";
import { totalOf } from "./bill.ts";
import type { Month } from "./month.ts";
import type { Prices } from "./prices.ts";
import { PRICE_NAMES, PRICES_AT } from "./prices.ts";

/** The inputs of a bill. */
export interface Told {
  readonly title: string;
  readonly month: Month;
  readonly lines: readonly Line[];
  readonly assumed: Assumptions;
}

const GROUPS: readonly BillGroup[] = [
  "executions, storage, polling",
  "the host's own blobs",
  "alerts",
  "logs",
  "network",
];

/** The bill with its inputs and its assumptions. */
export function renderBill({ title, month, lines, assumed }: Told): string {
  return [
    title,
    "",
    billTable(lines),
    "",
    "Storage operations a month that were counted in the local runtime:",
    operationsTable(month),
    "",
    `Prices of ${PRICES_AT} (--list-prices). The grant is for the whole subscription: other apps may use it up.`,
    ...assumptionLines(assumed),
  ].join("\n");
}

type Row = readonly [what: string, quantity: string, unit: string, from: string, list: string, after: string];

function billTable(lines: readonly Line[]): string {
  const rows = GROUPS.flatMap((group): readonly Row[] => {
    const own = lines.filter((line) => line.group === group);
    if (own.length === 0) return [];
    const { list, afterGrant } = totalOf(own);
    return [...own.map((line) => rowOf(line)), [`= ${group}`, "", "", "", usd(list), usd(afterGrant)]];
  });
  const { list, afterGrant } = totalOf(lines);
  return renderTable<Row>(
    [
      ["A MONTH", ([what]) => what],
      ["QUANTITY", ([, quantity]) => quantity.padStart(11)],
      ["UNIT", ([, , unit]) => unit],
      ["QUANTITY IS", ([, , , from]) => from],
      ["LIST USD", ([, , , , price]) => price.padStart(8)],
      ["AFTER GRANT", ([, , , , , price]) => price.padStart(11)],
    ],
    [...rows, ["= all", "", "", "", usd(list), usd(afterGrant)]],
    "nothing",
  );
}

function rowOf({ what, quantity, unit, from, list, afterGrant }: Line): Row {
  return [what, amount(quantity), unit, from, usd(list), usd(afterGrant)];
}

function operationsTable({ operations }: Month): string {
  return renderTable(
    [
      ["KIND", ([kind]) => kind],
      ["A DAY", ([, count]) => Math.round(count / MONTH_DAYS)],
      ["A MONTH", ([, count]) => count],
    ],
    Object.entries(operations),
    "none",
  );
}

function assumptionLines({ staysSeconds, executionSeconds, memoryMb }: Assumptions): readonly string[] {
  const timer =
    staysSeconds + executionSeconds >= TIMER_SECONDS
      ? "so the timer's instance never ends"
      : "so each run of the timer starts one";
  return [
    "Assumed, and not measured in Azure:",
    `- an instance of ${memoryMb} MB stays ${staysSeconds} s after its last execution (--stays), ${timer};`,
    `- an execution takes ${executionSeconds} s (--execution-seconds), and none shares its time with another;`,
    "- each function has instances of its own, because Flex Consumption scales by function;",
    `- the platform polls the only queue that has a trigger every ${PLATFORM_POLL_SECONDS} s, and an instance of demand every ${INSTANCE_POLL_SECONDS} s;`,
    "- the host writes a status after each run of the timer, and renews two leases;",
    `- a month has ${MONTH_DAYS} days of ${DAY_SECONDS} s. Not counted: capacity, egress, Key Vault, deployments, audit logs.`,
  ];
}

/** The price list, with its date. */
export function renderPrices(prices: Prices): string {
  const table = renderTable(
    [
      ["NAME", (name) => name],
      ["WHAT", (name) => prices[name].what],
      ["USD", (name) => prices[name].usd],
      ["FOR", (name) => `${prices[name].per.toLocaleString("en-US")} ${prices[name].unit}`],
      ["FREE A MONTH", (name) => prices[name].grant],
      ["FOR EACH", (name) => prices[name].grantFor],
      ["FROM", (name) => prices[name].sure],
    ],
    PRICE_NAMES,
    "none",
  );
  return `Prices of ${PRICES_AT}. Check them on Azure's price list, and give others with --prices.\n${table}`;
}

const usd = (value: number): string => value.toFixed(2);

function amount(value: number): string {
  return value < 100 ? String(Number(value.toFixed(2))) : Math.round(value).toLocaleString("en-US");
}
