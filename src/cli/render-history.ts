import type { HistoryAnswer, HistoryRowAnswer } from "../client/plans.ts";
import { readHistory } from "../client/plans.ts";
import { countsText, renderTable } from "./table.ts";
import type { Telling } from "./tell.ts";
import { UNREADABLE } from "./tell.ts";

/** Numbers of plans below the history. */
const KEPT_SHOWN = 20;

export const tellHistory: Telling = (body) => {
  const answer = readHistory(body);
  return { text: answer === undefined ? UNREADABLE : renderHistory(answer) };
};

function renderHistory({ rows, keptPlans }: HistoryAnswer): string {
  const table = renderTable(
    [
      ["AT", ({ at }) => at],
      ["PLAN", ({ plan }) => plan],
      ["NODES", ({ nodes }) => countsText(nodes, "none")],
      ["IDLE", ({ idle }) => idle],
      ["COST/H", ({ pricePerHour, currency }) => moneyText(pricePerHour, currency)],
      ["IN FLIGHT", ({ inFlight }) => inFlight],
      ["SETS", ({ liveSets }) => liveSets],
      ["UNMET", ({ unmet }) => unmet],
      ["CREATED", ({ created }) => created],
      ["STOPPED", ({ terminated }) => terminated],
      ["SECONDS/CALL", ({ callSeconds }) => secondsText(callSeconds)],
      ["MODE", ({ mode }) => mode],
      ["WITHHELD", ({ withheld }) => (withheld === undefined ? undefined : countsText(withheld, "nothing"))],
    ],
    rows,
    "no history in that time",
  );
  const kept = keptPlans.slice(0, KEPT_SHOWN).join(", ");
  return [
    table,
    ...sumText(rows),
    ...(kept === "" ? [] : [`plans that explain --plan can show: ${kept}`]),
  ].join("\n");
}

/** "3.9 USD": at most two decimals, and always with a known currency. */
function moneyText(amount: number | undefined, currency: string | undefined): string | undefined {
  if (amount === undefined) return undefined;
  const text = Number.isInteger(amount) ? String(amount) : amount.toFixed(2);
  return currency === undefined ? text : `${text} ${currency}`;
}

/** "status 22, create 24". */
function secondsText(seconds: HistoryRowAnswer["callSeconds"]): string | undefined {
  if (seconds === undefined) return undefined;
  return Object.entries(seconds)
    .map(([endpoint, each]) => `${endpoint} ${each}`)
    .join(", ");
}

/** A row is valid until the next one, if that comes soon: the timer writes one a minute while it runs. */
const LONGEST_HOLD_HOURS = 0.25;

/** The cost of the nodes in the period shown, and their idle time. */
function sumText(rows: readonly HistoryRowAnswer[]): readonly string[] {
  let [idleHours, cost, idleCost, unpriced] = [0, 0, 0, 0];
  let currency: string | undefined;
  // Newest first: each row's time ends with the row before it in the list.
  for (const [index, row] of rows.entries()) {
    const until = rows[index - 1]?.at;
    const hours = (Date.parse(until ?? "") - Date.parse(row.at ?? "")) / 3_600_000;
    if (!(hours > 0 && hours <= LONGEST_HOLD_HOURS)) continue;
    idleHours += (row.idle ?? 0) * hours;
    cost += (row.pricePerHour ?? 0) * hours;
    idleCost += (row.idlePricePerHour ?? 0) * hours;
    unpriced = Math.max(unpriced, row.unpricedNodes ?? 0);
    currency ??= row.currency;
  }
  if (rows.every(({ idle }) => idle === undefined)) return [];
  const idle = `in the time shown: ${idleHours.toFixed(1)} idle node-hours`;
  if (currency === undefined) return [idle];
  const missing = unpriced === 0 ? "" : ` (up to ${unpriced} nodes have no known price)`;
  return [
    `${idle} for ${moneyText(idleCost, currency) ?? ""}, all nodes ${moneyText(cost, currency) ?? ""}${missing}`,
  ];
}
