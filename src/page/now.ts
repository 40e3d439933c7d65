import type { Cluster, Comparison } from "../client/answers.ts";
import { barOf } from "./bar.ts";
import { fill, h, section } from "./dom.ts";
import type { Column } from "./table.ts";
import { Table } from "./table.ts";
import type { View } from "./view.ts";
import { addressOf } from "./place.ts";
import type { Figure, Nodearray } from "./words.ts";
import { ARRAY_FIGURES, capOf, countsOf, figuresOf, moneyText, sentenceOf, wouldBeText } from "./words.ts";

const ARRAYS: readonly Column<Nodearray>[] = ARRAY_FIGURES.flatMap(([head, cell]) => {
  const column: Column<Nodearray> = { head, cell, ...(head === "Cap" ? { number: true } : {}) };
  const bar: Column<Nodearray> = { head: "Nodes", cell: arrayBar, order: ({ count }) => count };
  return head === "Mode" ? [column, bar] : [column];
});

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
      fill(tiles, ...figuresOf(state, history.rows[0], api.now).map(tileOf));
      arrays.show(state.nodearrays, { cluster, now: api.now });
      fill(worlds, comparison === undefined ? undefined : showWorlds(comparison));
      fill(causes, showCauses(state));
      fill(troubles, showTroubles(state));
    },
  };
}

const tileOf = ([name, value]: Figure): HTMLElement =>
  h(
    "div",
    "",
    h("dt", "", name),
    h("dd", "", typeof value === "number" ? value.toLocaleString("en-US") : value),
  );

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
  const table = new Table("Real and would-be nodes", WORLDS, { none: "Nothing was compared today." });
  const rows = (today?.nodearrays ?? []).flatMap(({ nodearray, real, virtual }): readonly World[] => [
    { ...real, nodearray, world: "real" },
    { ...virtual, nodearray, world: "would be" },
  ]);
  table.show(rows, { cluster, now: "", currency: today?.currency });
  return section(
    "Observed only: today, beside what there would be",
    h("p", "", wouldBeText(observing)),
    table.element,
  );
}
