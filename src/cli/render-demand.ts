import type { OutcomeAnswer, PlanAnswer, StateAnswer } from "../client/readers.ts";
import { showJson } from "../client/readable.ts";
import { readRequestSetAnswer } from "../client/readers.ts";
import { withheldText } from "./render-status.ts";
import { compareNaturally, renderTable } from "./table.ts";
import { UNREADABLE } from "./tell.ts";
import { problemText } from "../client/error.ts";

/** All request sets, and below them the results of their targets. */
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
  if (targets.length === 0) return sets;
  return [sets, "", renderOutcomes(targets, "TARGET"), ...withheldLines(plan)].join("\n");
}

/** A line below a table of demands that wait for nodes: in observe mode no nodes come. */
function withheldLines(plan: Pick<PlanAnswer, "withheld"> | undefined): readonly string[] {
  const text = plan?.withheld === undefined ? undefined : withheldText(plan.withheld);
  return text === undefined ? [] : [`the plan ${text}`];
}

/** The jobs that are shown, and their order. Absent: all, in the app's order, unmet jobs first. */
export interface JobChoice {
  readonly requestSet?: string;
  /** Only jobs that have less than they ask for. */
  readonly unmet?: true;
  readonly user?: string;
  readonly sort?: JobOrder;
}

export const JOB_ORDERS = [
  "name",
  "set",
  "user",
  "asked",
  "placed",
  "booting",
  "unplaced",
  "waiting",
] as const;
type JobOrder = (typeof JOB_ORDERS)[number];

/** Every selected job. No line is longer than `columns`. */
export function renderJobs(
  { outcomes, plan }: StateAnswer,
  choice: JobChoice = {},
  columns?: number,
): string {
  const jobs = outcomes.filter(({ kind }) => kind === "job");
  const chosen = jobs.filter((job) => isChosenJob(job, choice));
  const none = jobs.length === 0 ? undefined : "no such jobs";
  const table = renderOutcomes(inOrder(chosen, choice.sort), "JOB", { columns, none });
  const more = (plan?.demands ?? outcomes.length) - outcomes.length;
  return [table, ...(more > 0 ? [`and ${more} more demands`] : []), ...withheldLines(plan)].join("\n");
}

export function isChosenJob(job: OutcomeAnswer, { requestSet, unmet, user }: JobChoice): boolean {
  if (requestSet !== undefined && job.requestSet !== requestSet) return false;
  if (unmet === true && (job.placed ?? 0) >= (job.asked ?? 0)) return false;
  return user === undefined || job.user === user;
}

function inOrder(jobs: readonly OutcomeAnswer[], sort: JobOrder | undefined): readonly OutcomeAnswer[] {
  if (sort === undefined) return jobs;
  const key = KEYS[sort];
  return jobs.toSorted((a, b) => {
    const [left, right] = [key(a), key(b)];
    if (typeof left === "number" || typeof right === "number") return Number(right ?? 0) - Number(left ?? 0);
    return compareNaturally(left, right);
  });
}

const KEYS: Readonly<Record<JobOrder, (job: OutcomeAnswer) => string | number | undefined>> = {
  name: ({ id }) => id,
  set: ({ requestSet }) => requestSet,
  user: ({ user }) => user,
  asked: ({ asked = 0 }) => asked,
  placed: ({ placed = 0 }) => placed,
  booting: ({ pending = 0 }) => pending,
  unplaced: ({ asked = 0, placed = 0 }) => asked - placed,
  /** The name of "booting" in older releases. */
  waiting: ({ pending = 0 }) => pending,
};

function renderOutcomes(
  outcomes: readonly (Partial<OutcomeAnswer> & { readonly metadata?: string | undefined })[],
  what: "DEMAND" | "JOB" | "TARGET",
  shown: { readonly columns?: number | undefined; readonly none?: string | undefined } = {},
): string {
  return renderTable(
    [
      ["SET", ({ requestSet }) => requestSet],
      [what, ({ id }) => id],
      ["USER", ({ user }) => user],
      ["ASKED", ({ asked }) => asked],
      ["PLACED", ({ placed }) => placed],
      ["BOOTING", ({ pending }) => pending],
      ["UNPLACED", ({ asked, placed }) => (asked === undefined ? undefined : asked - (placed ?? 0))],
      ["IN", ({ unit }) => unit],
      ["WHY NOT MORE", ({ why }) => why],
      ["METADATA", ({ metadata }) => metadata],
    ],
    outcomes,
    shown.none ?? (what === "JOB" ? "no jobs in the last plan" : "no targets in the last plan"),
    shown.columns,
  );
}

/** One request set, with the result of each of its demands. */
export function renderRequestSet(body: unknown): string {
  const set = readRequestSetAnswer(body);
  if (set === undefined) return UNREADABLE;
  const seen = set.observed === false ? "; no plan has seen it yet" : "";
  const head = `${set.requestSet ?? "?"}: ${set.state ?? "?"}, ${set.demands ?? 0} ${set.demands === 1 ? "demand" : "demands"}, until ${set.expiresAt ?? "?"}${seen}`;
  const separate = [["report", set.report] as const, ["pools", set.pools] as const].flatMap(([name, part]) =>
    part === undefined
      ? []
      : [`${name}: ${part.live === true ? "until" : "lapsed at"} ${part.expiresAt ?? "?"}`],
  );
  const left = set.rejectedJobs.map(
    ({ name, problems }) =>
      `left out: ${[name ?? "?", problems.map(problemText).join("; ")].filter((part) => part !== "").join(": ")}`,
  );
  const outcomes = set.outcomes.map((outcome) => ({
    ...outcome,
    requestSet: undefined,
    why: outcome.reasons[0],
    metadata: outcome.metadata === undefined ? undefined : showJson(outcome.metadata),
  }));
  return [
    head,
    ...separate,
    ...left,
    ...(outcomes.length === 0 ? [] : [renderOutcomes(outcomes, "DEMAND"), ...withheldLines(set)]),
  ].join("\n");
}
