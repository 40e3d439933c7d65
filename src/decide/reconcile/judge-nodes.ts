import type { Node } from "../../domain/cluster.ts";
import type { NodeId, Owner } from "../../domain/ids.ts";
import type { Ledger, LedgerNode, Draining } from "../../domain/ledger.ts";
import type { NodeVerdict, DownEnd, KeptEnd } from "../../domain/node-verdict.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Instant } from "../../domain/units.ts";
import { FirstNeeds } from "../nodes/node-life.ts";
import { minusSeconds, plusSeconds, secondsBetween } from "../../domain/units.ts";
import type { Reach } from "../stops/reach.ts";
import type { NodeAction } from "../stops/scale-down.ts";
import {
  applyAction,
  FRESH_REPORT_SECONDS,
  idleSeconds,
  judgeNode,
  observedAction,
} from "../stops/scale-down.ts";
import type { NodeStanding, Standings } from "../../domain/node-standing.ts";
import { standingIn } from "../../domain/node-standing.ts";
import type { Aside } from "../../domain/request-sets.ts";
import type { ClusterRecord, Observation } from "../../domain/record.ts";
import type { Outage } from "../../domain/troubles.ts";
import type { Questions } from "../../domain/questions.ts";
import type { Plan } from "../../domain/plan.ts";
import type { Dynamics } from "../world/dynamic-arrays.ts";
import type { NodeFacts } from "../senders/host-facts.ts";
import type { HostFact } from "../senders/host-facts.ts";
import { idleProofAt } from "../senders/host-facts.ts";
import type { Admitted } from "../senders/admit.ts";
import type { Weighed } from "../need/weigh.ts";
import type { DownNodes } from "../stops/end-down.ts";
import type { KeptNodes } from "../stops/end-kept.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import { ClaimNotes } from "../senders/foreign-claims.ts";
import { BesideNotes, factThatCounts } from "../nodes/planned-beside.ts";
import { STALE_MARK_SECONDS } from "../nodes/standing.ts";
import { isStarting, restsUntil } from "../intents/node-starts.ts";
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
  readonly standings: Standings;
  readonly questions: Questions;
  readonly facts: NodeFacts;
  readonly reach: Reach;
  readonly weighed: Weighed;
  /** The last plan. Undefined: there was none. */
  readonly last: Plan | undefined;
  readonly policy: Policy;
  readonly now: Instant;
  readonly owner: Owner;
  readonly outage: Outage | undefined;
  /** The nodes that are down. */
  readonly down: DownNodes;
  /** The deallocated nodes that end by themselves. */
  readonly kept: KeptNodes;
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

