import type { Cluster } from "../client/answers.ts";
import { h, section } from "./dom.ts";
import { explainInto } from "./explanation.ts";
import type { Column } from "./table.ts";
import { Table } from "./table.ts";
import type { View } from "./view.ts";
import { addressOf } from "./place.ts";
import type { Stretch } from "./words.ts";
import { between, durationText, moneyText, nextOf, pricesOf, stretchesOf } from "./words.ts";

/** A node with what follows from its array: what comes next, and its price for an hour. */
type NodeShown = Cluster["nodes"]["list"][number] & {
  readonly next: string | undefined;
  readonly price: number | undefined;
};
type HostShown = Cluster["schedulerHosts"]["list"][number];

const NODES: readonly Column<NodeShown>[] = [
  {
    head: "Node",
    cell: ({ name }, { cluster }) => h("a", { href: addressOf(cluster, "nodes", { node: name }) }, name),
  },
  {
    head: "Node array",
    cell: ({ array, countsFor }) => (array === countsFor ? array : `${array} for ${countsFor}`),
  },
  { head: "Size", cell: ({ machineType }) => machineType },
  {
    head: "Life",
    cell: (node, { now }) => strip(stretchesOf(node, now)),
    order: ({ firstSeenAt }) => firstSeenAt,
  },
  {
    head: "Age",
    number: true,
    cell: ({ firstSeenAt }, { now }) => durationText(between(firstSeenAt, now)),
    // The youngest first, as by age.
    order: ({ firstSeenAt }) => -Date.parse(firstSeenAt),
  },
  { head: "State", cell: stateText },
  { head: "Why it is up", cell: ({ why }) => why },
  { head: "Next", cell: ({ next }) => next },
  {
    head: "An hour",
    number: true,
    cell: ({ price }, { currency }) => (price === undefined ? undefined : moneyText(price, currency)),
    order: ({ price }) => price,
  },
];

const HOSTS: readonly Column<HostShown>[] = [
  { head: "Host", cell: ({ hostname }) => hostname },
  { head: "Request sets", cell: ({ requestSets }) => requestSets.join(", ") },
  { head: "Jobs", cell: ({ jobs, moreJobs }) => jobs.length + moreJobs },
  { head: "Capacity", cell: ({ why }) => why },
];

/** A row for each node: what it has done, why it is up, what comes next, what it costs. */
export function createNodes(): View {
  const explained = h("div", "");
  const nodes = new Table("Nodes", NODES, {
    none: "There are no nodes.",
    text: ({ name, array, machineType, phase, why, hostname }) =>
      [name, hostname, array, machineType, phase, why].join(" "),
  });
  const hosts = new Table("Hosts", HOSTS, { none: "None.", text: ({ hostname }) => hostname });
  const hostSection = section("Hosts that only schedulers know", hosts.element);
  return {
    element: h("div", "", explained, section("Nodes", legend(), nodes.element), hostSection),
    async refresh(api, place) {
      const [state] = await Promise.all([
        api.cluster(place.cluster, true),
        explainInto(explained, api, place),
      ]);
      const seen = { cluster: place.cluster, now: api.now, currency: state.choice.prices?.currency };
      const priceOf = pricesOf(state);
      const next = nextOf({ ...state, now: api.now });
      nodes.show(
        state.nodes.list.map((node) => ({ ...node, next: next(node), price: priceOf(node) })),
        seen,
      );
      hosts.show(state.schedulerHosts.list, seen);
      hostSection.hidden = state.schedulerHosts.count === 0;
    },
  };
}

function stateText({ phase, busyness, draining, unhealthySince }: NodeShown): string {
  return [
    phase === "ready" && busyness !== "unknown" ? `ready, ${busyness}` : phase,
    ...(draining === undefined ? [] : [`draining: ${draining}`]),
    ...(unhealthySince === undefined ? [] : ["calls itself unhealthy"]),
  ].join("; ");
}

const WORDS = {
  booting: "booting",
  ready: "ready",
  busy: "busy",
  idle: "idle",
  unknown: "ready, not known if busy",
  leaving: "leaving",
  down: "not up",
} as const satisfies Record<Stretch["what"], string>;

/** The life of a node as a bar. */
function strip(stretches: readonly Stretch[]): HTMLElement {
  const lengths = stretches.map(({ what, from, to }) => ({ what, long: between(from, to) }));
  const whole = Math.max(
    1,
    lengths.reduce((sum, { long }) => sum + long, 0),
  );
  const label = lengths.map(({ what, long }) => `${WORDS[what]} for ${durationText(long)}`).join(", then ");
  const pieces = lengths.map(({ what, long }) =>
    h("span", { class: `piece ${what}`, width: (100 * long) / whole }),
  );
  return h("div", { class: "bar-of", role: "img", label, title: label }, ...pieces);
}

function legend(): HTMLElement {
  const items = Object.entries(WORDS).map(([what, text]) => h("li", "", h("span", `piece ${what}`), text));
  return h("ul", { class: "legend", label: "What a life shows" }, ...items);
}
