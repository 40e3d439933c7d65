import type { OutcomeAnswer, StateAnswer } from "../client/state.ts";
import { readRequestSetAnswer } from "../client/state.ts";
import { withheldText } from "./render-status.ts";
import { renderTable } from "./table.ts";
import { UNREADABLE } from "./tell.ts";

/** All request sets, and below what became of their targets. */
export function renderSets({ demand, outcomes, plan }: StateAnswer): string {
  const sets = renderTable(
    [
      ["SET", ({ requestSet }) => requestSet],
      ["STATE", ({ state }) => state],
      ["DEMANDS", ({ demands }) => demands],
      ["UNMET", ({ unmet }) => unmet],
      ["LEFT OUT", ({ rejectedJobs }) => (rejectedJobs.length === 0 ? undefined : rejectedJobs.length)],
      ["UNTIL", ({ expiresAt }) => expiresAt],
    ],
    demand,
    "no request sets",
  );
  const targets = outcomes.filter(({ kind }) => kind !== "job");
  return targets.length === 0 ? sets : `${sets}\n\n${renderOutcomes(targets, "TARGET")}${withheldLine(plan)}`;
}

/** Below a table of demands that seem to wait for nodes: none of these comes while enabled is false. */
function withheldLine(plan: StateAnswer["plan"]): string {
  const text = plan?.withheld === undefined ? undefined : withheldText(plan.withheld);
  return text === undefined ? "" : `\nthe plan ${text}`;
}

export function renderJobs({ outcomes, plan }: StateAnswer): string {
  const table = renderOutcomes(
    outcomes.filter(({ kind }) => kind === "job"),
    "JOB",
  );
  const more = (plan?.demands ?? outcomes.length) - outcomes.length;
  const all = more > 0 ? `${table}\nand ${more} more demands` : table;
  return `${all}${withheldLine(plan)}`;
}

function renderOutcomes(
  outcomes: readonly (OutcomeAnswer & { readonly metadata?: string | undefined })[],
  what: "DEMAND" | "JOB" | "TARGET",
): string {
  return renderTable(
    [
      ["SET", ({ requestSet }) => requestSet],
      [what, ({ id }) => id],
      ["ASKED", ({ asked }) => asked],
      ["PLACED", ({ placed }) => placed],
      ["WAITING", ({ pending }) => pending],
      ["IN", ({ unit }) => unit],
      ["WHY NOT MORE", ({ why }) => why],
      ["METADATA", ({ metadata }) => metadata],
    ],
    outcomes,
    what === "JOB" ? "no jobs in the last plan" : "no targets in the last plan",
  );
}

/** One request set, with the outcome of each of its demands. */
export function renderRequestSet(body: unknown): string {
  const set = readRequestSetAnswer(body);
  if (set === undefined) return UNREADABLE;
  const seen = set.observed === false ? "; no plan has seen it yet" : "";
  const head = `${set.requestSet ?? "?"}: ${set.state ?? "?"}, ${set.demands ?? 0} demands, until ${set.expiresAt ?? "?"}${seen}`;
  const separate = [["report", set.report] as const, ["pools", set.pools] as const].flatMap(([name, part]) =>
    part === undefined
      ? []
      : [`${name}: ${part.live === true ? "until" : "lapsed at"} ${part.expiresAt ?? "?"}`],
  );
  const left = set.rejectedJobs.map(({ name }) => `left out: ${name ?? "?"}`);
  const outcomes = set.outcomes.map((outcome) => ({
    ...outcome,
    requestSet: undefined,
    why: outcome.reasons[0],
    metadata: outcome.metadata === undefined ? undefined : JSON.stringify(outcome.metadata),
  }));
  return [
    head,
    ...separate,
    ...left,
    ...(outcomes.length === 0 ? [] : [renderOutcomes(outcomes, "DEMAND")]),
  ].join("\n");
}