/** Decides for each observed node whether it is marked, stopped or kept. */
export function judgeNodes(on: Conclusion, ledger: Ledger): JudgedNodes {
  const { policy, now, weighed, reach } = on;
  const beside = new BesideNotes(weighed.allocation.outcomes, on.admitted.demands, on.last);
  const first = new FirstNeeds(weighed.allocation.outcomes, now);
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
    if (!reach.managed.has(node.array)) {
      verdicts.set(nodeId, { kind: "not-managed" });
      return;
    }
    const standing = standingIn(on.standings, nodeId);
    const mayChange = reach.isActing || reach.withholds;
    const isJudged = mayChange && standing.open !== true && !staysAsItIs(node, known, weighed.spare);
    const around = isJudged ? circumstances(on, node, known) : undefined;
    const due = around === undefined ? NO_ACTION : judgeNode(node, known, standing, around);
    const acts = reach.acts(node.array);
    if (!acts && (due.kind === "mark" || due.kind === "terminate")) unstopped.push(nodeId);
    const action = acts ? due : isJudged ? observedAction(known, due, now) : NO_ACTION;
    if (action.kind === "terminate") terminates.push(nodeId);
    const needed = weighed.allocation.needed.get(nodeId);
    const acted = applyAction(known, action, on.record.plan, now);
    const fact = on.facts.get(nodeId);
    const noted = claims.noted(beside.noted(acted, fact, needed), fact, needed);
    const next = needed === undefined ? noted : noteNeeded(first.noted(noted, needed), policy, now);
    if (next !== known) (changed ??= new Map(ledger)).set(nodeId, next);
    const stop = action.kind === "terminate" ? ({ kind: "draining", by: action.by } as const) : undefined;
    verdicts.set(nodeId, stop ?? withKeep(verdictOf(node, next, standing, needed, on), fact?.keep));
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

/** The verdict with the reason for which a scheduler keeps the node. A node that is being stopped already is not kept. */
function withKeep(verdict: NodeVerdict, keep: string | undefined): NodeVerdict {
  if (keep === undefined || ENDING.has(verdict.kind)) return verdict;
  return { ...verdict, keep };
}

const ENDING: ReadonlySet<NodeVerdict["kind"]> = new Set(["kept", "stopping", "going", "off", "deallocated"]);

/** The verdict of the plan on one node. `needed`: the demands that need it. */
function verdictOf(
  node: Node,
  known: LedgerNode,
  standing: NodeStanding,
  needed: readonly string[] | undefined,
  on: Conclusion,
): NodeVerdict {
  if (known.draining?.sentAt !== undefined) {
    const { attempts, act } = known.draining;
    return { kind: "stopping", attempts, ...(act === undefined ? {} : { act }) };
  }
  if (known.draining !== undefined) return drainingVerdict(node, known.draining, on);
  const end = on.down.ends.get(node.nodeId);
  const doubt = doubtVerdict(node, standing, end, on.now);
  if (doubt !== undefined) return doubt;
  switch (node.phase) {
    case "going":
      return { kind: "going" };
    case "failed":
      return {
        kind: "failed",
        status: node.statusMessage ?? node.status,
        ...(known.firstReadyAt === undefined ? {} : { wasReady: true }),
        ...(standing.kept === true ? { kept: true } : {}),
        ...(end && { end }),
      };
    case "off":
      return { kind: "off", status: node.status };
    case "deallocated":
      return deallocatedVerdict(node, known, needed, on.kept.ends.get(node.nodeId));
    case "coming":
    case "unknown":
      if (needed !== undefined) return { kind: "needed", by: needed };
      return { kind: "coming", bootSecondsLeft: secondsBetween(on.now, standing.until ?? on.now) };
    case "ready":
      return readyVerdict(node, known, needed, on);
  }
}

/** A marked node waits for a later report that confirms the mark, or for the moment at which it is judged again. */
function drainingVerdict(node: Node, { by, since }: Draining, on: Conclusion): NodeVerdict {
  if (by !== "idle" && by !== "failed")
    return { kind: "draining", by, until: plusSeconds(since, STALE_MARK_SECONDS) };
  const freshAfter = minusSeconds(on.now, FRESH_REPORT_SECONDS);
  const fact = on.facts.get(node.nodeId);
  const lastReportAt = fact === undefined ? undefined : idleProofAt(fact);
  return {
    kind: "draining",
    by,
    reportAfter: freshAfter < since ? since : freshAfter,
    ...(lastReportAt === undefined ? {} : { lastReportAt }),
  };
}

function deallocatedVerdict(
  node: Node,
  known: LedgerNode,
  needed: readonly string[] | undefined,
  kept: KeptEnd | undefined,
): NodeVerdict {
  if (isStarting(known)) return { kind: "starting", by: needed ?? [] };
  if (node.keepAlive) return { kind: "keep-alive" };
  const rests = restsUntil(known);
  const message = known.start?.message;
  return {
    kind: "deallocated",
    ...(rests === undefined ? {} : { restsUntil: rests }),
    ...(message === undefined ? {} : { message }),
    ...(kept === undefined ? {} : { kept }),
    ...(known.kept?.by === "down" ? { went: "down" } : {}),
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
  const keep = on.facts.get(node.nodeId)?.keep;
  if (keep !== undefined) return { kind: "kept", why: keep };
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
 * The verdict on a node that the observation lacks, whose record is unclear, or that is down. Undefined for other nodes. `end`: when it
 * ends, if it is down.
 */
function doubtVerdict(
  { missing, status }: Node,
  { kept, why, since, until }: NodeStanding,
  end: DownEnd | undefined,
  now: Instant,
): NodeVerdict | undefined {
  if (since === undefined || until === undefined) return undefined;
  if (why === "missing")
    return { kind: why, since, ...(missing?.named === true ? { named: true } : {}), until };
  if (why === "unclear")
    return {
      kind: why,
      since,
      until,
      status,
      ...(now < until ? {} : { over: kept === true ? "kept" : "replaced" }),
    };
  if (why !== "down") return undefined;
  return {
    kind: why,
    since,
    status,
    ...(kept === true ? { kept } : {}),
    ...(end === undefined ? {} : { end }),
  };
}

/** The facts about one node by which it is decided whether it is stopped. */
function circumstances(on: Conclusion, node: Node, known: LedgerNode) {
  const fact = factThatCounts(on.facts.get(node.nodeId), known);
  const provedAt = fact === undefined ? undefined : idleProofAt(fact);
  const provesIdle = mayStopByReport(on.questions.get(node.nodeId), provedAt, on.now);
  const keptEnd = on.kept.due.get(node.nodeId);
  const idle = fact !== undefined && fact.jobs.length === 0 && fact.state !== "open" && provesIdle;
  return {
    policy: on.policy,
    now: on.now,
    plan: on.record.plan,
    resting: on.outage !== undefined,
    spare: on.weighed.spare.has(node.nodeId),
    busy: (fact?.jobs.length ?? 0) > 0 || known.busyness.state === "busy",
    mayBeBusy: on.aside.size > 0 || hasNewerJob(on, fact),
    reportedIdleAt: idle ? provedAt : undefined,
    withdrawn: idle && fact.state === "closed" && isTakenBack(on, node, known),
    kept: on.facts.get(node.nodeId)?.keep !== undefined,
    ends: on.down.due.has(node.nodeId),
    ...(keptEnd === undefined ? {} : { keptEnd }),
  };
}

/** Whether the node was made by name, and no demand needs it, read or not. */
function isTakenBack({ weighed, aside }: Conclusion, { nodeId }: Node, known: LedgerNode): boolean {
  if (known.purpose.kind !== "named" || aside.size > 0) return false;
  return !weighed.allocation.needed.has(nodeId) && weighed.leftOut.setFor(known) === undefined;
}

/** Whether a job is reported that may have begun after the moment that the status shows: a status may lag behind. */
function hasNewerJob({ observation, policy }: Conclusion, fact: HostFact | undefined): boolean {
  if (fact === undefined || fact.jobs.length === 0) return false;
  const { reportedAt } = fact;
  return reportedAt === undefined || observation.snapshot.at < plusSeconds(reportedAt, policy.lagSeconds);
}
