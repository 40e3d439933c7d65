import type { Node } from "../../domain/cluster.ts";
import { entryOfNode } from "../../domain/hosts.ts";
import type { ArrayName, NodeId, Owner } from "../../domain/ids.ts";
import type { Ledger, LedgerNode, Draining } from "../../domain/ledger.ts";
import type { NodeVerdict, DownEnd } from "../../domain/node-verdict.ts";
import type { Policy } from "../../domain/policy.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import type { Instant } from "../../domain/units.ts";
import { stoppingNodes } from "../intents/open-intents.ts";
import { ClaimNotes } from "../senders/foreign-claims.ts";
import { BesideNotes, factOfNode } from "../nodes/planned-beside.ts";
import type { Reach } from "../stops/reach.ts";
import { observedAction } from "../stops/reach.ts";
import type { NodeAction } from "../stops/scale-down.ts";
import { applyAction, judgeNode, awaitedBy, idleSeconds } from "../stops/scale-down.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import { idleProofAt } from "../senders/host-facts.ts";
import { awaitedUntil, isDown, unclearUntil } from "../nodes/doubt.ts";
import { bootingSince, isStarting, restsUntil } from "../intents/node-starts.ts";
import { isLost } from "../../domain/cluster.ts";
import { missingUntil } from "../nodes/missing.ts";
import type { Aside } from "../../domain/aside.ts";
import type { ClusterRecord, Observation } from "../../domain/record.ts";
import type { Outage } from "../../domain/troubles.ts";
import type { Questions } from "../../domain/questions.ts";
import type { Plan } from "../../domain/plan.ts";
import type { Dynamics } from "../world/dynamic-arrays.ts";
import type { HostFact } from "../senders/host-facts.ts";
import type { Admitted } from "../senders/admit.ts";
import type { Weighed } from "../need/weigh.ts";
import type { DownNodes } from "../stops/end-down.ts";
import { mayStopByReport } from "../stops/questions.ts";

/** The inputs of `conclude`: the record and observation of the plan, and what the demand needs. */
export interface Conclusion {
  readonly record: ClusterRecord;
  readonly dynamics: Dynamics;
  readonly admitted: Admitted;
  /** Sets that were not read. */
  readonly aside: Aside;
  readonly observation: Observation;
  readonly ledger: Ledger;
  readonly questions: Questions;
  readonly facts: ReadonlyMap<string, HostFact>;
  readonly weighed: Weighed;
  /** The last plan. Undefined: there was none. */
  readonly last: Plan | undefined;
  readonly policy: Policy;
  readonly now: Instant;
  readonly owner: Owner;
  readonly outage: Outage | undefined;
  /** The nodes that are down. */
  readonly down: DownNodes;
}

/** What a plan decides about the observed nodes. */
export interface JudgedNodes {
  /** The next ledger. The same object if no entry changes. */
  readonly ledger: Ledger;
  /** Nodes that the ledger does not know have no verdict. */
  readonly verdicts: ReadonlyMap<NodeId, NodeVerdict>;
  /** Nodes that this plan stops. */
  readonly terminates: readonly NodeId[];
  /** Nodes of observed arrays that it would mark or stop. */
  readonly unstopped: readonly NodeId[];
}

