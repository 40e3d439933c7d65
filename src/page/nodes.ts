import type { Cluster, NodeHistory } from "../client/answers.ts";
import { MOST_LIVES } from "./api.ts";
import { fill, h, section } from "./dom.ts";
import { explainInto } from "./explanation.ts";
import type { Column } from "./table.ts";
import { Table } from "./table.ts";
import type { View } from "./view.ts";
import { addressOf } from "./place.ts";
import type { Stretch } from "./words.ts";
import { between, durationText, momentText, moneyText, nextOf, pricesOf, stretchesOf } from "./words.ts";

type LifeShown = NodeHistory["rows"][number];
/** A node with its history, if that was read, and what follows from its array: what comes next, and its price for an hour. */
type NodeShown = Cluster["nodes"]["list"][number] & {
  readonly life: LifeShown | undefined;
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
    cell: ({ life, ...node }, { now }) => strip(stretchesOf({ ...life, ...node }, now), now),
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

const GONE: readonly Column<LifeShown>[] = [
  {
    head: "Node",
    // Another node may have its name by now.
    cell: ({ name, nodeId }, { cluster }) =>
      h("a", { href: addressOf(cluster, "nodes", { node: nodeId }) }, name),
  },
  {
    head: "Node array",
    cell: ({ array, countsFor }) => (array === countsFor ? array : `${array} for ${countsFor}`),
  },
  { head: "Size", cell: ({ machineType }) => machineType },
  {
    head: "Life",
    cell: (life, { now }) => strip(stretchesOf(life, now), now),
    order: ({ firstSeenAt }) => firstSeenAt,
  },
  {
    head: "Age",
    number: true,
    cell: ({ firstSeenAt, goneAt = firstSeenAt }) => durationText(between(firstSeenAt, goneAt)),
    order: ({ hours }) => hours,
  },
  {
    head: "Gone",
    cell: ({ goneAt }, { now }) => (goneAt === undefined ? undefined : momentText(goneAt, now)),
    order: ({ goneAt }) => goneAt,
  },
  { head: "Why it went", cell: ({ why }) => why },
  {
    head: "Cost",
    number: true,
    cell: ({ cost, currency }) => (cost === undefined ? undefined : moneyText(cost, currency)),
    order: ({ cost }) => cost,
  },
];

const HOSTS: readonly Column<HostShown>[] = [
  { head: "Host", cell: ({ hostname }) => hostname },
  { head: "Request sets", cell: ({ requestSets }) => requestSets.join(", ") },
  { head: "Jobs", cell: ({ jobs, moreJobs }) => jobs.length + moreJobs },
  { head: "Capacity", cell: ({ why }) => why },
];

/** A row for each node: what it has done, why it is up, what comes next, what it costs; and those that have gone lately. */
export function createNodes(): View {
  const [explained, times, span] = [h("div", ""), h("div", ""), h("p", "quiet")];
  const { nodes, gone, hosts } = createTables();
  const hostSection = section("Hosts that only schedulers know", hosts.element);
  return {
    element: h(
      "div",
      "",
      explained,
      times,
      section("Nodes", legend(), nodes.element),
      section("Nodes that have gone", span, gone.element),
      hostSection,
    ),
    async refresh(api, place) {
      const { cluster, query } = place;
      const since = hourBefore(api.now);
      const [state, lives] = await Promise.all([
        api.cluster(cluster, true),
        api.nodeHistory(cluster, since),
        explainInto(explained, api, place),
      ]);
      const seen = { cluster, now: api.now, currency: state.choice.prices?.currency };
      nodes.show(nodesOf(state, lives.rows, api.now), seen);
      gone.show(
        lives.rows.filter(({ goneAt }) => goneAt !== undefined),
        seen,
      );
      const most =
        lives.next === undefined ? "" : ` Only ${MOST_LIVES.toLocaleString("en-US")} lives are read.`;
      fill(span, `Since ${momentText(since, api.now)} UTC.${most}`);
      const asked = query.get("node");
      const life = lives.rows.find(({ name, nodeId }) => nodeId === asked || name === asked);
      fill(times, life === undefined ? undefined : timesOf(life, api.now));
      hosts.show(state.schedulerHosts.list, seen);
      hostSection.hidden = state.schedulerHosts.count === 0;
    },
  };
}

function createTables() {
  const nodes = new Table("Nodes", NODES, {
    none: "There are no nodes.",
    text: ({ name, array, machineType, phase, why, hostname }) =>
      [name, hostname, array, machineType, phase, why].join(" "),
  });
  const gone = new Table("Nodes that have gone", GONE, {
    none: "None has gone.",
    text: ({ name, array, machineType, why, hostname }) =>
      [name, hostname, array, machineType, why].join(" "),
  });
  const hosts = new Table("Hosts", HOSTS, { none: "None.", text: ({ hostname }) => hostname });
  return { nodes, gone, hosts };
}

const HOUR_MS = 3_600_000;

/** The beginning of the hour before this one: a moment that stays for a while, so that what has not changed is not sent again. */
function hourBefore(now: string): string {
  const hour = Math.floor(Date.parse(now) / HOUR_MS);
  return new Date((hour - 1) * HOUR_MS).toISOString();
}

function nodesOf(state: Cluster, lives: readonly LifeShown[], now: string): readonly NodeShown[] {
  const priceOf = pricesOf(state);
  const next = nextOf({ ...state, now });
  const byId = new Map(lives.map((life) => [life.nodeId, life]));
  return state.nodes.list.map((node) => ({
    ...node,
    life: byId.get(node.nodeId),
    next: next(node),
    price: priceOf(node),
  }));
}

/** When the life of a node turned: for those who cannot point at its bar. */
function timesOf(life: LifeShown, now: string): HTMLElement {
  const items = stretchesOf(life, now).map((stretch) => h("li", "", stretchText(stretch, now)));
  return section(`The life of ${life.name}`, h("ul", "", ...items));
}

function stateText({ phase, busyness, draining, unhealthySince }: NodeShown): string {
  return [
    phase === "ready" && busyness !== "unknown" ? `ready, ${busyness}` : phase,
    ...(draining === undefined ? [] : [`draining: ${draining}`]),
    ...(unhealthySince === undefined ? [] : ["calls itself unhealthy"]),
  ].join("; ");
}

const WORDS = {
  asked: "asked for",
  booting: "booting",
  ready: "ready",
  needed: "needed",
  idle: "idle",
  leaving: "leaving",
  down: "not up",
} as const satisfies Record<Stretch["what"], string>;

const stretchText = ({ what, from, to }: Stretch, now: string): string =>
  `${WORDS[what]} from ${momentText(from, now)} for ${durationText(between(from, to))}`;

/** The life of a node as a bar. */
function strip(stretches: readonly Stretch[], now: string): HTMLElement {
  const whole = Math.max(
    1,
    stretches.reduce((sum, { from, to }) => sum + between(from, to), 0),
  );
  const label = stretches.map((stretch) => stretchText(stretch, now)).join(", then ");
  const pieces = stretches.map(({ what, from, to }) =>
    h("span", { class: `piece ${what}`, width: (100 * between(from, to)) / whole }),
  );
  return h("div", { class: "bar-of", role: "img", label, title: label }, ...pieces);
}

function legend(): HTMLElement {
  const items = Object.entries(WORDS).map(([what, text]) => h("li", "", h("span", `piece ${what}`), text));
  return h("ul", { class: "legend", label: "What a life shows" }, ...items);
}
