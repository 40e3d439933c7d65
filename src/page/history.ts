import type { Cluster, History, NodeHistory } from "../client/answers.ts";
import { fill, h, section } from "./dom.ts";
import type { Line } from "./plot.ts";
import { drawPlot } from "./plot.ts";
import type { Column, Seen } from "./table.ts";
import { Table } from "./table.ts";
import type { View } from "./view.ts";
import { addressOf } from "./place.ts";
import type { Layer } from "./words.ts";
import { layersOf } from "./words.ts";
import { between, bootsOf, durationText, moneyText, plural, quantileOf } from "./words.ts";

type Row = History["rows"][number];

const HOUR_MS = 3_600_000;
/** Lengths of time in hours. */
const USUAL = ["6h", 6] as const;
const SPANS = [["1h", 1], USUAL, ["1d", 24], ["7d", 168], ["30d", 720]] as const;
/** About two for each pixel that a line has on a phone. */
const POINTS = 600;

type DecisionShown = History["planCounts"][number] & {
  readonly before: History["planCounts"][number] | undefined;
};

const DECISIONS: readonly Column<DecisionShown>[] = [
  { head: "Plan", cell: ({ plan }) => plan },
  { head: "At", cell: ({ at }) => timeText(at) },
  { head: "Created", cell: ({ created }) => created },
  { head: "Started", cell: ({ started }) => started },
  { head: "Stopped", cell: ({ terminated }) => terminated },
  { head: "Nodes", number: true, cell: ({ nodes, before }) => change(before?.nodes, nodes) },
  { head: "Demands", number: true, cell: ({ demands, before }) => change(before?.demands, demands) },
  { head: "Short", number: true, cell: ({ unmet, before }) => change(before?.unmet, unmet) },
];

/** What has happened: nodes, money and unmet demand over time, and each plan that changed something. */
export function createHistory(): View {
  const spans = h("nav", { label: "Length of time" });
  const sums = h("dl", "tiles");
  const figures = createFigures();
  const decisions = new Table("Plans that changed something", DECISIONS, {
    none: "No plan of this time is kept.",
  });
  let read: { readonly of: string; readonly at: string } | undefined;
  return {
    element: h(
      "div",
      "",
      spans,
      sums,
      figures.element,
      section("Plans that changed something", decisions.element),
    ),
    async refresh(api, { cluster, query }) {
      const [of, hours] = SPANS.find(([span]) => span === query.get("span")) ?? USUAL;
      // Before that there would be nothing new to see.
      if (read?.of === of && between(read.at, api.now) < (hours * HOUR_MS) / POINTS) return;
      const from = new Date(Date.parse(api.now) - hours * HOUR_MS).toISOString();
      const [state, answer, lives] = await Promise.all([
        api.cluster(cluster),
        api.history(cluster, { from, points: POINTS }),
        api.nodeHistory(cluster, from),
      ]);
      read = { of, at: api.now };
      fill(spans, ...SPANS.map(([span]) => spanLink(cluster, span, span === of)));
      const rows = answer.rows.toReversed();
      const seen = { cluster, now: api.now };
      fill(sums, ...sumsOf(rows, api.now), ...bootTiles(lives, of, from));
      figures.show(rows, capOf(state), seen);
      const counts = answer.planCounts;
      decisions.show(counts.map((one, at) => ({ ...one, before: counts[at - 1] })).toReversed(), seen);
    },
  };
}

/** Nodes, money and unmet demand over time. */
function createFigures() {
  const nodes = createFigure("Nodes", NODES);
  const arrays = createFigure("Nodes by node array", ARRAYS, "No node array had nodes.");
  const money = createFigure("Cost of nodes in an hour", MONEY);
  const costs = createFigure("Cost by node array in an hour", ARRAYS);
  const unmet = createFigure("Demands short of something", UNMET);
  return {
    element: h("div", "", ...[nodes, arrays, money, costs, unmet].map(({ element }) => element)),
    show(rows: readonly Row[], cap: number | undefined, seen: Seen) {
      const byArray = rows.flatMap(arrayRows);
      nodes.show(rows, rows, nodeLines(rows, cap), seen);
      arrays.show(rows, byArray, stack(layersOf(rows, (array) => array.nodes)), seen);
      money.show(rows, rows, moneyLines(rows), seen);
      const isPriced = byArray.some(({ pricePerHour }) => pricePerHour !== undefined);
      costs.show(
        rows,
        byArray,
        isPriced ? stack(layersOf(rows, (array) => array.pricePerHour ?? 0)) : [],
        seen,
      );
      const short: Line = { name: "short", colour: "--down", values: rows.map((row) => row.unmet) };
      unmet.show(rows, rows, [short], seen);
    },
  };
}

