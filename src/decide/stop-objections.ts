import type { Instant, Seconds } from "../domain/units.ts";
import { secondsBetween } from "../domain/units.ts";
import type { LedgerNode } from "../domain/ledger.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { Questions, UnhealthyHold } from "../domain/questions.ts";
import { NO_QUESTIONS } from "../domain/questions.ts";
import type { Policy } from "../domain/policy.ts";
import { actsOn } from "../domain/mode.ts";
import { managedArrays } from "../domain/managed-arrays.ts";
import type { ArrayName, NodeId } from "../domain/ids.ts";
import { entryOfNode } from "../domain/hosts.ts";
import type { Node } from "../domain/cluster.ts";
import type { Bodies } from "../domain/bodies.ts";
import { isOurs, ownershipText } from "../domain/exclusive.ts";
import type { FinalVerdict, Stay, StopCall, StopVerdict } from "./stop-verdict.ts";
import type { HostFact } from "./senders/host-facts.ts";
import { hostFacts } from "./senders/host-facts.ts";
import { isResting } from "./pace/outage.ts";
import { outageSeconds } from "./pace/observation-times.ts";
import { DECIDE_AGAIN_SECONDS } from "./nodes/excluded.ts";
import { STALE_MARK_SECONDS, isRecordDoubted } from "./nodes/doubt.ts";
import { stoppingNodes } from "./intents/open-intents.ts";
import { NEEDED_BY } from "./spare-nodes.ts";
import { heldByLimit, limitOf } from "./stops/unhealthy.ts";
import { bindCallers } from "./stops/node-token.ts";

/** What every call of one moment is judged by, worked out once. */
export interface Survey {
  /** The nodes that are asked about, as the last observation saw them. */
  readonly nodes: ReadonlyMap<NodeId, Node>;
  readonly questions: Questions;
  readonly facts: ReadonlyMap<string, HostFact>;
  /** Whose calls must carry which token. */
  readonly bindings: Bindings;
  readonly stopping: ReadonlySet<NodeId>;
  /** The node arrays of the last observation, and which of them are ours. */
  readonly listed: ReadonlySet<ArrayName> | undefined;
  readonly managed: ReadonlySet<ArrayName> | undefined;
  readonly policy: Policy;
  /** When the last believed observation was begun. */
  readonly seenAt: Instant | undefined;
  /** The record is so young that stops may be under way of which it knows nothing. */
  readonly isForgetful: boolean;
  /** Of nodes that call themselves unhealthy: what those are told that must wait, as enough others went (unhealthy.ts). */
  readonly limited: (nodes: Iterable<NodeId>) => ReadonlyMap<NodeId, StopVerdict & Stay>;
  /** Why nothing can be told of any node just now. */
  readonly blind: string | undefined;
  readonly resting: string | undefined;
}

export function surveyOf(
  record: ClusterRecord,
  bodies: Bodies,
  asked: ReadonlySet<NodeId>,
  policy: Policy,
  now: Instant,
  bindings: Bindings = new Map(),
): Survey {
  const nodes = new Map<NodeId, Node>();
  for (const node of bodies.seen?.nodes ?? []) if (asked.has(node.nodeId)) nodes.set(node.nodeId, node);
  const facts = hostFacts(record, bodies, now, policy.senders);
  return {
    nodes,
    questions: bodies.questions ?? NO_QUESTIONS,
    facts,
    bindings,
    limited: (ids) => limitUnhealthy(record, bodies, facts, ids, now),
    stopping: stoppingNodes(record.intents),
    listed: bodies.seen === undefined ? undefined : new Set(bodies.seen.arrays.map(({ name }) => name)),
    managed: bodies.seen === undefined ? undefined : managedArrays(bodies.seen, policy),
    policy,
    seenAt: bodies.seen?.at,
    isForgetful:
      record.epochAt !== undefined && secondsBetween(record.epochAt, now) < forgottenSeconds(policy),
    blind: blind(record, bodies, policy, now),
    resting: resting(record, policy, now),
  };
}

export function unsettled(why: string): Stay {
  return { kind: "cannot-tell", why, undrain: false };
}

/** What is known of a stop of the node; undefined: none can be under way. */
export function judgeStop(view: Survey, known: LedgerNode, now: Instant): FinalVerdict | undefined {
  const { draining, goneAt } = known;
  const isAsked = draining?.sentAt !== undefined;
  if (goneAt !== undefined)
    return isAsked || secondsBetween(goneAt, now) >= GONE_SECONDS
      ? { kind: "stopping" }
      : unsettled("the last observation does not show the node");
  if (isStopFresh(known, view.seenAt ?? now)) return { kind: "stopping" };
  const node = view.nodes.get(known.nodeId);
  if (node?.phase === "going" || node?.phase === "off") return { kind: "stopping" };
  return view.stopping.has(known.nodeId) ? unsettled("its stop is under way; ask again") : undefined;
}

/** Doubt whether the node is there at all, or wanted (docs/protocol.md, Doubt); undefined: there is none, or it is unfit and may go. */
export function judgeRecord(
  { nodes, policy }: Survey,
  known: LedgerNode,
  unhealthy: boolean,
  now: Instant,
): FinalVerdict | undefined {
  const node = nodes.get(known.nodeId);
  if (node?.missing !== undefined) return unsettled("the last observation does not show the node");
  if (unhealthy || node === undefined || !isRecordDoubted(node, known, policy, now)) return undefined;
  return unsettled("CycleCloud's record of the node does not say whether it is wanted");
}

