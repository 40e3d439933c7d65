import type { Cluster, Comparison, History } from "../client/answers.ts";
import type { Milliseconds } from "../domain/units.ts";

/** Texts and figures made of answers, for people. */

/** A duration: "45 s", "12 min", "3 h 05 min", "2 d 4 h". */
export function durationText(milliseconds: Milliseconds): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${String(minutes % 60).padStart(2, "0")} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** From one moment to another, in milliseconds. */
export const between = (from: string, to: string): Milliseconds => Date.parse(to) - Date.parse(from);

/** How long a moment is ago, or how far ahead. */
export function fromNow(at: string, now: string): string {
  const ahead = between(now, at);
  return ahead > 0 ? `in ${durationText(ahead)}` : `${durationText(between(at, now))} ago`;
}

export const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;

/** An amount in cents where it is small, with its currency. */
export function moneyText(amount: number, currency: string | undefined): string {
  const digits = amount >= 1000 ? 0 : 2;
  return `${amount.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${currency ?? ""}`.trim();
}

/** "1,611 slots and 3 nodes". */
function missingText(missing: Cluster["waiting"]["missing"]): string {
  return missing
    .map(
      ({ amount, unit }) =>
        `${amount.toLocaleString("en-US")} ${amount === 1 ? unit.replace(/s$/, "") : unit}`,
    )
    .join(" and ");
}

/** The state of a cluster in one sentence: what hinders most comes first. */
export function sentenceOf({ cluster, health, waiting, plan, inFlight, nodes }: Cluster): string {
  if (health.starting === true) return `${cluster} is new here and has not been observed yet.`;
  if (!health.ok) return `${cluster} is not well: ${health.notes[0] ?? "no reason is known"}.`;
  const demands = plan?.demands ?? 0;
  const [first] = waiting.reasons;
  if (waiting.unmet > 0) {
    const lack = missingText(waiting.missing);
    const why = first === undefined ? "" : `: ${first.text}`;
    const others =
      waiting.reasons.length < 2 ? "" : ` (and ${plural(waiting.reasons.length - 1, "other cause")})`;
    return `${waiting.unmet} of ${plural(demands, "demand")} cannot be had in full, ${lack} missing${why}${others}.`;
  }
  if (waiting.onTheirWay > 0)
    return `Everything has a place; ${waiting.onTheirWay} of ${plural(demands, "demand")} wait for nodes that boot.`;
  if (demands > 0) return `All of ${plural(demands, "demand")} has its nodes.`;
  const left = nodes.count + inFlight.length;
  return left === 0
    ? "Nothing is asked for, and there are no nodes."
    : `Nothing is asked for; ${plural(left, "node")} left.`;
}

export type Nodearray = Cluster["nodearrays"][number];

/** Nodes of an array as people are shown them: each is in one of these. */
export function countsOf({ nodes, inFlight, notNeeded }: Nodearray) {
  const { ready = 0, coming = 0, going = 0, ...rest } = nodes;
  const others = Object.values(rest).reduce((sum, count) => sum + (count ?? 0), 0);
  const spare = Math.min(ready, notNeeded);
  return { needed: ready - spare, spare, coming: coming + inFlight, going, others };
}

function modeOf(array: Nodearray): string {
  return "managed" in array && !array.managed ? "not autoscaled" : (array.mode ?? "?");
}

/** The most nodes that the array may have, by its own limit. */
export function capOf(array: Nodearray): number | string | undefined {
  if (!("limit" in array)) return undefined;
  const { count, cores } = array.limit;
  return count ?? (cores === undefined ? undefined : `${cores} cores`);
}

/** What is shown of a node array, each with its head. */
export const ARRAY_FIGURES: readonly (readonly [
  head: string,
  cell: (array: Nodearray) => string | number | undefined,
])[] = [
  ["Node array", ({ name }) => name],
  ["Mode", modeOf],
  ["Ready", ({ nodes }) => nodes.ready ?? 0],
  ["Not needed", ({ notNeeded }) => notNeeded],
  ["On the way", (array) => countsOf(array).coming],
  ["Leaving", ({ nodes }) => nodes.going ?? 0],
  ["Other", (array) => countsOf(array).others],
  ["Cap", capOf],
];

