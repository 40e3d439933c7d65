import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";
import type { ExitCode } from "../exit-code.ts";
import { EXIT } from "../exit-code.ts";
import { readCount, readPositive, wrapped } from "../options.ts";
import { nameOf, readJson } from "../read-json.ts";
import type { Register } from "../options.ts";
import { jsonText } from "../tell.ts";
import type { Terminal } from "../terminal.ts";
import type { Assumptions } from "./assumptions.ts";
import {
  DEFAULTS,
  executionSecondsWith,
  DAY_SECONDS,
  INSTANCE_POLL_SECONDS,
  MONTH_DAYS,
  PLATFORM_POLL_SECONDS,
  TIMER_SECONDS,
} from "./assumptions.ts";
import { billOf, totalOf, monthOf } from "./bill.ts";
import type { DayCounts } from "./day-counts.ts";
import { readDayCounts, shippedDay } from "./day-counts.ts";
import type { Clusters, Month, BillGroup, Line } from "./bill.ts";
import type { Prices, Price, PriceName } from "./prices.ts";
import { PRICES, PRICES_AT, PRICE_NAMES } from "./prices.ts";
import type { Seconds } from "../../domain/units.ts";
import { renderTable } from "../table.ts";

import busyDay from "./busy-day.json" with { type: "json" };
import idleDay from "./idle-day.json" with { type: "json" };

interface CostOptions {
  readonly clusters: number;
  readonly busy: number;
  readonly day?: string;
  readonly prices?: string;
  readonly stays: number;
  readonly executionSeconds?: Seconds;
  readonly memory: string;
  readonly alwaysReady: number;
  readonly privateEndpoints: number;
  readonly listPrices?: true;
  readonly json?: true;
}

const HELP =
  "Calculates the monthly cost of one app in Azure, line by line, at list price and after the monthly grant. Executions and storage operations were counted in the local runtime over a simulated day (npm run bench:cost). The assumptions about the platform are printed. It makes no calls. See docs/costs.md.";

/** The assumptions about Azure, each with a default. */
function withAssumptions(command: Command): Command {
  return command
    .addOption(
      new Option("--stays <seconds>", "time for which an instance stays after its last execution")
        .argParser(readCount)
        .default(DEFAULTS.staysSeconds),
    )
    .addOption(
      new Option(
        "--execution-seconds <seconds>",
        "duration of an execution (default: 1, and 2 with 512 MB)",
      ).argParser(readPositive),
    )
    .addOption(
      new Option("--memory <mb>", "memory of an instance")
        .choices(["512", "2048", "4096"])
        .default(String(DEFAULTS.memoryMb)),
    )
    .addOption(
      new Option("--always-ready <count>", "instances of demand that are always there")
        .argParser(readCount)
        .default(DEFAULTS.alwaysReady),
    )
    .addOption(
      new Option("--private-endpoints <count>", "private endpoints; 4 with a virtual network")
        .argParser(readCount)
        .default(DEFAULTS.privateEndpoints),
    );
}

/** What the app costs in Azure. */
export function registerCost({ program, terminal, run }: Register): void {
  withAssumptions(program.command("cost"))
    .description("calculate the monthly cost of the app in Azure")
    .addHelpText("after", wrapped(HELP))
    .addOption(new Option("--clusters <count>", "clusters of the app").argParser(readAtLeastOne).default(1))
    .addOption(
      new Option("--busy <count>", "number of these that are busy; the others are idle")
        .argParser(readCount)
        .default(0),
    )
    .addOption(
      new Option(
        "--day <file>",
        "use the counts of this day for all clusters, as npm run bench:cost prints them",
      ).conflicts("busy"),
    )
    .addOption(
      new Option("--prices <file>", 'other prices in US dollars: {"NAME": 0.004}; names as in --list-prices'),
    )
    .option("--list-prices", "print only the prices, with their date")
    .option("--json", "the bill as JSON")
    .action((options: CostOptions) => run(() => tellCost(terminal, options)));
}

async function tellCost(terminal: Terminal, options: CostOptions): Promise<ExitCode> {
  if (options.busy > options.clusters) {
    terminal.complain(
      `--busy: found ${options.busy} of ${options.clusters} clusters, expected no more than --clusters`,
    );
    return EXIT.usage;
  }
  const prices = await pricesOf(terminal, options);
  if ("code" in prices) return prices.code;
  if (options.listPrices === true) {
    terminal.say(
      options.json === true
        ? jsonText({ at: PRICES_AT, prices: prices.prices })
        : renderPrices(prices.prices),
    );
    return EXIT.done;
  }
  const read = await clustersOf(terminal, options);
  if ("code" in read) return read.code;
  terminal.say(billText(read.clusters, options, prices.prices));
  return EXIT.done;
}

