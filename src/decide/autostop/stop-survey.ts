import type { Bodies } from "../../domain/bodies.ts";
import type { Node } from "../../domain/cluster.ts";
import type { ArrayName, NodeId, Digest } from "../../domain/ids.ts";
import type { LedgerNode, NodeBinding } from "../../domain/ledger.ts";
import { managedArrays } from "../../domain/exclusive.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Questions, UnhealthyHold } from "../../domain/questions.ts";
import { NO_QUESTIONS } from "../../domain/questions.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { isEarly } from "../../domain/record.ts";
import { stoppingNodes } from "../intents/stops.ts";
import { outageSeconds } from "../pace/observation-times.ts";
import { isResting } from "../pace/outage.ts";
import type { HostFact } from "../senders/host-facts.ts";
import { hostFacts } from "../senders/host-facts.ts";
import { heldByLimit, limitOf } from "./unhealthy.ts";
import { FRESH_REPORT_SECONDS } from "../stops/scale-down.ts";
import type { Asking } from "../stops/questions.ts";

/** One node's question "may I stop?" (cyclecloud-wire.md D). The array is the one that the token of its stop URL is for. */
export interface StopCall extends Asking, Caller {
  readonly array: ArrayName;
  /** The node calls itself unhealthy. It is stopped whatever the demand is, unless a job is on it or too many others were (unhealthy.ts). */
  readonly unhealthy: boolean;
  /** False: the node only asks about its earlier question, and no stop begins. */
  readonly begin: boolean;
  /** This instance cannot send a stop, and another one can. */
  readonly unsendable?: true;
}

/** The answer to a question. `undrain`: the node may take work again, because it has no mark, and no stop of it may still take effect. */
export type StopVerdict =
  /** Marked. It is stopped if nothing speaks against it when the record is read again. */
  | { readonly kind: "marked"; readonly node: NodeId }
  /** Its stop is committed and is going to be sent. Only `confirmStops` gives this verdict. */
  | { readonly kind: "granted"; readonly node: NodeId }
  /** CycleCloud is stopping it, or it went within the last hour. */
  | { readonly kind: "stopping" }
  /** It must stay. `why` names no request set, because every caller with the stop URL reads it. `held`: it calls itself unhealthy. */
  | {
      readonly kind: "needed";
      readonly why: string;
      readonly undrain: boolean;
      readonly held?: UnhealthyHold;
    }
  | { readonly kind: "unknown-instance" }
  /** No observation shows such an instance, and none is fresh enough to exclude it: an observation is needed. */
  | { readonly kind: "not-seen-yet"; readonly why: string }
  /** The stop URL belongs to another array. With `unbound`: the call does not carry the node's token. */
  | { readonly kind: "forbidden"; readonly undrain: boolean; readonly unbound?: true }
  /** `underWay`: a stop of the node is under way, or its question is still being decided. The node stays closed while it hears that. */
  | {
      readonly kind: "cannot-tell";
      readonly why: string;
      readonly undrain: boolean;
      readonly underWay?: true;
    };

/** A verdict that needs no confirmation. */
export type FinalVerdict = Exclude<StopVerdict, { kind: "marked" }>;

/** A verdict by which the node stays. */
export type Stay = Extract<StopVerdict, { kind: "needed" | "cannot-tell" }>;

/** The verdicts on all calls of one moment, and the state to save before they are answered. */
export interface StopDecision {
  /** In the order of the calls. */
  readonly verdicts: readonly StopVerdict[];
  /** The nodes that ask and are fit to work: they are up. */
  readonly up: ReadonlySet<NodeId>;
  readonly record: ClusterRecord;
  /** The same object if there is nothing to note. */
  readonly questions: Questions;
}

/** The facts by which all calls of one moment are judged. Computed once. */
export interface Survey {
  /** The nodes that ask, as the last observation showed them. */
  readonly nodes: ReadonlyMap<NodeId, Node>;
  readonly questions: Questions;
  /** What schedulers report, by host name. */
  readonly facts: ReadonlyMap<string, HostFact>;
  /** The tokens that calls must carry. */
  readonly bindings: Bindings;
  /** Nodes whose stop is committed. */
  readonly stopping: ReadonlySet<NodeId>;
  /** The node arrays of the last observation. Undefined before the first one. */
  readonly listed: ReadonlySet<ArrayName> | undefined;
  /** Those of them that are ours. */
  readonly managed: ReadonlySet<ArrayName> | undefined;
  readonly policy: Policy;
  /** When the last believed observation began. Undefined: there was none. */
  readonly seenAt: Instant | undefined;
  /** It began too soon after a standstill of CycleCloud to prove that a stop was lost. */
  readonly early?: true;
  /** The record is so new that stops may be under way that it does not know. */
  readonly isForgetful: boolean;
  /** The verdicts on those of these unhealthy nodes that must wait, because enough others were stopped (unhealthy.ts). */
  readonly limited: (nodes: Iterable<NodeId>) => ReadonlyMap<NodeId, StopVerdict & Stay>;
  /** Why the observation cannot be used to judge any node. Undefined: it can. */
  readonly blind: string | undefined;
  /** Why scale-down pauses. Undefined: it does not. */
  readonly resting: string | undefined;
}

