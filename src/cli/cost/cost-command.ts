import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";
import type { ExitCode } from "../exit-code.ts";
import { EXIT } from "../exit-code.ts";
import { readCount, readPositive } from "../options.ts";
import { nameOf, readJson } from "../read-json.ts";
import type { Register } from "../register.ts";
import { jsonText } from "../tell.ts";
import type { Terminal } from "../terminal.ts";
import { wrapped } from "../wrapped.ts";
import type { Assumptions } from "./assumptions.ts";
import { DEFAULTS, executionSecondsWith } from "./assumptions.ts";
import { billOf, totalOf } from "./bill.ts";
import busyDay from "./busy-day.json" with { type: "json" };
import type { DayCounts } from "./day-counts.ts";
import { readDayCounts, shippedDay } from "./day-counts.ts";
import idleDay from "./idle-day.json" with { type: "json" };
import type { Clusters } from "./month.ts";
import { monthOf } from "./month.ts";
import type { Prices } from "./prices.ts";
import { PRICES, PRICES_AT } from "./prices.ts";
import { readPrices } from "./read-prices.ts";
import { renderBill, renderPrices } from "./render-bill.ts";
import type { Seconds } from "../../domain/units.ts";

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