function billText(clusters: readonly Clusters[], options: CostOptions, prices: Prices): string {
  const assumed = assumptionsOf(options);
  const month = monthOf(clusters, assumed);
  const lines = billOf(month, assumed, prices);
  if (options.json === true)
    return jsonText({
      clusters: clusters.map(({ count, day }) => ({ count, day: day.day })),
      assumed,
      month,
      lines,
      total: totalOf(lines),
    });
  const title = clusters.map(({ count, day }) => `${count} x ${day.day}`).join("\n");
  return renderBill({ title, month, lines, assumed });
}

function assumptionsOf(options: CostOptions): Assumptions {
  const { stays, memory, alwaysReady, privateEndpoints } = options;
  const memoryMb = Number(memory);
  const { executionSeconds = executionSecondsWith(memoryMb) } = options;
  return { staysSeconds: stays, executionSeconds, memoryMb, alwaysReady, privateEndpoints };
}

type ClustersRead = { readonly clusters: readonly Clusters[] } | { readonly code: ExitCode };

async function clustersOf(terminal: Terminal, { clusters, busy, day }: CostOptions): Promise<ClustersRead> {
  if (day === undefined) {
    const kinds = [
      { count: clusters - busy, day: shippedDay(idleDay) },
      { count: busy, day: shippedDay(busyDay) },
    ];
    return { clusters: kinds.filter(({ count }) => count > 0) };
  }
  const read = await readJson(terminal, day);
  if ("code" in read) return read;
  const counts = dayOf(terminal, day, read.value);
  return counts === undefined ? { code: EXIT.usage } : { clusters: [{ count: clusters, day: counts }] };
}

function dayOf(terminal: Terminal, file: string, value: unknown): DayCounts | undefined {
  const read = readDayCounts(value);
  if ("counts" in read) return read.counts;
  for (const problem of read.problems) terminal.complain(`${nameOf(file)}: ${problem}`);
  return undefined;
}

async function pricesOf(
  terminal: Terminal,
  { prices: file }: CostOptions,
): Promise<{ readonly prices: Prices } | { readonly code: ExitCode }> {
  if (file === undefined) return { prices: PRICES };
  const read = await readJson(terminal, file);
  if ("code" in read) return read;
  const asked = readPrices(read.value);
  if ("prices" in asked) return asked;
  for (const problem of asked.problems) terminal.complain(`${nameOf(file)}: ${problem}`);
  return { code: EXIT.usage };
}

function readAtLeastOne(text: string): number {
  const value = readCount(text);
  if (value >= 1) return value;
  throw new InvalidArgumentError("Expected a whole number of at least 1.");
}

/** The prices with those of a file, `{"NAME": USD}`; or what is wrong with the file, one text for each problem. */
function readPrices(value: unknown): { readonly prices: Prices } | { readonly problems: readonly string[] } {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { problems: [`found ${shown(value)}, expected an object such as {"queueOperations": 0.004}`] };
  const given = Object.entries(value);
  const problems = given.flatMap(([name, usd]) => problemsOf(name, usd));
  if (problems.length > 0) return { problems };
  const changed = new Map(given.map(([name, usd]) => [name, Number(usd)]));
  const known: Readonly<Record<PriceName, Price>> = PRICES;
  const entries = PRICE_NAMES.map((name) => [
    name,
    { ...known[name], usd: changed.get(name) ?? known[name].usd },
  ]);
  return { prices: { ...known, ...Object.fromEntries(entries) } };
}

function problemsOf(name: string, usd: unknown): readonly string[] {
  if (!PRICE_NAMES.some((known) => known === name))
    return [`${name}: found an unknown price, expected one of ${PRICE_NAMES.join(", ")}`];
  const isPrice = typeof usd === "number" && Number.isFinite(usd) && usd >= 0;
  return isPrice ? [] : [`${name}: found ${shown(usd)}, expected US dollars, a number of at least 0`];
}

const shown = (value: unknown): string => JSON.stringify(value) ?? String(value);

/** The inputs of a bill. */
interface Told {
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
function renderBill({ title, month, lines, assumed }: Told): string {
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
function renderPrices(prices: Prices): string {
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
