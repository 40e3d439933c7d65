import type { ClustersAnswer, PlanAnswer, StateAnswer, BucketAnswer } from "../client/readers.ts";
import type { Column } from "./table.ts";
import { durationText, COLUMNS, fold, countsText, renderTable, someOf } from "./table.ts";
import type { Seconds } from "../domain/units.ts";

// Long: one page of `status`, section by section, in the order in which it is printed.

/** All clusters, a line each. */
export function renderClusters({ clusters, poisonMessages, rejectedMessages }: ClustersAnswer): string {
  const table = renderTable(
    [
      ["CLUSTER", ({ cluster }) => cluster],
      ["HEALTHY", ({ health: { ok, starting } }) => (starting === true ? "starting" : ok)],
      ["OBSERVED", ({ health }) => ageText(health.lastLookAgeSeconds)],
      ["NOTES", ({ health }) => [...health.notes, ...health.warnings].join("; ")],
    ],
    clusters,
    "no clusters: AUTOSCALER_CLUSTERS of the app is empty",
  );
  const lines = [
    ...inQueue("demand-poison", poisonMessages),
    ...inQueue("demand-rejected", rejectedMessages),
  ];
  return [table, ...lines].join("\n");
}

function inQueue(queue: string, waiting: ClustersAnswer["poisonMessages"]): readonly string[] {
  const { count = 0, oldestAgeSeconds: age } = waiting;
  if (count === 0) return [];
  const oldest = age === undefined ? "" : `, the oldest for ${durationText(age)}`;
  return [`${count} ${count === 1 ? "message lies" : "messages lie"} in ${queue}${oldest}`];
}

/** A summary of one cluster: its demand, its nodes, its troubles, and its unmet demand with the reasons. */
export function renderStatus(state: StateAnswer): string {
  const { health, nodes, plan, inFlight, waiting, troubles } = state;
  const virtual = plan === undefined ? undefined : virtualText(plan);
  const coming = inFlight.reduce((sum, { stillToShow = 0 }) => sum + stillToShow, 0);
  // Notes about the health are also among the troubles.
  const warnings = troubles.filter(({ kind }) => kind !== "health").map(troubleText);
  return [
    `${state.cluster ?? "?"}: ${healthText(health)}, ${health.clusterState ?? "state not known"}, ${observedText(health.lastLookAgeSeconds)}`,
    ...health.notes.flatMap((note) => indented(note, "  ")),
    ...row("sets", countsText(state.demandCounts, "none")),
    ...row("demands", demandsText(plan, waiting)),
    ...row("nodes", nodesText(nodes)),
    ...labelled("mode", modeTexts(state)),
    ...(coming === 0 ? [] : row("in flight", `${coming} accepted, not shown yet`)),
    ...labelled("timeouts", timeoutTexts(state.nodearrays)),
    ...stopKeysRow(state.stopKeys),
    ...row("plan", plan === undefined ? "none yet" : planText(plan)),
    ...(virtual === undefined ? [] : row("virtual", virtual)),
    ...labelled("warning", warnings),
    ...labelled("why", waiting.reasons.map(causeText)),
    ...labelled("remedy", waiting.remedies.map(causeText)),
  ].join("\n");
}

function healthText({ ok, starting }: StateAnswer["health"]): string {
  if (starting === true) return "starting";
  return ok === true ? "healthy" : "unhealthy";
}

const LABEL = 10;

function row(label: string, text: string): readonly string[] {
  return indented(text, `${label.padEnd(LABEL)} `);
}

/** Lines with a label before the first. */
function labelled(label: string, texts: readonly string[]): readonly string[] {
  return texts.flatMap((text, index) => row(index === 0 ? label : "", text));
}

/** In lines of a terminal's width: the first begins with `head`, the others have the same indentation. */
function indented(text: string, head: string): readonly string[] {
  return fold(text, COLUMNS - head.length).map((line, index) =>
    index === 0 ? `${head}${line}` : `${" ".repeat(head.length)}${line}`,
  );
}

function nodesText({ byPhase, byVerdict, deallocated, kept }: StateAnswer["nodes"]): string {
  const idle = byVerdict["busyness-unknown"] ?? 0;
  return [
    countsText(byPhase, "none"),
    ...(idle === 0 ? [] : [`${idle} not needed, busy state unknown`]),
    ...(deallocated === undefined ? [] : [deallocatedText(deallocated)]),
    ...(kept === undefined ? [] : [`${kept.count} kept by their scheduler, ${costText(kept)}`]),
  ].join("; ");
}

/** Deallocated nodes cost no machine time, but their disks do. */
function deallocatedText(deallocated: NonNullable<StateAnswer["nodes"]["deallocated"]>): string {
  return `deallocated since ${deallocated.since ?? "?"}, disks ${costText(deallocated)}`;
}

function costText({
  pricePerHour,
  currency = "",
}: {
  readonly pricePerHour?: number | undefined;
  readonly currency?: string | undefined;
}): string {
  return pricePerHour === undefined ? "at a price not configured" : `${pricePerHour} ${currency} an hour`;
}

