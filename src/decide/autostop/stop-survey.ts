import type { Bodies } from "../../domain/bodies.ts";
import type { Node } from "../../domain/cluster.ts";
import type { ArrayName, NodeId } from "../../domain/ids.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import { managedArrays } from "../../domain/managed-arrays.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Questions } from "../../domain/questions.ts";
import { NO_QUESTIONS } from "../../domain/questions.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { isEarly } from "../../domain/observation.ts";
import { stoppingNodes } from "../intents/open-intents.ts";
import { outageSeconds } from "../pace/observation-times.ts";
import { isResting } from "../pace/outage.ts";
import type { HostFact } from "../senders/host-facts.ts";
import { hostFacts } from "../senders/host-facts.ts";
import type { Stay, StopCall, StopVerdict } from "./stop-verdict.ts";
import { bindCallers } from "./node-token.ts";
import { heldByLimit, limitOf } from "./unhealthy.ts";

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
export type Bindings = ReturnType<typeof bindCallers>;

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
