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

/** One cluster in short: what is asked for, what is there, what is missing and why. */
export function renderStatus(state: StateAnswer): string {
  const { health, nodes, plan, outcomes, inFlight, backoffs } = state;
  const well = health.ok === true ? "well" : "NOT WELL";
  const coming = inFlight.reduce((sum, { stillToShow = 0 }) => sum + stillToShow, 0);
  const pauses = backoffs.map(({ bucket, until, message }) => `${bucket} until ${until}: ${message}`);
  return [
    `${state.cluster ?? "?"}: ${well}, ${health.clusterState ?? "state not known"}, looked at ${ageText(health.lastLookAgeSeconds) ?? "never"}`,
    ...health.notes.map((note) => `  ${note}`),
    row("sets", countsText(countBy(state.demand.map(({ state: one }) => one ?? "?")), "none")),
    row("demands", demandsText(outcomes)),
    row("nodes", countsText(nodes.byPhase, "none")),
    ...(coming === 0 ? [] : [row("in flight", `${coming} accepted, not shown yet`)]),
    row("plan", plan === undefined ? "none yet" : planText(plan)),
    ...(pauses.length === 0
      ? []
      : [row("pausing", pauses[0] ?? ""), ...pauses.slice(1).map((one) => row("", one))]),
    ...(plan === undefined ? [] : renderUnmet(plan)),
  ].join("\n");
}

const LABEL = 10;

function row(label: string, text: string): string {
  return `${label.padEnd(LABEL)} ${text}`;
}

function demandsText(outcomes: StateAnswer["outcomes"]): string {
  const { count = 0, unmet = 0, waiting = 0 } = outcomes ?? {};
  return count === 0 ? "none" : `${count}: ${unmet} unmet, ${waiting} waiting for nodes`;
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

/** What has less than it asked for, with all reasons; empty if nothing has. */
export function renderUnmet({
  unmet,
  unmetCount,
}: Pick<PlanAnswer, "unmet" | "unmetCount">): readonly string[] {
  const lines = unmet.flatMap(({ requestSet, id, asked = 0, placed = 0, unit, reasons, binding }) => [
    `unmet: ${requestSet ?? "?"}/${id ?? "?"} has ${placed} of ${asked} ${unit ?? ""}`.trimEnd(),
    ...reasons.map((reason) => `  ${reason}`),
    ...(binding === undefined ? [] : [`  ${binding}`]),
  ]);
  const more = (unmetCount ?? unmet.length) - unmet.length;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

export function renderNodes({ nodes }: StateAnswer): string {
  const table = renderTable(
    [
      ["NODE", ({ name }) => name],
      ["NODEARRAY", ({ array }) => array],
      ["SIZE", ({ machineType }) => machineType],
      ["GROUP", ({ placementGroup }) => placementGroup],
      ["PHASE", ({ phase }) => phase],
      ["HOST", ({ hostname }) => hostname],
      ["BUSY", ({ busyness }) => busyness],
      ["WHY", ({ why }) => why],
    ],
    nodes.list,
    "no nodes",
  );
  const more = (nodes.count ?? nodes.list.length) - nodes.list.length;
  return more > 0 ? `${table}\nand ${more} more` : table;
}

export function ageText(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : `${Math.round(seconds)} s ago`;
}

function countBy(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