/** Nodes by the key of their stop URL, if there is more than one key (docs/configuration.md, Keys of stop URLs). */
function stopKeysRow(keys: StateAnswer["stopKeys"]): readonly string[] {
  const known = keys.filter(({ keyId }) => keyId !== undefined);
  if (known.length < 2) return [];
  const texts = keys.map(({ keyId, nodes = 0, configured, signing }) => {
    const name = keyId ?? "not known";
    const notes = [...(signing === true ? ["new nodes"] : []), ...(configured === false ? ["refused"] : [])];
    return `${name} ${nodes}${notes.length === 0 ? "" : ` (${notes.join(", ")})`}`;
  });
  return row("stop keys", texts.join(", "));
}

function demandsText(plan: StateAnswer["plan"], waiting: StateAnswer["waiting"]): string {
  const { demands = 0, withheld } = plan ?? {};
  if (demands === 0) return "none";
  const { unmet = 0, onTheirWay = 0, missing } = waiting;
  const lacks = missing.map(lackText).join(", ");
  const short = lacks === "" ? `${unmet} unmet` : `${unmet} unmet (${lacks} missing)`;
  const isHeld =
    modeOfPlan(plan ?? {}) === "observe" &&
    withheld !== undefined &&
    withheld.creates.length + withheld.starts.length > 0;
  const none = isHeld ? " (none comes in observe mode)" : "";
  return `${demands}: ${short}, ${onTheirWay} waiting for nodes${none}`;
}

function lackText({ amount, unit = "?" }: StateAnswer["waiting"]["missing"][number]): string {
  return `${amount ?? "?"} ${amount === 1 ? unit.replace(/s$/, "") : unit}`;
}

/** The timeouts of the autoscaled arrays: one line for all, or one for each pair of timeouts with its arrays. */
function timeoutTexts(arrays: StateAnswer["nodearrays"]): readonly string[] {
  const byText = new Map<string, string[]>();
  for (const { name, managed, idleTimeout, bootTimeout } of arrays) {
    if (managed === false || idleTimeout === undefined || bootTimeout === undefined) continue;
    const timeouts = `idle ${idleTimeout} s, boot ${bootTimeout} s`;
    byText.set(timeouts, [...(byText.get(timeouts) ?? []), name ?? "?"]);
  }
  if (byText.size < 2) return [...byText.keys()];
  return [...byText].map(([timeouts, names]) => `${timeouts}: ${names.join(", ")}`);
}

type Told = StateAnswer["waiting"]["reasons"][number];

/** A cause of waiting, or a remedy, with how many demands it is about, and the first of them. */
export function causeText({ text = "?", demands = 1, first }: Told): string {
  const whose = first === undefined ? "?" : `${first.requestSet ?? "?"}/${first.id ?? "?"}`;
  return `${text} (${demands === 1 ? whose : `${demands} demands, the first ${whose}`})`;
}

/** What the count of a trouble counts, if its text does not say the number. The other texts name what is counted. */
const COUNTED: Readonly<Record<string, string>> = { "message-rejected": "times", "left-out": "demands" };

function troubleText({ kind = "?", text = "?", count = 1 }: StateAnswer["troubles"][number]): string {
  const counted = COUNTED[kind];
  return count === 1 || counted === undefined ? text : `${text} (${count} ${counted})`;
}

function planText(plan: PlanAnswer): string {
  const { number, at, withheld } = plan;
  const deeds = [
    deedsText(plan),
    withheld === undefined ? undefined : withheldText(withheld),
    plan.bound?.text,
  ];
  const what = deeds.filter((text) => text !== undefined).join("; ");
  return `${number ?? "?"} at ${at ?? "?"} (${modeText(plan)}): ${what === "" ? "nothing to do" : what}`;
}

/** The actions of the virtual fleet. Undefined if no array is observed or nothing changed. */
function virtualText({ virtual }: PlanAnswer): string | undefined {
  const deeds = virtual === undefined ? undefined : deedsText(virtual);
  return deeds === undefined ? undefined : `${deeds} (only in the record)`;
}

/** A plan of an older app has no mode. If it withholds something, it withholds everything. */
function modeOfPlan({
  mode,
  withheld,
}: {
  readonly mode?: string | undefined;
  readonly withheld?: unknown;
}): string {
  return mode ?? (withheld === undefined ? "act" : "observe");
}

/** "observe", "act" or, with node arrays that are only observed, "act, observing hpc". Undefined for an older app. */
export function modeText(
  plan: Pick<PlanAnswer, "mode" | "observed"> & { readonly withheld?: unknown },
): string {
  const mode = modeOfPlan(plan);
  const { observed } = plan;
  return observed.length === 0 ? mode : `${mode}, observing ${someOf(observed)}`;
}

/** The planned actions in node arrays that are only observed. Undefined if there are none. */
export function withheldText(withheld: Deeds): string | undefined {
  const deeds = deedsText(withheld);
  return deeds === undefined ? undefined : `would ${deeds}, but the mode is observe`;
}

