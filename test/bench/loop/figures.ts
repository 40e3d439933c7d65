import type { Spread } from "./spread.ts";

/** What a load came to, by the name of the figure, in the order in which it is printed. Undefined: it could not be measured. */
export type Figures = Readonly<Record<string, number | string | Spread | undefined>>;

/** A table for people: a figure in each row, a spread in five columns. */
export function tableOf(figures: Figures): string {
  const entries = Object.entries(figures);
  const width = Math.max(...entries.map(([name]) => name.length));
  const hasSpread = entries.some(([, value]) => typeof value === "object");
  const heading = ["", "count", "p50", "p90", "p99", "max"];
  const rows = entries.map(([name, value]) => {
    const cells =
      typeof value === "object"
        ? [value.count, value.p50, value.p90, value.p99, value.max].map(textOf)
        : [textOf(value)];
    return [name.padEnd(width), ...cells.map((cell) => cell.padStart(10))].join(" ");
  });
  const top = heading.map((cell, column) => (column === 0 ? cell.padEnd(width) : cell.padStart(10)));
  return [...(hasSpread ? [top.join(" ")] : []), ...rows].join("\n");
}

function textOf(value: number | string | undefined): string {
  if (value === undefined) return "not known";
  return typeof value === "number" ? String(Math.round(value * 100) / 100) : value;
}