/** Collects the facts for calls of the nodes `asked`. */
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
    // The record may know of a standstill that the observation did not.
    ...(bodies.seen !== undefined && isEarly(record, bodies.seen.at) ? { early: true as const } : {}),
    isForgetful:
      record.epochAt !== undefined && secondsBetween(record.epochAt, now) < forgottenSeconds(policy),
    blind: whyBlind(record, bodies, policy, now),
    resting: whyResting(record, policy, now),
  };
}

function whyBlind(record: ClusterRecord, bodies: Bodies, policy: Policy, now: Instant): string | undefined {
  if (bodies.seen === undefined) return "the cluster has not been observed yet";
  const age = secondsBetween(bodies.seen.at, now);
  return age > outageSeconds(record, policy)
    ? `the last observation of the cluster is ${Math.round(age)} s old`
    : undefined;
}

function whyResting(record: ClusterRecord, policy: Policy, now: Instant): string | undefined {
  return isResting(record, policy, now)
    ? "scale-down rests after a start or an interruption of the autoscaler"
    : undefined;
}

/** The verdicts on those of these unhealthy nodes that must wait, because enough others of their arrays were stopped. They stay closed. */
function limitUnhealthy(
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

/** How long after the loss of an epoch or a ledger its stops may still arrive and show. */
function forgottenSeconds({ callLimitSeconds, lagSeconds }: Policy): number {
  return callLimitSeconds + lagSeconds;
}

/** By node, the token that its calls must carry. */
type Bindings = ReturnType<typeof bindCallers>;

/** The tokens that calls must carry, of which some may be new. A call with the stop URL of another array binds no node. */
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

// A node's own token (docs/nodes.md, What a stop URL allows; docs/decisions.md, "A node chooses its own token, bound at first use"). All
// nodes of an array have the same stop URL, so it does not show which of them calls. A node may choose a token and send it with each call.
// The first token that arrives for an instance binds it: from then on a call for this instance counts only with that token. A node that
// never sends a token needs none. No route takes a binding back: it would be one more way to take over a node.

/** The identity that a call claims (docs/decisions.md, "The caller's address is not checked"). */
interface Caller {
  readonly instance: string;
  /** The digest of the token that the call carries. Absent: it carries none. */
  readonly token?: Digest;
}

/** The binding of the node for this instance. Undefined if it has none. The binding of an earlier VM does not count. */
function bindingOf({ bound }: LedgerNode, instance: string): NodeBinding | undefined {
  return bound?.instanceId === instance ? bound : undefined;
}

/** The bindings that count for calls of one moment, and which of them are new. If two calls bring a first token, the first one binds. */
function bindCallers(
  callers: readonly { readonly known: LedgerNode; readonly call: Caller }[],
): ReadonlyMap<NodeId, { readonly binding: NodeBinding; readonly isNew: boolean }> {
  const bindings = new Map<NodeId, { readonly binding: NodeBinding; readonly isNew: boolean }>();
  for (const { known, call } of callers) {
    if (bindings.has(known.nodeId)) continue;
    const { instance, token } = call;
    const binding = bindingOf(known, instance);
    if (binding !== undefined) bindings.set(known.nodeId, { binding, isNew: false });
    else if (token !== undefined)
      bindings.set(known.nodeId, { binding: { token, instanceId: instance }, isNew: true });
  }
  return bindings;
}

/**
 * Whether the call may speak for its node: the node is not bound, or the call carries its token, or a report called the host idle within the
 * last 30 s. Such a report may stop the node by itself. So a node that has lost its token can still stop where a scheduler reports.
 */
export function maySpeak(
  binding: NodeBinding | undefined,
  token: Digest | undefined,
  fact: HostFact | undefined,
  now: Instant,
): boolean {
  return binding === undefined || binding.token === token || isReportedIdle(fact, now);
}

function isReportedIdle(fact: HostFact | undefined, now: Instant): boolean {
  if (fact?.reportedAt === undefined || fact.jobs.length > 0 || fact.state === "open") return false;
  return secondsBetween(fact.reportedAt, now) <= FRESH_REPORT_SECONDS;
}