/** Decides for each observed node whether it is marked, stopped or kept. `managed`: the node arrays that are ours. */
export function judgeNodes(
  on: Conclusion,
  ledger: Ledger,
  reach: Reach,
  managed: ReadonlySet<ArrayName>,
): JudgedNodes {
  const { record, policy, now, weighed } = on;
  const stopping = stoppingNodes(record.intents);
  const beside = new BesideNotes(weighed.allocation.outcomes, on.admitted.demands, on.last);
  const claims = new ClaimNotes(policy.senders, on.admitted.demands, now);
  const verdicts = new Map<NodeId, NodeVerdict>();
  const terminates: NodeId[] = [];
  const unstopped: NodeId[] = [];
  // Copied when an entry changes: most plans change none.
  let changed: Map<NodeId, LedgerNode> | undefined;
  on.observation.snapshot.nodes.forEach((node) => {
    const { nodeId } = node;
    const known = ledger.get(nodeId);
    if (known === undefined) return;
    if (!managed.has(node.array)) {
      verdicts.set(nodeId, { kind: "not-managed" });
      return;
    }
    const mayChange = reach.isActing || reach.withholds;
    const isJudged = mayChange && !stopping.has(nodeId) && !staysAsItIs(node, known, weighed.spare);
    const due = isJudged ? judgeNode(node, known, circumstances(on, node, known)) : NO_ACTION;
    const acts = reach.acts(node.array);
    if (!acts && (due.kind === "mark" || due.kind === "terminate")) unstopped.push(nodeId);
    const action = acts ? due : isJudged ? observedAction(known, due, now) : NO_ACTION;
    if (action.kind === "terminate") terminates.push(nodeId);
    const needed = weighed.allocation.needed.get(nodeId);
    const acted = applyAction(known, action, record.plan, now);
    const fact = entryOfNode(on.facts, node);
    const noted = claims.noted(beside.noted(acted, fact, needed), fact, needed);
    const next = needed === undefined ? noted : noteNeeded(noted, policy, now);
    if (next !== known) (changed ??= new Map(ledger)).set(nodeId, next);
    const isStopped = action.kind === "terminate";
    verdicts.set(nodeId, isStopped ? { kind: "draining", by: action.by } : verdictOf(node, next, needed, on));
  });
  return { ledger: changed ?? ledger, verdicts, terminates, unstopped };
}

const NO_ACTION: NodeAction = { kind: "none" };

/** A Ready node that is neither marked nor spare keeps running. Most nodes of a busy cluster are like this, so they are not judged. */
function staysAsItIs(node: Node, known: LedgerNode, spare: ReadonlySet<NodeId>): boolean {
  return node.phase === "ready" && known.draining === undefined && !spare.has(node.nodeId);
}

/**
 * Notes that a node is needed. Not with every plan, because each note is a write: while the node is idle once in a fifth of its idle
 * timeout, otherwise once in an idle timeout. These spans follow the clock, so that one plan notes all nodes and the next ones none.
 */
function noteNeeded(node: LedgerNode, policy: Policy, now: Instant): LedgerNode {
  const { busyness, lastNeededAt } = node;
  const timeout = timeoutsOf(policy, node).idleSeconds;
  const seconds = Math.max(1, busyness.state === "idle" ? timeout / 5 : timeout);
  const spanOf = (at: Instant): number => Math.floor(at / (1000 * seconds));
  return lastNeededAt !== undefined && spanOf(lastNeededAt) === spanOf(now)
    ? node
    : { ...node, lastNeededAt: now };
}

/** The verdict of the plan on one node. `needed`: the demands that need it. */
function verdictOf(
  node: Node,
  known: LedgerNode,
  needed: readonly string[] | undefined,
  on: Conclusion,
): NodeVerdict {
  if (known.draining?.sentAt !== undefined) return { kind: "stopping", attempts: known.draining.attempts };
  if (known.draining !== undefined) return drainingVerdict(node, known, known.draining, on);
  const end = on.down.ends.get(node.nodeId);
  const doubt = doubtVerdict(node, known, on.weighed.kept, end, on.policy, on.now);
  if (doubt !== undefined) return doubt;
  switch (node.phase) {
    case "going":
      return { kind: "going" };
    case "failed":
      return {
        kind: "failed",
        status: node.statusMessage ?? node.status,
        ...(known.firstReadyAt === undefined ? {} : { wasReady: true }),
        ...(on.weighed.kept.has(node.nodeId) ? { kept: true } : {}),
        ...(end === undefined ? {} : { end }),
      };
    case "off":
      return { kind: "off", status: node.status };
    case "deallocated":
      return deallocatedVerdict(node, known, needed);
    case "coming":
    case "unknown":
      if (needed !== undefined) return { kind: "needed", by: needed };
      return { kind: "coming", bootSecondsLeft: bootSecondsLeft(node, known, on.policy, on.now) };
    case "ready":
      return readyVerdict(node, known, needed, on);
  }
}

function drainingVerdict(node: Node, known: LedgerNode, draining: Draining, on: Conclusion): NodeVerdict {
  const fact = entryOfNode(on.facts, node);
  const lastReportAt = fact === undefined ? undefined : idleProofAt(fact);
  const awaited = awaitedBy(draining, circumstances(on, node, known));
  const last = awaited.reportAfter === undefined || lastReportAt === undefined ? {} : { lastReportAt };
  return { kind: "draining", by: draining.by, ...awaited, ...last };
}

