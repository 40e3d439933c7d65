import type { Cluster, Comparison, History } from "../client/answers.ts";
import { barOf } from "./bar.ts";
import { fill, h, section } from "./dom.ts";
import type { Column } from "./table.ts";
import { Table } from "./table.ts";
import type { View } from "./view.ts";
import { addressOf } from "./place.ts";
import { fromNow, moneyText, plural, sentenceOf } from "./words.ts";

type Nodearray = Cluster["nodearrays"][number];

/** Nodes of an array as the page counts them: each is in one of these. */
function countsOf({ nodes, inFlight, notNeeded }: Nodearray) {
  const { ready = 0, coming = 0, going = 0, ...rest } = nodes;
  const others = Object.values(rest).reduce((sum, count) => sum + (count ?? 0), 0);
  const spare = Math.min(ready, notNeeded);
  return { needed: ready - spare, spare, coming: coming + inFlight, going, others };
}

const ARRAYS: readonly Column<Nodearray>[] = [
  { head: "Node array", cell: ({ name }) => name },
  { head: "Mode", cell: modeOf },
  { head: "Nodes", cell: arrayBar, order: ({ count }) => count },
  { head: "Ready", cell: ({ nodes }) => nodes.ready ?? 0 },
  { head: "Not needed", cell: ({ notNeeded }) => notNeeded },
  { head: "On the way", cell: (array) => countsOf(array).coming },
  { head: "Leaving", cell: ({ nodes }) => nodes.going ?? 0 },
  { head: "Other", cell: (array) => countsOf(array).others },
  { head: "Cap", number: true, cell: capOf },
];

/** One sentence, what costs, and the node arrays. */
export function createNow(): View {
  const sentence = h("p", { class: "sentence", role: "status" });
  const tiles = h("dl", "tiles");
  const arrays = new Table("Node arrays", ARRAYS, { none: "None are known: no observation yet." });
  const [worlds, causes, troubles] = [h("div", ""), h("div", ""), h("div", "")];
  return {
    element: h("div", "", sentence, tiles, section("Node arrays", arrays.element), worlds, causes, troubles),
    async refresh(api, { cluster }) {
      const [state, history] = await Promise.all([api.cluster(cluster), api.history(cluster, { limit: 1 })]);
      const comparison =
        state.observing === undefined ? undefined : await api.comparison(cluster, api.now.slice(0, 10));
      fill(sentence, sentenceOf(state));
      fill(tiles, ...tilesOf(state, history, api.now));
      arrays.show(state.nodearrays, { cluster, now: api.now });
      fill(worlds, comparison === undefined ? undefined : showWorlds(comparison));
      fill(causes, showCauses(state));
      fill(troubles, showTroubles(state));
    },
  };
}

function tilesOf(state: Cluster, { rows: [row] }: History, now: string) {
  const { inFlight, plan, waiting } = state;
  const phases = state.nodes.byPhase;
  const asked = inFlight.reduce((sum, { stillToShow }) => sum + stillToShow, 0);
  const unpriced = row?.unpricedNodes ?? 0;
  const money = (amount: number | undefined) =>
    amount === undefined ? "no prices" : moneyText(amount, row?.currency);
  const tile = (name: string, value: string | number) =>
    h(
      "div",
      "",
      h("dt", "", name),
      h("dd", "", typeof value === "number" ? value.toLocaleString("en-US") : value),
    );
  return [
    tile("Demands", plan?.demands ?? 0),
    tile("Short of something", waiting.unmet),
    tile("Nodes ready", phases["ready"] ?? 0),
    tile("On the way", (phases["coming"] ?? 0) + asked),
    tile("Leaving", phases["going"] ?? 0),
    tile("Cost an hour", money(row?.pricePerHour)),
    tile("Of that idle", money(row?.idlePricePerHour)),
    ...(unpriced === 0 ? [] : [tile("Without a price", plural(unpriced, "node"))]),
    tile("Mode", modesText(state)),
    tile("Observed", observedText(state, now)),
  ];
}