type Deeds = Pick<PlanAnswer, "creates" | "starts" | "terminates">;

function deedsText({ creates, starts, terminates }: Deeds): string | undefined {
  const parts = [
    ...creates.map(({ bucket, count }) => `create ${count ?? "?"} x ${bucket ?? "?"}`),
    ...(starts.length === 0 ? [] : [`start ${someOf(starts)}`]),
    ...(terminates.length === 0 ? [] : [`stop ${someOf(terminates)}`]),
  ];
  return parts.length === 0 ? undefined : parts.join("; ");
}

function ageText(seconds: Seconds | undefined): string | undefined {
  return seconds === undefined ? undefined : `${Math.round(seconds)} s ago`;
}

function observedText(seconds: Seconds | undefined): string {
  const age = ageText(seconds);
  return age === undefined ? "not observed yet" : `observed ${age}`;
}

const NONE = "none known: no observation yet, or no node array is autoscaled";

interface Shown {
  readonly buckets: readonly BucketAnswer[];
  readonly choice?: StateAnswer["choice"];
  readonly nodearrays?: StateAnswer["nodearrays"];
}

/** The columns of the buckets, by the names under which they are chosen. */
const BUCKET_CELLS: Readonly<Record<string, Column<BucketAnswer>[1]>> = {
  nodearray: ({ nodearray }) => nodearray,
  size: ({ machineType }) => machineType,
  group: ({ placementGroup }) => placementGroup,
  vcpus: ({ vcpus }) => vcpus,
  gib: ({ memoryGib }) => memoryGib,
  gpus: ({ gpus }) => (gpus === 0 ? undefined : gpus),
  spot: ({ spot }) => (spot === true ? "spot" : undefined),
  price: ({ price }) => price,
  nodes: ({ active }) => active,
  room: ({ available }) => available,
  "bound-by": (bucket) => bucket.closed ?? boundBy(bucket),
};
export const BUCKET_COLUMNS: readonly string[] = Object.keys(BUCKET_CELLS);

/**
 * The buckets, the preferred ones first, and below them the mode of each node array if one is only observed. `chosen`: these columns alone,
 * also where they are empty.
 */
export function renderBuckets(
  { buckets, choice, nodearrays = [] }: Shown,
  chosen?: readonly string[],
  { isFiltered = false }: { readonly isFiltered?: boolean } = {},
): string {
  const currency = choice?.prices?.currency;
  const headOf = (name: string): string =>
    name === "price" && currency !== undefined ? `PRICE ${currency}/H` : name.replace("-", " ").toUpperCase();
  const columns = (chosen ?? BUCKET_COLUMNS).map((name): Column<BucketAnswer> => {
    const cell = BUCKET_CELLS[name] ?? (() => undefined);
    return [headOf(name), chosen === undefined ? cell : (bucket) => cell(bucket) ?? "-"];
  });
  const table = renderTable(columns, buckets, isFiltered ? "no bucket has such nodes" : NONE);
  return chosen === undefined ? [table, ...modeTexts({ nodearrays })].join("\n") : table;
}

/** The first limit that allows no more nodes than there is room for. If the limit is in cores, a node counts with its cores. */
function boundBy({ available, vcpus = 1, limits }: BucketAnswer): string | undefined {
  return limits.find(({ left = 0, unit }) => Math.floor(unit === "cores" ? left / vcpus : left) === available)
    ?.limit;
}

/** Every limit of a bucket, once, in the order of the buckets. Limits with the same name and different numbers belong to different regions. */
export function renderLimits({ buckets }: { readonly buckets: readonly BucketAnswer[] }): string {
  const limits = new Map(
    buckets.flatMap((bucket) =>
      bucket.limits.map((one) => [JSON.stringify([one.limit, one.unit, one.used, one.max, one.left]), one]),
    ),
  );
  return renderTable(
    [
      ["LIMIT", ({ limit }) => limit],
      ["USED", ({ used }) => used],
      ["OF", ({ max }) => max],
      ["LEFT", ({ left }) => left],
      ["IN", ({ unit }) => unit],
    ],
    [...limits.values()],
    NONE,
  );
}

/** The mode of each node array as text. Empty if no array is in mode observe, or if an older app answers. */
function modeTexts({ nodearrays }: Pick<StateAnswer, "nodearrays">): readonly string[] {
  const ours = nodearrays.filter(({ managed }) => managed !== false);
  const namesIn = (wanted: string) =>
    ours.flatMap(({ name, mode }) => (mode === wanted ? [name ?? "?"] : []));
  const observed = namesIn("observe");
  if (observed.length === 0) return [];
  const acting = namesIn("act");
  const observing = modesText(observed, "observing only");
  return acting.length === 0 ? [observing] : [observing, modesText(acting, "acting")];
}

const modesText = (arrays: readonly string[], mode: string): string =>
  `${arrays.length === 1 ? "array" : "arrays"} ${arrays.join(", ")}: ${mode}`;
