import { showText } from "../client/readable.ts";

type Cell = string | number | boolean | undefined;

/** A column: its head, and the cell of a row. */
export type Column<Row> = readonly [head: string, cell: (row: Row) => Cell];

/**
 * Rows as text in columns, with heads. Columns of numbers are aligned to the right. An undefined or empty cell is shown as "-". Columns in
 * which all cells are empty are left out. Without rows, the text is `none`. No line is longer than `width`: longer lines are cut.
 */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  none: string,
  width = Infinity,
): string {
  if (rows.length === 0) return none;
  const shown = columns
    .map(([head, cell]) => ({ head, cells: rows.map(cell) }))
    .filter(({ cells }) => cells.some((value) => value !== undefined && value !== ""))
    .map(({ head, cells }) => ({
      head,
      right: cells.every((value) => value === undefined || typeof value === "number"),
      texts: cells.map(cellText),
    }))
    .map((column) => ({ ...column, width: Math.max(...[column.head, ...column.texts].map(lengthOf)) }));
  const line = (textOf: (column: (typeof shown)[number]) => string) => {
    const text = shown
      .map((column) =>
        column.right ? textOf(column).padStart(column.width) : textOf(column).padEnd(column.width),
      )
      .join("  ")
      .trimEnd();
    return text.length > width ? `${text.slice(0, Math.max(0, width - 1))}…` : text;
  };
  return [line(({ head }) => head), ...rows.map((_, row) => line(({ texts }) => texts[row] ?? "-"))].join(
    "\n",
  );
}

function cellText(value: Cell): string {
  if (value === undefined || value === "") return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  // As the terminal gets it, so that the width is right; and a line end would end the row.
  return showText(String(value));
}

function lengthOf(text: string): number {
  return text.length;
}

/** Orders texts for users: job-2 comes before job-10. Undefined comes first. */
export function compareNaturally(a: Cell, b: Cell): number {
  if (a === undefined || b === undefined) return Number(b === undefined) - Number(a === undefined) || 0;
  return NATURAL.compare(String(a), String(b));
}

const NATURAL = new Intl.Collator("en", { numeric: true });

/** Counts by name: "8 ready, 3 coming". `none` if all counts are 0. */
export function countsText(counts: Readonly<Record<string, number | undefined>>, none: string): string {
  const parts = Object.entries(counts)
    .filter(([, count = 0]) => count > 0)
    .map(([name, count]) => `${count} ${name}`);
  return parts.length === 0 ? none : parts.join(", ");
}

/** Maximum number of names in one sentence. */
const NAMED = 5;

/** The first few names, and the number of others: "a, b, c, d, e and 3 more". */
export function someOf(names: readonly string[]): string {
  const more = names.length - NAMED;
  return more > 0 ? `${names.slice(0, NAMED).join(", ")} and ${more} more` : names.join(", ");
}

/** A terminal's usual width for text. */
export const COLUMNS = 100;

/** Breaks a text at spaces into lines of at most `width` characters. A longer word is not broken. */
export function fold(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    const longer = line === undefined || line === "" ? word : `${line} ${word}`;
    if (line === undefined) lines.push(word);
    else if (longer.length <= width || line === "") lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** The time between two moments: "45s", "12m", "3h05m", "2d4h". Undefined if one of them is unknown. */
export function ageBetween(from: string | undefined, to: string | undefined): string | undefined {
  if (from === undefined || to === undefined) return undefined;
  const milliseconds = Date.parse(to) - Date.parse(from);
  return Number.isNaN(milliseconds) ? undefined : durationText(milliseconds / 1000);
}

/** A duration in seconds as text: "45s", "12m", "3h05m", "2d4h". */
export function durationText(long: number): string {
  const seconds = Math.max(0, Math.floor(long));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h${String(minutes % 60).padStart(2, "0")}m`;
  return `${Math.floor(hours / 24)}d${hours % 24}h`;
}

/** "3.9 USD": at most two decimals, and always with a known currency. */
export function moneyText(amount: number, currency: string | undefined): string {
  const text = Number.isInteger(amount) ? String(amount) : amount.toFixed(2);
  return currency === undefined ? text : `${text} ${currency}`;
}