/** A figure with its name. */
export type Figure = readonly [name: string, value: string | number];

/** What the nodes of a cluster cost in an hour. */
export type Costs = {
  readonly [Name in "pricePerHour" | "idlePricePerHour" | "unpricedNodes" | "currency"]?:
    | History["rows"][number][Name]
    | undefined;
};

/** The figures of a cluster. `row`: the newest of its history, which has what its nodes cost. */
export function figuresOf(state: Cluster, row: Costs | undefined, now: string): readonly Figure[] {
  const { inFlight, plan, waiting } = state;
  const phases = state.nodes.byPhase;
  const asked = inFlight.reduce((sum, { stillToShow }) => sum + stillToShow, 0);
  const unpriced = row?.unpricedNodes ?? 0;
  const money = (amount: number | undefined) =>
    amount === undefined ? "no prices" : moneyText(amount, row?.currency);
  return [
    ["Demands", plan?.demands ?? 0],
    ["Short of something", waiting.unmet],
    ["Nodes ready", phases["ready"] ?? 0],
    ["On the way", (phases["coming"] ?? 0) + asked],
    ["Leaving", phases["going"] ?? 0],
    ["Cost an hour", money(row?.pricePerHour)],
    ["Of that idle", money(row?.idlePricePerHour)],
    ...(unpriced === 0 ? [] : [["Without a price", plural(unpriced, "node")] as const]),
    ["Mode", modesText(state)],
    ["Observed", observedText(state, now)],
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

/** Observe mode: the nodes that there would be now. */
export function wouldBeText(observing: Comparison["observing"]): string {
  const now = observing.map(({ nodearray, virtualNodes }) => `${nodearray}: ${plural(virtualNodes, "node")}`);
  return now.length === 0 ? "Nothing is observed now." : `The autoscaler would have now: ${now.join(", ")}.`;
}

type NodeShown = Cluster["nodes"]["list"][number];

/** What a node costs in an hour. Undefined: its price is not known, or it has no VM. */
export function pricesOf({ buckets }: Pick<Cluster, "buckets">): (node: NodeShown) => number | undefined {
  const prices = new Map(
    buckets.map(({ nodearray, machineType, price }) => [`${nodearray}/${machineType}`, price]),
  );
  return ({ array, machineType, phase }) =>
    phase === "off" || phase === "deallocated" || phase === "missing"
      ? undefined
      : prices.get(`${array}/${machineType}`);
}

/** What is known of a node's life: in the state of a cluster, in the history of nodes, or in both. */
interface Life {
  readonly askedAt?: string | undefined;
  readonly firstSeenAt: string;
  readonly firstReadyAt?: string | undefined;
  readonly firstNeededAt?: string | undefined;
  readonly notNeededSince?: string | undefined;
  readonly drainingSince?: string | undefined;
  readonly downSince?: string | undefined;
  readonly leftReadyAt?: string | undefined;
  readonly goneAt?: string | undefined;
}

/** One stretch of a node's life. */
export interface Stretch {
  readonly what: "asked" | "booting" | "ready" | "needed" | "idle" | "leaving" | "down";
  readonly from: string;
  readonly to: string;
}

/** The life of a node as far as it is known, until it went, or now. */
export function stretchesOf(life: Life, now: string): readonly Stretch[] {
  const { askedAt, firstSeenAt, drainingSince, downSince, leftReadyAt, goneAt = now } = life;
  const [end = goneAt] = [drainingSince, downSince, leftReadyAt].filter((at) => at !== undefined).toSorted();
  const readyAt = life.firstReadyAt ?? end;
  const idleAt = later(life.notNeededSince ?? end, readyAt);
  // What was placed on it while it booted needs it once it is up.
  const neededAt = later(life.firstNeededAt ?? idleAt, readyAt);
  const all: readonly Stretch[] = [
    { what: "asked", from: askedAt ?? firstSeenAt, to: firstSeenAt },
    { what: "booting", from: firstSeenAt, to: readyAt },
    { what: "ready", from: readyAt, to: neededAt },
    { what: "needed", from: neededAt, to: idleAt },
    { what: "idle", from: idleAt, to: end },
    { what: drainingSince === undefined ? "down" : "leaving", from: end, to: goneAt },
  ];
  return all.filter(({ from, to }) => between(from, to) > 0);
}

/**
 * How long nodes took from the plan that asked for them until they were Ready, the fastest first: of those that were asked for at `from` or
 * later.
 */
export function bootsOf(lives: readonly Life[], from: string): readonly Milliseconds[] {
  return lives
    .flatMap(({ askedAt, firstReadyAt }) =>
      askedAt === undefined || firstReadyAt === undefined || askedAt < from
        ? []
        : [between(askedAt, firstReadyAt)],
    )
    .toSorted((a, b) => a - b);
}

/** The least of the sorted values that this share of them does not exceed. Undefined: there are none. */
export const quantileOf = (sorted: readonly number[], share: number): number | undefined =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];

const later = (a: string, b: string): string => (a < b ? b : a);

/** A moment in UTC: of today the time, else the day too. */
export const momentText = (at: string, now: string): string =>
  at.slice(0, 10) === now.slice(0, 10) ? at.slice(11, 19) : at.slice(0, 19).replace("T", " ");

/** Finds what comes next for a node, and when. Undefined: nothing is known to. */
export function nextOf({
  now,
  nodearrays,
  groups,
}: Pick<Cluster, "now" | "nodearrays" | "groups">): (node: NodeShown) => string | undefined {
  const arrays = [...nodearrays, ...groups];
  const idleTimeouts = new Map(arrays.map(({ name, idleTimeout }) => [name, idleTimeout]));
  return ({ phase, expectedReadyAt, endsAt, draining, verdict, busyness, busynessSince, countsFor }) => {
    if (draining !== undefined) return "leaves";
    if (endsAt !== undefined) return `ends ${fromNow(endsAt, now)}`;
    if (phase === "coming" && expectedReadyAt !== undefined)
      return between(now, expectedReadyAt) > 0
        ? `ready ${fromNow(expectedReadyAt, now)}`
        : "takes longer than others did";
    if (phase !== "ready" || busyness !== "idle" || verdict === "needed") return undefined;
    const idle = idleTimeouts.get(countsFor);
    if (idle === undefined) return undefined;
    const left = idle * 1000 - between(busynessSince, now);
    return left > 0 ? `may stop in ${durationText(left)}` : "may stop at any time";
  };
}

/** One node array in a stack over time. */
export interface Layer {
  readonly name: string;
  /** Its own values. */
  readonly values: readonly number[];
  /** With those of the layers below it. */
  readonly tops: readonly number[];
}

type HistoryShown = History["rows"][number];
type ArrayThen = NonNullable<HistoryShown["arrays"]>[number];

/** Layers that a stack names. The smallest ones are one layer together. */
const MOST_LAYERS = 6;
const OTHERS = "all others";

/**
 * The node arrays of rows over time, the one with most nodes lowest, so that each has the same place in all stacks. `of`: its value in a
 * row.
 */
export function layersOf(rows: readonly HistoryShown[], of: (array: ArrayThen) => number): readonly Layer[] {
  const sums = new Map<string, number>();
  for (const { arrays = [] } of rows)
    for (const array of arrays)
      if (array.name !== undefined) sums.set(array.name, (sums.get(array.name) ?? 0) + array.nodes);
  const byName = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
  const all = [...sums].toSorted(([a, sum], [b, other]) => other - sum || byName(a, b));
  const hasRest =
    all.length > MOST_LAYERS || rows.some(({ arrays }) => arrays?.some(({ name }) => name === undefined));
  const named = all.slice(0, hasRest ? MOST_LAYERS - 1 : MOST_LAYERS).map(([name]) => name);
  const tops: number[] = rows.map(() => 0);
  return [...named, ...(hasRest ? [undefined] : [])].map((layer) => {
    const isOf = ({ name }: ArrayThen): boolean =>
      layer === undefined ? name === undefined || !named.includes(name) : name === layer;
    const values = rows.map(({ arrays = [] }) =>
      arrays.filter(isOf).reduce((sum, array) => sum + of(array), 0),
    );
    values.forEach((value, at) => (tops[at] = (tops[at] ?? 0) + value));
    return { name: layer ?? OTHERS, values, tops: [...tops] };
  });
}
