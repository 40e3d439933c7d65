import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import { ruleOf } from "../../decide/senders/sender-rule.ts";
import { describeBound } from "./describe-plan.ts";
import type { Unknown } from "../../decide/explain/explain-job.ts";
import type { DemandExplained } from "../../decide/explain/explained-demand.ts";
import { explainJob } from "../../decide/explain/explain-job.ts";
import { explainHost } from "../../decide/explain/explain-host.ts";
import { storedHosts } from "../../decide/need/stored-world.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { JobDemand, Problem } from "../../domain/demand.ts";
import type { ClusterName, SetName } from "../../domain/ids.ts";
import type { Plan } from "../../domain/plan.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Ledger } from "../../domain/ledger.ts";
import { heldNames } from "../../domain/held-names.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime, secondsBetween } from "../../domain/units.ts";
import type { ExplanationShown, DemandExplanationShown } from "../../wire/api/explanation-answers.ts";
import { lifeDescriber } from "./describe-node-history.ts";
import { explainGone, explainNode } from "../../decide/explain/explain-node.ts";
import type { NodeExplained } from "../../decide/explain/explain-node.ts";
import { livesOf } from "../../decide/nodes/node-life.ts";
import type { NodeLife } from "../../domain/node-life.ts";
import { readyForDemand } from "./expect-ready.ts";
import { loadToShow } from "../record/load-record.ts";
import type { App } from "../process/lanes.ts";
import { showJson, showText } from "../../domain/shown.ts";
import type { HostExplained } from "../../decide/explain/explain-host.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { BucketKeyShown } from "../../wire/api/parts.ts";
import type { PlanCounts } from "../../domain/kept-plan.ts";
import { modeShown } from "../../domain/plan.ts";

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
  const answer = answerBy(plan, ledger, question);
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
  const answer = answerBy(plan, ledger, question, present);
  if (question.kind === "node") {
    const isThere =
      answer.kind === "host" || (answer.kind === "node" && ledger.get(answer.nodeId)?.goneAt === undefined);
    const named = isThere ? undefined : explainWanted(plan, question.node, present);
    if (named !== undefined) return { kind: "explained", body: describeExplanation(cluster, plan, ...named) };
    const life = await lifeOf(app, cluster, question.node, answer, present);
    if (life !== undefined)
      return { kind: "explained", body: describeNode(cluster, plan, answer, life, present) };
  }
  if (answer.kind !== "unknown") {
    const ofNow = answer.kind === "demand" ? factsOfNow(answer, present) : {};
    return { kind: "explained", body: describeExplanation(cluster, plan, answer, { ofNow }) };
  }
  return question.kind === "job" ? findInDemand(bodies, question.job, answer) : answer;
}

/** Why a name that a target asks for has no node: as the target is explained, with what became of the name. Undefined: none asks for it. */
function explainWanted(
  plan: Plan,
  name: string,
  { record, bodies }: Present,
): readonly [Explained, { readonly ofNow: OfNow }] | undefined {
  const held = heldNames(record).get(name);
  if (held === undefined) return undefined;
  const { end, told = "its node is asked for, or to be asked for" } = held;
  const line = end === undefined ? `coming: ${told}` : `${end.state} at ${isoTime(end.at)}: ${end.why}`;
  for (const [set, { digest, live }] of record.sets) {
    const found = (live ? (bodies.demands.get(digest)?.demands ?? []) : []).find(
      (demand) => demand.kind === "target" && demand.named?.names.includes(name),
    );
    const answer = found && explainJob(plan, bodies.ledger, found.id, set);
    if (answer?.kind === "demand") return [answer, { ofNow: { lines: [showText(`${name} ${line}`)] } }];
  }
  return undefined;
}

/** The node's history: from the ledger, or of one that the ledger does not know any more. Undefined for hosts, and where nothing is kept. */
async function lifeOf(
  { ports: { nodeHistory } }: App,
  cluster: ClusterName,
  name: string,
  answer: Explained | Unknown,
  { bodies: { ledger, seen }, policy }: Present,
): Promise<NodeLife | undefined> {
  if (answer.kind === "unknown") return nodeHistory.find(cluster, name);
  const known = answer.kind === "node" ? ledger.get(answer.nodeId) : undefined;
  return known && livesOf([known], seen, policy)[0];
}

