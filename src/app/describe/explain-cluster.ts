import type { Unknown } from "../../decide/explain/explain-job.ts";
import type { DemandExplained } from "../../decide/explain/explained-demand.ts";
import { explainJob } from "../../decide/explain/explain-job.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { JobDemand, Problem } from "../../domain/demand.ts";
import type { ClusterName, SetName } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime, secondsBetween } from "../../domain/units.ts";
import type { ExplanationShown } from "../../wire/api/explanation-answers.ts";
import type { OfNow } from "./describe-plan.ts";
import { describeExplanation } from "./describe-plan.ts";
import type { Present } from "./explain-name.ts";
import { explainName, findNamed } from "./explain-name.ts";
import { readyForDemand } from "./expect-ready.ts";
import { loadToShow } from "../record/load-record.ts";
import type { App } from "../process/lanes.ts";
import { showJson } from "../../domain/shown.ts";

/** The subject of an explanation. Without `plan` the last plan explains it, otherwise that plan. */
export type Question = { readonly plan?: number } & (
  | { readonly kind: "job"; readonly job: string; readonly set?: SetName }
  | { readonly kind: "node"; readonly node: string }
);

export type Explanation =
  | { readonly kind: "explained"; readonly body: ExplanationShown }
  | Unknown
  /** The plan changed nothing, or is no longer kept. `near`: kept plans with similar numbers. */
  | { readonly kind: "not-kept"; readonly near: readonly number[] }
  /** The plan was too large to be kept completely, and this part was left out. */
  | { readonly kind: "left-out" }
  /** It was pushed, and no plan has used it yet. */
  | { readonly kind: "not-planned" }
  /** It was pushed and could not be read. */
  | { readonly kind: "rejected"; readonly problems: readonly Problem[] };

/** Explains a job or a node of a cluster: data, and all of it as `text`. */
export async function explain(app: App, cluster: ClusterName, question: Question): Promise<Explanation> {
  return question.plan === undefined
    ? explainLast(app, cluster, question)
    : explainPast(app, cluster, question, question.plan);
}

/** How far from a missing plan number kept plans are searched. */
const NEAR_PLANS = 500;
const SHOWN_PLANS = 5;

async function explainPast(
  app: App,
  cluster: ClusterName,
  question: Question,
  number: number,
): Promise<Explanation> {
  const { plans } = app.ports;
  const kept = await plans.read(cluster, number);
  if (kept === undefined) {
    const around = await plans.list(
      cluster,
      Math.max(0, number - NEAR_PLANS),
      number + NEAR_PLANS,
      2 * NEAR_PLANS,
    );
    const nearest = around
      .map((row) => row.number)
      .toSorted((a, b) => Math.abs(a - number) - Math.abs(b - number));
    return { kind: "not-kept", near: nearest.slice(0, SHOWN_PLANS).toSorted((a, b) => a - b) };
  }
  const { plan, ledger, counts } = kept;
  const answer =
    question.kind === "job"
      ? explainJob(plan, ledger, question.job, question.set)
      : findNamed(plan, ledger, question.node);
  if (answer.kind !== "unknown")
    return { kind: "explained", body: describeExplanation(cluster, plan, answer, { counts }) };
  const partly = plan.kept !== undefined || plan.nodes.size < counts.nodes;
  return partly ? { kind: "left-out" } : answer;
}

async function explainLast(app: App, cluster: ClusterName, question: Question): Promise<Explanation> {
  const [{ record, bodies }, policy] = await Promise.all([
    loadToShow(app, cluster),
    app.ports.policyOf(cluster),
  ]);
  const { plan, ledger } = bodies;
  if (plan === undefined) return { kind: "not-planned" };
  const present = { record, bodies, policy, now: app.ports.clock.now() };
  if (question.kind === "node") return explainName(app, cluster, plan, question.node, present);
  const answer = explainJob(plan, ledger, question.job, question.set);
  if (answer.kind === "unknown") return findInDemand(bodies, question.job, answer);
  const ofNow = factsOfNow(answer, present);
  return { kind: "explained", body: describeExplanation(cluster, plan, answer, { ofNow }) };
}

/** The metadata that the sender of a set gives its jobs, by job id. From the demand in force, which may be newer than the plan. */
export function metadataOf(
  { sets }: ClusterRecord,
  { demands }: Bodies,
  set: SetName,
): (id: string) => JobDemand["metadata"] {
  const entry = sets.get(set);
  const jobs = new Map<string, JobDemand["metadata"]>();
  for (const demand of (entry === undefined ? undefined : demands.get(entry.digest))?.demands ?? [])
    if (demand.kind === "job" && demand.metadata !== undefined) jobs.set(demand.id, demand.metadata);
  return (id) => jobs.get(id);
}

function factsOfNow(answer: DemandExplained, { record, bodies, now }: Present): OfNow {
  const expectedReadyAt = readyForDemand(answer, bodies, now);
  const metadata = metadataOf(record, bodies, answer.set)(answer.id);
  const lines = [
    ...(expectedReadyAt === undefined ? [] : [readyText(expectedReadyAt, now)]),
    ...(metadata === undefined ? [] : [`metadata: ${showJson(metadata)}`]),
  ];
  return { expectedReadyAt, metadata, lines };
}

function readyText(expectedReadyAt: Instant, now: Instant): string {
  const left = Math.round(secondsBetween(now, expectedReadyAt));
  return left > 0
    ? `the last of its nodes can be expected in about ${left} s, at ${isoTime(expectedReadyAt)}`
    : `its nodes take longer than others did: the last was expected at ${isoTime(expectedReadyAt)}`;
}

/** A demand that the plan does not contain may be newer, or may have been refused by itself. */
function findInDemand({ demands }: Bodies, job: string, unknown: Unknown): Explanation {
  for (const set of demands.values()) {
    const rejected = set.rejectedJobs.find(({ name }) => name === job);
    if (rejected !== undefined) return { kind: "rejected", problems: rejected.problems };
    if (set.demands.some(({ id }) => id === job)) return { kind: "not-planned" };
  }
  return unknown;
}