function bootSecondsLeft(node: Node, known: LedgerNode, policy: Policy, now: Instant): number {
  const until =
    awaitedUntil(node, known, policy) ??
    plusSeconds(bootingSince(known), timeoutsOf(policy, known).bootSeconds);
  return secondsBetween(now, until);
}

function deallocatedVerdict(
  node: Node,
  known: LedgerNode,
  needed: readonly string[] | undefined,
): NodeVerdict {
  if (isStarting(known)) return { kind: "starting", by: needed ?? [] };
  if (node.keepAlive) return { kind: "keep-alive" };
  const rests = restsUntil(known);
  const message = known.start?.message;
  return {
    kind: "deallocated",
    ...(rests === undefined ? {} : { restsUntil: rests }),
    ...(message === undefined ? {} : { message }),
  };
}

function unknownVerdict({ plannedBeside = [] }: LedgerNode): NodeVerdict {
  const beside = [...new Set(plannedBeside.map(({ set }) => set))];
  return beside.length === 0 ? { kind: "busyness-unknown" } : { kind: "busyness-unknown", beside };
}

function readyVerdict(
  node: Node,
  known: LedgerNode,
  needed: readonly string[] | undefined,
  on: Conclusion,
): NodeVerdict {
  if (needed !== undefined) return { kind: "needed", by: needed };
  if (node.keepAlive) return { kind: "keep-alive" };
  if (known.busyness.state === "busy") return { kind: "busy" };
  const set = on.weighed.leftOut.setFor(known);
  if (set !== undefined) return { kind: "perhaps-needed", by: set };
  if (node.stopDisabled === true) return { kind: "stop-disabled" };
  if (on.outage !== undefined) return { kind: "resting", until: on.outage.until };
  if (known.busyness.state === "unknown") return unknownVerdict(known);
  return {
    kind: "idle",
    idleSeconds: idleSeconds(known, on.now),
    idleTimeoutSeconds: timeoutsOf(on.policy, known).idleSeconds,
  };
}

/**
 * The verdict on a node that the observation lacks, whose record is unclear, or that is down. Undefined for other nodes. `kept`: nodes that
 * are of no use and still count as capacity. `end`: when it ends, if it is down.
 */
function doubtVerdict(
  node: Node,
  known: LedgerNode,
  kept: ReadonlySet<NodeId>,
  end: DownEnd | undefined,
  policy: Policy,
  now: Instant,
): NodeVerdict | undefined {
  const { missing, nodeId, status } = node;
  const until = missingUntil(node);
  if (missing !== undefined && until !== undefined && isLost(node)) {
    const { observations: _count, ...shown } = missing;
    return { kind: "missing", ...shown, until };
  }
  const isKept = kept.has(nodeId);
  const clearBy = unclearUntil(node, known, policy);
  if (known.unclearSince !== undefined && clearBy !== undefined) {
    const over = now < clearBy ? {} : { over: isKept ? ("kept" as const) : ("replaced" as const) };
    return { kind: "unclear", since: known.unclearSince, until: clearBy, status, ...over };
  }
  if (known.leftReadyAt === undefined || !isDown(node, known, policy, now)) return undefined;
  const ends = end === undefined ? {} : { end };
  return { kind: "down", since: known.leftReadyAt, status, ...(isKept ? { kept: true } : {}), ...ends };
}

/** The facts about one node by which it is decided whether it is stopped. */
function circumstances(on: Conclusion, node: Node, known: LedgerNode) {
  const fact = factOfNode(on.facts, node, known);
  const provedAt = fact === undefined ? undefined : idleProofAt(fact);
  const provesIdle = mayStopByReport(on.questions.get(node.nodeId), provedAt, on.now);
  const idle = fact !== undefined && fact.jobs.length === 0 && fact.state !== "open" && provesIdle;
  return {
    at: on.observation.snapshot.at,
    ...(on.observation.snapshot.early === true ? { early: true as const } : {}),
    policy: on.policy,
    now: on.now,
    plan: on.record.plan,
    resting: on.outage !== undefined,
    spare: on.weighed.spare.has(node.nodeId),
    busy: (fact?.jobs.length ?? 0) > 0 || known.busyness.state === "busy",
    reportedIdleAt: idle ? provedAt : undefined,
    ends: on.down.due.has(node.nodeId),
  };
}
