import { Option } from "commander";
import { readComparison } from "../client/readers.ts";
import type { Register, ClusterOptions } from "./options.ts";
import { appOf, readTime, withCluster, wrapped } from "./options.ts";
import type { Telling } from "./tell.ts";
import { tell, UNREADABLE } from "./tell.ts";
import type { ComparisonAnswer } from "../client/readers.ts";
import type { Column } from "./table.ts";
import { renderTable } from "./table.ts";
import { withoutAbsent } from "../client/readable.ts";

type CompareOptions = ClusterOptions & {
  readonly since?: string;
  readonly until?: string;
  readonly csv?: true;
};

/** Registers `compare`: the nodes of observed arrays beside those that the autoscaler would have had. */
export function registerCompareCommand({ program, terminal, run }: Register): void {
  withCluster(program.command("compare"))
    .description("in observe mode: compare the real nodes with those that the autoscaler would have run")
    .addHelpText(
      "after",
      wrapped(
        "Shows, for each day and node array in mode observe, nodes, node-hours, idle node-hours, boots and cost of the real nodes and of those that the autoscaler would have run, how long jobs waited, and the largest differences with their reasons. Days are in UTC and kept for 90 days.",
      ),
    )
    .addOption(new Option("--since <day>", "the first day, as 2026-01-31").argParser(readTime))
    .addOption(new Option("--until <day>", "the last day").argParser(readTime))
    .addOption(new Option("--csv", "as CSV, without the reasons").conflicts("json"))
    .action((options: CompareOptions) =>
      run(async () => {
        const { since, until } = options;
        const query = withoutAbsent({ since, until });
        const answer = await appOf(options).comparison(options.cluster, query);
        return tell(terminal, answer, options.json === true, options.csv === true ? tellCsv : tellComparison);
      }),
    );
}

const tellComparison: Telling = (body) => {
  const answer = readComparison(body);
  return { text: answer === undefined ? UNREADABLE : renderComparison(answer) };
};

const tellCsv: Telling = (body) => {
  const answer = readComparison(body);
  return { text: answer === undefined ? UNREADABLE : csvOfComparison(answer) };
};

/** One fleet of one node array on one day. The jobs' waiting time covers all arrays together. */
interface Row {
  readonly day: string | undefined;
  readonly nodearray: string;
  readonly fleet: "real" | "autoscaler";
  readonly observedHours?: number | undefined;
  readonly counts?: FleetAnswer | undefined;
  readonly waiting?: number | undefined;
  readonly currency?: string | undefined;
}

const ALL_ARRAYS = "(all)";

/** Differences shown below the table: the largest of all days. */
const REASONS_SHOWN = 10;

/** The oldest day first, as usual in a table of days. */
function rowsOf({ days }: ComparisonAnswer): readonly Row[] {
  return days.toReversed().flatMap(({ day, currency, nodearrays, waitingJobHours: waiting }) => [
    ...nodearrays.flatMap(({ nodearray = "?", observedHours, real, virtual }): readonly Row[] => [
      { day, nodearray, fleet: "real", observedHours, counts: real, currency },
      { day, nodearray, fleet: "autoscaler", observedHours, counts: virtual, currency },
    ]),
    ...(waiting === undefined
      ? []
      : [
          { day, nodearray: ALL_ARRAYS, fleet: "real" as const, waiting: waiting.real },
          { day, nodearray: ALL_ARRAYS, fleet: "autoscaler" as const, waiting: waiting.virtual },
        ]),
  ]);
}

const COLUMNS: readonly Column<Row>[] = [
  ["DAY", ({ day }) => day],
  ["ARRAY", ({ nodearray }) => nodearray],
  ["FLEET", ({ fleet }) => fleet],
  ["OBSERVED H", ({ observedHours }) => observedHours],
  ["NODES", ({ counts }) => counts?.meanNodes],
  ["PEAK", ({ counts }) => counts?.peakNodes],
  ["NODE-H", ({ counts }) => counts?.nodeHours],
  ["IDLE-H", ({ counts }) => counts?.idleNodeHours],
  ["BOOTS", ({ counts }) => counts?.boots],
  ["COST", ({ counts }) => counts?.cost],
  ["CURRENCY", ({ counts, currency }) => (counts?.cost === undefined ? undefined : currency)],
  ["JOBS WAITED H", ({ waiting }) => waiting],
];

