import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import { ruleOf } from "../../decide/senders/sender-rule.ts";
import type { Unknown } from "../../decide/explain/explain-job.ts";
import { explainJob } from "../../decide/explain/explain-job.ts";
import type { HostExplained } from "../../decide/explain/explain-host.ts";
import { explainHost } from "../../decide/explain/explain-host.ts";
import type { NodeExplained } from "../../decide/explain/explain-node.ts";
import { explainGone, explainNode } from "../../decide/explain/explain-node.ts";
import { storedHosts } from "../../decide/need/stored-world.ts";
import { livesOf } from "../../decide/nodes/node-life.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { heldNames } from "../../domain/held-names.ts";
import type { ClusterName, SetName } from "../../domain/ids.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { NodeLife } from "../../domain/node-life.ts";
import type { Plan } from "../../domain/plan.ts";
import { modeShown } from "../../domain/plan.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { showText } from "../../domain/shown.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime } from "../../domain/units.ts";
import type { ExplanationShown } from "../../wire/api/explanation-answers.ts";
import type { App } from "../process/lanes.ts";
import type { Explained, OfNow } from "./describe-plan.ts";
import { describeExplanation } from "./describe-plan.ts";
import { lifeDescriber } from "./describe-node-history.ts";

/** What is known beside the plan now. Unknown for the time of a past plan. */
export interface Present {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
  readonly policy: Policy;
  readonly now: Instant;
}

/** Explains the node, the host or the wanted node of this name, by the last plan and by what is known beside it. */
export async function explainName(
  app: App,
  cluster: ClusterName,
  plan: Plan,
  name: string,
  present: Present,
): Promise<{ readonly kind: "explained"; readonly body: ExplanationShown } | Unknown> {
  const { ledger } = present.bodies;
  const answer = findNamed(plan, ledger, name, present);
  const isThere =
    answer.kind === "host" || (answer.kind === "node" && ledger.get(answer.nodeId)?.goneAt === undefined);
  const wanted = isThere ? undefined : explainWanted(plan, name, present);
  if (wanted !== undefined) return { kind: "explained", body: describeExplanation(cluster, plan, ...wanted) };
  const life = await lifeOf(app, cluster, name, answer, present);
  if (life !== undefined)
    return { kind: "explained", body: describeNode(cluster, plan, answer, life, present) };
  if (answer.kind === "unknown") return answer;
  return { kind: "explained", body: describeExplanation(cluster, plan, answer) };
}

/** The node or the host of this name. */
export function findNamed(
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