const UNPRICED = "No prices are configured.";

/** A node array at one moment. */
type ArrayRow = NonNullable<Row["arrays"]>[number] & Pick<Row, "at" | "currency">;

/** The largest one last, as the newest row is. */
const arrayRows = ({ at, currency, arrays = [] }: Row): readonly ArrayRow[] =>
  arrays.map((array) => ({ ...array, at, ...(currency === undefined ? {} : { currency }) })).toReversed();

const LAYERS = ["--busy", "--booting", "--idle", "--ready", "--down", "--leaving"] as const;
const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 3], [12, 4], [8, 3, 2, 3], [1, 4]];

/** Lines on each other, the highest first: each fills the room down to the next one. */
const stack = (layers: readonly Layer[]): readonly Line[] =>
  layers
    .map(({ name, values, tops }, at): Line => {
      const [colour = "--leaving", dash = []] = [LAYERS[at], DASHES[at]];
      return { name, colour, dash, values: tops, adds: values };
    })
    .toReversed();

/** A plot with the table of its figures. */
function createFigure<Shown extends { readonly at: string }>(
  title: string,
  columns: readonly Column<Shown>[],
  none = UNPRICED,
) {
  const plot = h("div", "plot");
  new ResizeObserver(() => drawn?.setSize({ width: plot.clientWidth, height: drawn.height })).observe(plot);
  const times: Column<Shown> = { head: "At", cell: ({ at }) => timeText(at) };
  const table = new Table(title, [times, ...columns], { none: "Nothing is known of this time." });
  const details = h("details", "", h("summary", "", "As a table"), table.element);
  let drawn: ReturnType<typeof drawPlot> | undefined;
  return {
    element: section(title, plot, details),
    /** `rows`: the moments of the lines. */
    show(rows: readonly Row[], shown: readonly Shown[], lines: readonly Line[], seen: Seen) {
      const seconds = rows.map(({ at }) => Date.parse(at) / 1000);
      table.show(shown.toReversed(), seen);
      if (lines.length === 0) fill(plot, h("p", "quiet", none));
      else if (rows.length < 2) fill(plot, h("p", "quiet", "There is not enough to draw yet."));
      else
        drawn = drawPlot(drawn, plot, `${title} over time. The table below has the figures.`, seconds, lines);
    },
  };
}

const ready = ({ nodes }: Row): number => nodes["ready"] ?? 0;
const used = (row: Row): number => Math.max(0, ready(row) - (row.idle ?? 0));
const coming = ({ nodes, inFlight }: Row): number => (nodes["coming"] ?? 0) + inFlight;

const NODES: readonly Column<Row>[] = [
  { head: "Used", cell: used },
  { head: "Ready", cell: ready },
  { head: "On the way", cell: coming },
  { head: "Idle", cell: ({ idle }) => idle },
];
const MONEY: readonly Column<Row>[] = [
  {
    head: "All",
    cell: ({ pricePerHour: price, currency }) =>
      price === undefined ? undefined : moneyText(price, currency),
  },
  {
    head: "Idle",
    cell: ({ idlePricePerHour: price, currency }) =>
      price === undefined ? undefined : moneyText(price, currency),
  },
  { head: "Nodes without a price", cell: ({ unpricedNodes }) => unpricedNodes ?? 0 },
];
const ARRAYS: readonly Column<ArrayRow>[] = [
  { head: "Node array", cell: ({ name }) => name ?? "all others" },
  { head: "Nodes", cell: ({ nodes }) => nodes },
  { head: "Idle", cell: ({ idle }) => idle },
  {
    head: "Cost in an hour",
    cell: ({ pricePerHour: price, currency }) =>
      price === undefined ? undefined : moneyText(price, currency),
  },
  {
    head: "Of that idle",
    cell: ({ idlePricePerHour: price, currency }) =>
      price === undefined ? undefined : moneyText(price, currency),
  },
];
const UNMET: readonly Column<Row>[] = [
  { head: "Short", cell: ({ unmet }) => unmet },
  { head: "Trouble", cell: ({ trouble }) => trouble },
];