/** A node that is there is explained by the plan, one that has gone by its history. */
function describeNode(
  cluster: ClusterName,
  plan: Plan,
  answer: Explained | Unknown,
  life: NodeLife,
  { bodies, now }: Present,
): ExplanationShown {
  const explained = answer.kind === "node" && life.goneAt === undefined ? answer : explainGone(life, now);
  const { mode, observed } = modeShown(plan);
  const shared = { cluster, plan: plan.number, planAt: isoTime(plan.at), mode, observed, counts: undefined };
  return { ...shared, ...explained, history: lifeDescriber(bodies, now)(life) };
}

/** What is known beside the plan now. Unknown for the time of a past plan. */
interface Present {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
  readonly policy: Policy;
  readonly now: Instant;
}

const answerBy = (plan: Plan, ledger: Ledger, question: Question, present?: Present): Explained | Unknown =>
  question.kind === "job"
    ? explainJob(plan, ledger, question.job, question.set)
    : explainNamed(plan, ledger, question.node, present);

/** The node or the host of this name. */
function explainNamed(
  plan: Plan,
  ledger: Ledger,
  name: string,
  present?: Present,
): NodeExplained | HostExplained | Unknown {
  const hosts = present && storedHosts(present.record, present.bodies, present.policy, present.now);
  const node = explainNode(plan, ledger, name, {
    reported: hosts?.nodes,
    rules: present?.policy,
    ...(present && { namedBy: (of: string) => setsNaming(of, present) }),
  });
  return node.kind === "node" ? node : (explainHost(plan, name, hosts?.others ?? []) ?? node);
}

/** The request sets that name this node, without those that may not (docs/protocol.md, Named nodes). */
function setsNaming(name: string, { record, bodies, policy }: Present): readonly SetName[] {
  const { senders = NO_SENDER_RULES } = policy;
  const by = heldNames(record).get(name)?.by;
  return [...record.sets].flatMap(([set, { digest, live }]) => {
    const demands = live ? (bodies.demands.get(digest)?.demands ?? []) : [];
    const isNaming = demands.some((one) => one.kind === "target" && one.named?.names.includes(name));
    const isAllowed = by === undefined || ruleOf(senders, by) === ruleOf(senders, set);
    return isNaming && isAllowed ? [set] : [];
  });
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

type Explained = DemandExplained | NodeExplained | HostExplained;

/** The answer about a demand, a node or a host. `counts`: those of a past plan. */
function describeExplanation(
  cluster: ClusterName,
  plan: Plan,
  explained: Explained,
  { counts, ofNow = {} }: { readonly counts?: PlanCounts; readonly ofNow?: OfNow } = {},
): ExplanationShown {
  const { mode, observed } = modeShown(plan);
  const shared = {
    cluster,
    plan: plan.number,
    planAt: isoTime(plan.at),
    mode,
    observed,
    counts: counts && { ...counts, bound: describeBound(counts.bound) },
  };
  return explained.kind === "demand"
    ? { ...shared, ...describeDemand(explained, ofNow) }
    : explained.kind === "node"
      ? { ...shared, ...explained, history: undefined }
      : { ...shared, ...explained };
}

/** What is known of a demand beside the plan. Nothing for the time of a past plan. */
interface OfNow {
  readonly expectedReadyAt?: Instant | undefined;
  readonly metadata?: JobDemand["metadata"] | undefined;
  /** The same in sentences. */
  readonly lines?: readonly string[];
}

/** Its members are named, though a group may be absent. */
const bucketShown = (bucket: BucketKey | undefined): BucketKeyShown | undefined =>
  bucket && { ...bucket, placementGroup: bucket.placementGroup };

type DemandShown = Omit<
  DemandExplanationShown,
  "cluster" | "plan" | "planAt" | "mode" | "observed" | "counts"
>;

function describeDemand(
  { text, ...explained }: DemandExplained,
  { expectedReadyAt, metadata, lines = [] }: OfNow,
): DemandShown {
  return {
    ...explained,
    places: explained.places.map((place) => ({
      ...place,
      bucket: bucketShown(place.bucket),
    })),
    expectedReadyAt: isoTime(expectedReadyAt),
    metadata,
    text: [text, ...lines].join("\n"),
  };
}