/** "act", "observe", or both: of the node arrays that are autoscaled. */
function modesText({ nodearrays }: Cluster): string {
  const modes = nodearrays.filter((array) => !("managed" in array) || array.managed).map(modeOf);
  return [...new Set(modes)].join(" and ") || "none";
}

/** The age was true when the answer was made; the moment stays true. */
function observedText({ health: { lastLookAgeSeconds: age }, now: then }: Cluster, now: string): string {
  if (age === undefined) return "not yet";
  return fromNow(new Date(Date.parse(then) - age * 1000).toISOString(), now);
}

function modeOf(array: Nodearray): string {
  return "managed" in array && !array.managed ? "not autoscaled" : (array.mode ?? "?");
}

/** The most nodes that the array may have, by its own limit. */
function capOf(array: Nodearray): number | string | undefined {
  if (!("limit" in array)) return undefined;
  const { count, cores } = array.limit;
  return count ?? (cores === undefined ? undefined : `${cores} cores`);
}

function arrayBar(array: Nodearray): HTMLElement {
  const { needed, spare, coming, going, others } = countsOf(array);
  const cap = capOf(array);
  const parts = { busy: needed, idle: spare, booting: coming, leaving: going, down: others };
  const names = {
    busy: "needed",
    idle: "not needed",
    booting: "on the way",
    leaving: "leaving",
    down: "other",
  };
  return barOf(parts, names, typeof cap === "number" ? cap : undefined);
}

function showCauses({ cluster, waiting: { reasons, remedies } }: Cluster): HTMLElement | undefined {
  if (reasons.length === 0) return undefined;
  const item = ({ text, demands, first }: (typeof reasons)[number]) =>
    h(
      "li",
      "",
      `${text} (${demands === 1 ? "" : `${demands} demands, the first `}`,
      h(
        "a",
        { href: addressOf(cluster, "demand", { set: first.requestSet, job: first.id }) },
        `${first.requestSet}/${first.id}`,
      ),
      ")",
    );
  return section(
    "Why demand waits",
    h("ul", "", ...reasons.map(item)),
    ...(remedies.length === 0 ? [] : [h("h3", "", "What would help"), h("ul", "", ...remedies.map(item))]),
  );
}

function showTroubles({ troubles }: Cluster): HTMLElement {
  const items = troubles.map(({ text, kind }) => h("li", "", `${text} `, h("span", "quiet", kind)));
  return section("Troubles", items.length === 0 ? h("p", "quiet", "None.") : h("ul", "", ...items));
}

type World = Comparison["days"][number]["nodearrays"][number]["real"] & {
  readonly nodearray: string;
  readonly world: "real" | "would be";
};

const WORLDS: readonly Column<World>[] = [
  { head: "Node array", cell: ({ nodearray }) => nodearray },
  { head: "World", cell: ({ world }) => world },
  { head: "Most nodes", cell: ({ peakNodes }) => peakNodes },
  { head: "Node-hours", cell: ({ nodeHours }) => nodeHours },
  { head: "Of that idle", cell: ({ idleNodeHours }) => idleNodeHours },
  { head: "Boots", cell: ({ boots }) => boots },
  {
    head: "Cost",
    number: true,
    cell: ({ cost }, { currency }) => (cost === undefined ? undefined : moneyText(cost, currency)),
    order: ({ cost }) => cost,
  },
];

/** Observe mode: what was today, beside what would have been. */
function showWorlds({ cluster, observing, days: [today] }: Comparison): HTMLElement {
  const now = observing.map(({ nodearray, virtualNodes }) => `${nodearray}: ${plural(virtualNodes, "node")}`);
  const table = new Table("Real and would-be nodes", WORLDS, { none: "Nothing was compared today." });
  const rows = (today?.nodearrays ?? []).flatMap(({ nodearray, real, virtual }): readonly World[] => [
    { ...real, nodearray, world: "real" },
    { ...virtual, nodearray, world: "would be" },
  ]);
  table.show(rows, { cluster, now: "", currency: today?.currency });
  return section(
    "Observed only: today, beside what there would be",
    h(
      "p",
      "",
      now.length === 0 ? "Nothing is observed now." : `The autoscaler would have now: ${now.join(", ")}.`,
    ),
    table.element,
  );
}