function nodeLines(rows: readonly Row[], cap: number | undefined): readonly Line[] {
  const lines: readonly Line[] = [
    { name: "used", colour: "--busy", filled: true, values: rows.map(used) },
    { name: "ready", colour: "--ready", dash: [6, 3], values: rows.map(ready) },
    {
      name: "ready and on the way",
      colour: "--booting",
      dash: [2, 3],
      values: rows.map((row) => ready(row) + coming(row)),
    },
  ];
  return cap === undefined
    ? lines
    : [
        ...lines,
        { name: `cap (${cap})`, colour: "--text", dash: [12, 4], aside: true, values: rows.map(() => cap) },
      ];
}

function moneyLines(rows: readonly Row[]): readonly Line[] {
  if (rows.every(({ pricePerHour }) => pricePerHour === undefined)) return [];
  return [
    { name: "all nodes", colour: "--busy", values: rows.map(({ pricePerHour }) => pricePerHour ?? null) },
    {
      name: "idle nodes",
      colour: "--idle",
      dash: [6, 3],
      filled: true,
      values: rows.map(({ idlePricePerHour }) => idlePricePerHour ?? null),
    },
  ];
}

/** The most nodes that there may be: the cluster's own limit, as it is now. */
function capOf({ buckets }: Cluster): number | undefined {
  return buckets
    .flatMap(({ limits }) => limits)
    .find(({ kind, unit }) => kind === "cluster" && unit === "nodes")?.max;
}

/** Figures over the whole time: each row counts until the next one. */
function sumsOf(rows: readonly Row[], now: string): readonly HTMLElement[] {
  const hours = rows.map(({ at }, index) => Math.max(0, between(at, rows[index + 1]?.at ?? now)) / HOUR_MS);
  const over = (of: (row: Row) => number | undefined) =>
    rows.reduce((sum, row, index) => sum + (of(row) ?? 0) * (hours[index] ?? 0), 0);
  const currency = rows.find((row) => row.currency !== undefined)?.currency;
  const cost = (of: (row: Row) => number | undefined) =>
    currency === undefined ? "no prices are configured" : moneyText(over(of), currency);
  return [
    tile("Node-hours ready", over(ready).toFixed(1)),
    tile("Of that idle", over(({ idle }) => idle).toFixed(1)),
    tile(
      "Cost",
      cost(({ pricePerHour }) => pricePerHour),
    ),
    tile(
      "Of that idle",
      cost(({ idlePricePerHour }) => idlePricePerHour),
    ),
  ];
}

/** From the plan that asked for a node until it was Ready: of the nodes that were asked for in this time. */
function bootTiles({ rows, next }: NodeHistory, span: string, from: string): readonly HTMLElement[] {
  const boots = bootsOf(rows, from);
  const text = (share: number) => {
    const long = quantileOf(boots, share);
    return long === undefined ? "none came up" : durationText(long);
  };
  const of = `${plural(boots.length, "node")} in ${span}${next === undefined ? "" : ", of the newest"}`;
  return [tile(`Asked to ready, p50 (${of})`, text(0.5)), tile(`Asked to ready, p95 (${of})`, text(0.95))];
}

const tile = (name: string, value: string): HTMLElement =>
  h("div", "", h("dt", "", name), h("dd", "", value));

function spanLink(cluster: string, span: string, isHere: boolean): HTMLElement {
  const link = h("a", { href: addressOf(cluster, "history", { span }) }, span);
  if (isHere) link.setAttribute("aria-current", "true");
  return link;
}

const timeText = (at: string): string => at.slice(0, 19).replace("T", " ");

const change = (before: number | undefined, after: number): string | number =>
  before === undefined || before === after ? after : `${before} → ${after}`;