function renderComparison(answer: ComparisonAnswer): string {
  const { observing, days, next } = answer;
  const arrays = observing.map(
    ({ nodearray = "?", since = "?", virtualNodes = 0 }) =>
      `${nodearray} since ${since} (${virtualNodes} nodes now)`,
  );
  const head =
    arrays.length === 0
      ? "no node array is in mode observe now"
      : `observing only, nothing is created or stopped: ${arrays.join(", ")}`;
  const table = renderTable(COLUMNS, rowsOf(answer), "nothing has been compared in that time");
  const summary = summarizeComparison(answer);
  return [
    head,
    ...(summary.length === 0 ? [] : ["", ...summary, ""]),
    "real: the nodes that existed. autoscaler: the nodes that it would have run.",
    "",
    table,
    ...reasonsText(days),
    ...(next === undefined ? [] : [`older days: --until ${next}`]),
  ].join("\n");
}

type Days = ComparisonAnswer["days"];

type FleetAnswer = Days[number]["nodearrays"][number]["real"];

function reasonsText(days: Days): readonly string[] {
  const all = days.flatMap(({ day = "?", nodearrays }) =>
    nodearrays.flatMap(({ nodearray = "?", differences }) =>
      differences.map(({ nodeHours = 0, text = "?" }) => ({
        nodeHours,
        line: `  ${day} ${nodearray}: ${text}`,
      })),
    ),
  );
  const largest = all.toSorted((a, b) => b.nodeHours - a.nodeHours).slice(0, REASONS_SHOWN);
  return largest.length === 0 ? [] : ["", "largest differences:", ...largest.map(({ line }) => line)];
}

const CSV_COLUMNS: readonly (readonly [string, (row: Row) => string | number | undefined])[] = [
  ["day", ({ day }) => day],
  ["nodearray", ({ nodearray }) => nodearray],
  ["fleet", ({ fleet }) => fleet],
  ["observedHours", ({ observedHours }) => observedHours],
  ["meanNodes", ({ counts }) => counts?.meanNodes],
  ["peakNodes", ({ counts }) => counts?.peakNodes],
  ["nodeHours", ({ counts }) => counts?.nodeHours],
  ["idleNodeHours", ({ counts }) => counts?.idleNodeHours],
  ["boots", ({ counts }) => counts?.boots],
  ["cost", ({ counts }) => counts?.cost],
  ["currency", ({ currency }) => currency],
  ["waitingJobHours", ({ waiting }) => waiting],
];

/** CSV by RFC 4180, with a header line. */
function csvOfComparison(answer: ComparisonAnswer): string {
  const lines = rowsOf(answer).map((row) =>
    CSV_COLUMNS.map(([, cell]) => cell(row))
      .map(cellOrEmpty)
      .join(","),
  );
  return [CSV_COLUMNS.map(([head]) => head).join(","), ...lines].join("\n");
}

const cellOrEmpty = (value: string | number | undefined): string | undefined =>
  value === undefined ? undefined : csvCell(value);

