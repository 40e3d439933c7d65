import type { NodeHistoryAnswer } from "../client/readers.ts";
import { readNodeHistory } from "../client/readers.ts";
import { moneyText, renderTable } from "./table.ts";
import type { Telling } from "./tell.ts";
import { UNREADABLE } from "./tell.ts";

type Row = NodeHistoryAnswer["rows"][number];

/** The nodes of a time, a row each, and what they cost together. */
export const tellNodeHistory: Telling = (body) => {
  const answer = readNodeHistory(body);
  return { text: answer === undefined ? UNREADABLE : renderNodes(answer) };
};

function renderNodes({ rows, next }: NodeHistoryAnswer): string {
  const table = renderTable<Row>(
    [
      ["NODE", ({ name }) => name],
      ["SIZE", ({ machineType, spot }) => (spot === true ? `${machineType} (spot)` : machineType)],
      ["PHASE", ({ phase }) => phase],
      ["PLAN", ({ askedByPlan }) => askedByPlan],
      ["FOR", ({ requestSets }) => requestSets.join(", ")],
      ["ASKED", ({ askedAt }) => secondOf(askedAt)],
      ["SEEN", ({ firstSeenAt }) => secondOf(firstSeenAt)],
      ["READY", ({ firstReadyAt }) => secondOf(firstReadyAt)],
      ["NEEDED", ({ firstNeededAt }) => secondOf(firstNeededAt)],
      ["LAST NEEDED", ({ lastNeededAt }) => secondOf(lastNeededAt)],
      ["TOLD TO STOP", ({ drainingSince }) => secondOf(drainingSince)],
      ["GONE", ({ goneAt }) => secondOf(goneAt)],
      ["HOURS", ({ hours }) => hours?.toFixed(2)],
      ["COST", ({ cost, currency }) => (cost === undefined ? undefined : moneyText(cost, currency))],
      ["WHY", ({ why }) => why],
    ],
    rows,
    "no nodes in that time",
  );
  const more = next === undefined ? [] : ["there are more: --limit, or --from and --to"];
  return [table, ...(rows.length === 0 ? [] : [sumText(rows)]), ...more].join("\n");
}

/** "2026-01-31T12:00:00Z". */
const secondOf = (time: string | undefined): string | undefined => time?.replace(/\.\d+Z$/, "Z");

const counted = (nodes: number): string => (nodes === 1 ? "1 node" : `${nodes} nodes`);

/** What all of them cost. Of two currencies, which a change of the configuration makes, each has a sum. */
function sumText(rows: readonly Row[]): string {
  const hours = rows.reduce((sum, row) => sum + (row.hours ?? 0), 0);
  const sums = new Map<string, number>();
  for (const { cost, currency } of rows)
    if (cost !== undefined && currency !== undefined) sums.set(currency, (sums.get(currency) ?? 0) + cost);
  const unpriced = rows.filter(({ cost }) => cost === undefined).length;
  const there = `${counted(rows.length)}, ${hours.toFixed(2)} node-hours`;
  if (sums.size === 0) return there;
  const cost = [...sums].map(([currency, sum]) => moneyText(sum, currency)).join(" and ");
  return `${there} for ${cost}${unpriced === 0 ? "" : ` (without ${counted(unpriced)} whose price is not known)`}`;
}
