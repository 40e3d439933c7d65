import type { ClustersAnswer, PlanAnswer, StateAnswer } from "../client/state.ts";
import { countsText, renderTable } from "./table.ts";

/** All clusters, a line each. */
export function renderClusters({ clusters, rejectedMessages }: ClustersAnswer): string {
  const table = renderTable(
    [
      ["CLUSTER", ({ cluster }) => cluster],
      ["WELL", ({ health }) => health.ok],
      ["LOOKED", ({ health }) => ageText(health.lastLookAgeSeconds)],
      ["NOTES", ({ health }) => health.notes.join("; ")],
    ],
    clusters,
    "no clusters: AUTOSCALER_CLUSTERS of the app is empty",
  );
  const count = rejectedMessages?.count ?? 0;
  return count === 0 ? table : `${table}\n${count} messages lie in demand-rejected`;
}

/** One cluster in short: what is asked for, what is there, what is wrong, what is missing and why. */
export function renderStatus(state: StateAnswer): string {
  const { health, nodes, plan, inFlight, waiting, troubles } = state;
  const well = health.ok === true ? "well" : "NOT WELL";
  const coming = inFlight.reduce((sum, { stillToShow = 0 }) => sum + stillToShow, 0);
  // What is said of the health is among the troubles too.
  const wrong = troubles.filter(({ kind }) => kind !== "health").map(troubleText);
  return [
    `${state.cluster ?? "?"}: ${well}, ${health.clusterState ?? "state not known"}, looked at ${ageText(health.lastLookAgeSeconds) ?? "never"}`,
    ...health.notes.map((note) => `  ${note}`),
    row("sets", countsText(state.demandCounts, "none")),
    row("demands", demandsText(plan?.demands, waiting)),
    row("nodes", countsText(nodes.byPhase, "none")),
    ...(coming === 0 ? [] : [row("in flight", `${coming} accepted, not shown yet`)]),
    ...labelled("timeouts", timeoutTexts(state.nodearrays)),
    row("plan", plan === undefined ? "none yet" : planText(plan)),
    ...labelled("trouble", wrong),
    ...labelled("why", waiting?.reasons.map(causeText) ?? []),
    ...labelled("would help", waiting?.remedies.map(causeText) ?? []),
  ].join("\n");
}

const LABEL = 10;

function row(label: string, text: string): string {
  return `${label.padEnd(LABEL)} ${text}`;
}

/** A label once, before the first of its lines. */
function labelled(label: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => row(index === 0 ? label : "", line));
}

function demandsText(demands = 0, waiting: StateAnswer["waiting"]): string {
  if (demands === 0) return "none";
  const { unmet = 0, onTheirWay = 0, missing = [] } = waiting ?? {};
  const lacks = missing.map(({ amount, unit }) => `${amount ?? "?"} ${unit ?? ""}`).join(", ");
  const short = lacks === "" ? `${unmet} unmet` : `${unmet} unmet (${lacks} missing)`;
  return `${demands}: ${short}, ${onTheirWay} waiting for nodes`;
}

/** The timeouts of the arrays that are autoscaled: one line for all, or one for each pair of timeouts with the arrays that have it. */
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

type Told = NonNullable<StateAnswer["waiting"]>["reasons"][number];

function causeText({ text = "?", demands = 1, first }: Told): string {
  const whose = first === undefined ? "?" : `${first.requestSet ?? "?"}/${first.id ?? "?"}`;
  return `${text} (${demands === 1 ? whose : `${demands} demands, the first ${whose}`})`;
}

function troubleText({ text = "?", count = 1 }: StateAnswer["troubles"][number]): string {
  return count === 1 ? text : `${text} (${count} times)`;
}

function planText({ number, at, creates, starts, terminates }: PlanAnswer): string {
  const made = creates.map(({ bucket, count }) => `create ${count} x ${bucket}`);
  const parts = [
    ...made,
    ...(starts.length === 0 ? [] : [`start ${starts.join(", ")}`]),
    ...(terminates.length === 0 ? [] : [`stop ${terminates.join(", ")}`]),
  ];
  return `${number ?? "?"} at ${at ?? "?"}: ${parts.length === 0 ? "nothing to do" : parts.join("; ")}`;
}

export function ageText(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : `${Math.round(seconds)} s ago`;
}