/** Spreadsheets run a text that begins like a formula, so such a name gets an apostrophe in front. */
function csvCell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Whether the autoscaler is cheaper and whether jobs wait longer, in the days shown. Empty if there are none. */
function summarizeComparison({ days }: ComparisonAnswer): readonly string[] {
  const rows = days.flatMap(({ nodearrays }) => nodearrays);
  if (rows.length === 0) return [];
  const sum = (of: (fleet: FleetAnswer) => number | undefined): Both =>
    addAll(rows.map(({ real, virtual }) => ({ real: of(real), virtual: of(virtual) }))) ?? {
      real: 0,
      virtual: 0,
    };
  const nodeHours = sum((fleet) => fleet.nodeHours);
  const idle = sum((fleet) => fleet.idleNodeHours);
  const isPriced = rows.some(({ real, virtual }) => (real.cost ?? virtual.cost) !== undefined);
  const cost = isPriced ? sum((fleet) => fleet.cost) : undefined;
  const unpriced = sum((fleet) => fleet.unpricedNodeHours);
  const waited = addAll(days.flatMap(({ waitingJobHours }) => waitingJobHours ?? []));
  const currency = days.find((day) => day.currency !== undefined)?.currency;
  const observed = Math.max(...rows.map(({ observedHours = 0 }) => observedHours));
  return [
    `verdict: ${verdict(cost ?? nodeHours, cost !== undefined, waited)}`,
    `  cost        ${cost === undefined ? "not known: the configuration has no prices" : sideBySide(cost, currency)}${unpricedText(unpriced)}`,
    `  node-hours  ${sideBySide(nodeHours)}; idle: ${idle.real} and ${idle.virtual}`,
    `  jobs waited ${waited === undefined ? "not known: no request set has jobs" : sideBySide(waited, "h")}`,
    ...(days.length > 1 || observed >= DAY_HOURS
      ? []
      : [`  observed for ${observed} h only: let a week pass before you decide`]),
  ];
}

const DAY_HOURS = 24;

interface Both {
  readonly real: number;
  readonly virtual: number;
}

type MaybeBoth = { readonly [K in keyof Both]?: number | undefined };

/** Undefined for an empty list. */
function addAll(all: readonly MaybeBoth[]): Both | undefined {
  if (all.length === 0) return undefined;
  const total = (of: keyof Both): number => round(all.reduce((sum, one) => sum + (one[of] ?? 0), 0));
  return { real: total("real"), virtual: total("virtual") };
}

const round = (value: number): number => Number(value.toFixed(2));

/** A difference of less than one percent counts as the same. */
function compare({ real, virtual }: Both): "less" | "same" | "more" {
  if (Math.abs(virtual - real) <= 0.01 * Math.max(real, virtual)) return "same";
  return virtual < real ? "less" : "more";
}

function verdict(cost: Both, isPriced: boolean, waited: Both | undefined): string {
  const money = {
    less: isPriced
      ? "the autoscaler would have been cheaper"
      : "the autoscaler would have used fewer node-hours",
    same: isPriced
      ? "the autoscaler would have cost as much"
      : "the autoscaler would have used as many node-hours",
    more: isPriced
      ? "the autoscaler would have been more expensive"
      : "the autoscaler would have used more node-hours",
  }[compare(cost)];
  if (waited === undefined) return `${money}; how long jobs waited is not known`;
  const isLess = compare(cost) === "less";
  switch (compare(waited)) {
    case "less":
      return `${money}, ${isLess ? "and" : "but"} jobs would have waited less`;
    case "same":
      return `${money}, and jobs would have waited as long`;
    case "more":
      return `${money}, ${isLess ? "but" : "and"} jobs would have waited longer`;
  }
}

/** "31.2 EUR real, 19.2 EUR with the autoscaler: 12 EUR less (38 %)". */
function sideBySide(both: Both, unit?: string): string {
  const { real, virtual } = both;
  const of = (value: number): string => `${value}${unit === undefined ? "" : ` ${unit}`}`;
  const apart = round(Math.abs(virtual - real));
  const share = real === 0 ? "" : ` (${Math.round((100 * apart) / real)} %)`;
  const how = virtual < real ? "less" : "more";
  const difference = apart === 0 ? "the same" : `${of(apart)} ${how}${share}`;
  return `${of(real)} real, ${of(virtual)} with the autoscaler: ${difference}`;
}

const unpricedText = ({ real, virtual }: Both): string =>
  real + virtual === 0 ? "" : `; without the ${real} and ${virtual} node-hours whose price is not known`;