/** Whether a stop of the node may take effect, now or later. */
export function mayStop(view: Survey, known: LedgerNode, now: Instant): boolean {
  return judgeStop(view, known, now) !== undefined || isFreshMark(known, now);
}

/** Marked by a question that may still be on its way to its stop. */
export function isFreshMark({ draining }: LedgerNode, now: Instant): boolean {
  return (
    draining !== undefined &&
    draining.sentAt === undefined &&
    secondsBetween(draining.since, now) < STALE_MARK_SECONDS
  );
}

export type Objection =
  | { readonly kind: "cannot-tell"; readonly why: string }
  | { readonly kind: "needed"; readonly why: string; readonly held?: UnhealthyHold };

/** A node that calls itself unhealthy takes no more jobs, so it is never told to open for its objection. */
export function staying(objection: Objection, undrain: boolean): Stay {
  const isHeld = objection.kind === "needed" && objection.held !== undefined;
  return { ...objection, undrain: undrain && !isHeld };
}

/**
 * What speaks against stopping a node, whatever the demand is. A node that calls itself unhealthy needs no fresh observation and no idle time. But
 * while a job is on it, it stays: anybody who holds the stop URL of its array could have said that it is unhealthy.
 */
export function objectionTo(view: Survey, known: LedgerNode, unhealthy: boolean): Objection | undefined {
  const node = view.nodes.get(known.nodeId);
  if (node?.keepAlive === true) return { kind: "needed", why: "KeepAlive is set" };
  if (!actsOn(view.policy, known.array)) return { kind: "needed", why: "observe mode" };
  // Whether it is ours, and what it is needed for, is not known then.
  if (view.listed?.has(known.array) === false)
    return { kind: "cannot-tell", why: `the last observation did not show node array "${known.array}"` };
  if (view.managed?.has(known.array) === false) {
    return { kind: "needed", why: `node array "${known.array}" is not autoscaled` };
  }
  if (!isOurs(known, view.policy)) return { kind: "needed", why: ownershipText(known, view.policy) };
  const fact = entryOfNode(view.facts, node ?? known);
  const job = fact?.jobs[0];
  const busy = job === undefined ? undefined : { kind: "needed" as const, why: `job ${job} is on it` };
  if (unhealthy) return busy === undefined ? undefined : { ...busy, held: "job" };
  const unsure = view.blind ?? view.resting;
  if (unsure !== undefined) return { kind: "cannot-tell", why: unsure };
  return busy ?? (fact?.hasAmounts === true ? plannedThere(known) : undefined);
}

/** A job may run there of which nobody says so, while another set says that the host has no room (nodes/planned-beside.ts). */
function plannedThere({ plannedBeside }: LedgerNode): Objection | undefined {
  const [first] = plannedBeside ?? [];
  return first === undefined
    ? undefined
    : { kind: "needed", why: `${NEEDED_BY}${first.set}/${first.demand}, which was planned there` };
}

/**
 * CycleCloud has accepted its stop, and no observation proves the contrary. A node that such an observation still shows wanted was forgotten there: it is
 * decided again, as a yes now would be a promise that nobody keeps.
 */
function isStopFresh({ draining }: LedgerNode, seenAt: Instant): boolean {
  return draining?.sentAt !== undefined && secondsBetween(draining.sentAt, seenAt) < DECIDE_AGAIN_SECONDS;
}

function blind(record: ClusterRecord, bodies: Bodies, policy: Policy, now: Instant): string | undefined {
  if (bodies.seen === undefined) return "the cluster has not been observed yet";
  const age = secondsBetween(bodies.seen.at, now);
  return age > outageSeconds(record, policy)
    ? `the last observation of the cluster is ${Math.round(age)} s old`
    : undefined;
}

function resting(record: ClusterRecord, policy: Policy, now: Instant): string | undefined {
  return isResting(record, policy, now)
    ? "scale-down rests after a start or an interruption of the autoscaler"
    : undefined;
}

export function isUnhealthy(known: LedgerNode | undefined): boolean {
  return known?.draining?.by === "unhealthy";
}

/** A node that the observations do not show is gone for certain after so long. */
export const GONE_SECONDS: Seconds = 60;

/** Whose calls must carry which token. A call with the stop URL of another array binds nobody. */
export function bindingsOf(
  calls: readonly StopCall[],
  byInstance: ReadonlyMap<string, LedgerNode>,
): Bindings {
  return bindCallers(
    calls.flatMap((call) => {
      const known = byInstance.get(call.instance);
      return known === undefined || known.array !== call.array ? [] : [{ known, call }];
    }),
  );
}

/** What those of these unhealthy nodes are told of whose arrays enough others went. They stay closed. */
export function limitUnhealthy(
  record: ClusterRecord,
  { ledger }: Bodies,
  facts: Survey["facts"],
  nodes: Iterable<NodeId>,
  now: Instant,
): ReadonlyMap<NodeId, StopVerdict & Stay> {
  const told = new Map<NodeId, StopVerdict & Stay>();
  for (const { nodeId, array } of heldByLimit(record, ledger, facts, nodes, now)) {
    const why = `at most ${limitOf(array, ledger)} nodes of node array "${array}" go as unhealthy within an hour, unless a scheduler reports their hosts closed or without jobs`;
    told.set(nodeId, { kind: "needed", why, undrain: false, held: "limit" });
  }
  return told;
}

/** Stops of an epoch that ended, or of a ledger that was lost, may arrive, and show, so long after it. */
export function forgottenSeconds({ callLimitSeconds, lagSeconds }: Policy): number {
  return callLimitSeconds + lagSeconds;
}

export type Bindings = ReturnType<typeof bindCallers>;
