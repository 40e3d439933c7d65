import type { ComparisonAnswer, FleetAnswer } from "../client/comparison.ts";
import { summarizeComparison } from "./summarize-comparison.ts";
import type { Column } from "./table.ts";
import { renderTable } from "./table.ts";

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

export function renderComparison(answer: ComparisonAnswer): string {
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
export function csvOfComparison(answer: ComparisonAnswer): string {
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
