import type { Node, Snapshot } from "../domain/cluster.ts";
import type { ArrayName, NodeId, Owner } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { ClusterRecord, Ledger, LedgerNode } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { secondsBetween } from "../domain/units.ts";
import { entryOfNode } from "./hosts.ts";
import type { HostFact } from "./observe.ts";
import { hostFacts, managedArrays } from "./observe.ts";
import { DECIDE_AGAIN_SECONDS, isForeign } from "./scale-down.ts";
import type { Weighing } from "./reconcile.ts";
import { doubtedNodes, isRecordDoubted, stoppingNodes } from "./doubt.ts";
import { commitEffects, demandsInForce, excludedNodes, supplyOf } from "./reconcile.ts";
import { backOff, undrain } from "./settle.ts";
import { poolsInForce } from "./pools.ts";
import { dynamicsOf } from "./dynamic-arrays.ts";
import type { Spare } from "./spare.ts";
import { findSpare } from "./spare.ts";
import { premisesOf, Recall } from "./recall.ts";
import { bindReported } from "./bind-reported.ts";
import { reportedHosts } from "./reported-hosts.ts";
import { readReports } from "./scheduler-only.ts";
import { lapseParts } from "./accept.ts";

/** One node's question "may I stop?" (cyclecloud-wire.md D). The array is the one that its token is for. */
export interface StopCall {
  readonly instance: string;
  readonly array: ArrayName;
  /** The node finds itself unfit for work: it may always go. */
  readonly unhealthy: boolean;
}

export type StopVerdict =
  /** Marked; it goes if nothing has come up when the record is read again. */
  | { readonly kind: "marked"; readonly node: NodeId }
  /** Will be stopped, is being stopped, or has gone within the hour. */
  | { readonly kind: "stopping" }
  /** Stay, with the reason; the caller should take work again. */
  | { readonly kind: "needed"; readonly why: string }
  | { readonly kind: "unknown-instance" }
  | { readonly kind: "forbidden" }
  | { readonly kind: "cannot-tell"; readonly why: string };

/** A node that has gone for so long has certainly gone. */
const GONE_SURE_SECONDS = 60;

type CannotTell = Extract<StopVerdict, { kind: "cannot-tell" }>;

export interface StopDecision {
  /** In the order of the calls. */
  readonly verdicts: readonly StopVerdict[];
  readonly record: ClusterRecord;
  readonly ledger: Ledger;
  readonly marked: readonly NodeId[];
}

/** The last answers of the planner about one cluster: none of them is worked out again while nothing has changed. */
export interface Recalls {
  readonly plans: Recall<Weighing>;
  readonly stops: Recall<Spare>;
}

/** Nothing has been worked out yet. */
export const noRecalls = (): Recalls => ({ plans: new Recall(), stops: new Recall() });

/**
 * Answers all calls of one moment together, so that nodes which ask at once cannot all be let go when some are needed. Decides on the
 * last believed look: cannot tell if that is older than two snapshot intervals (design.md section 3, autostop). `recall` only spares work.
 */
export function judgeStops(
  record: ClusterRecord,
  bodies: Bodies,
  calls: readonly StopCall[],
  policy: Policy,
  now: Instant,
  recall: Recalls = noRecalls(),
): StopDecision {
  // Without what has run out since the last plan: both looks at demand must see the same.
  const current = lapseParts(record, now, policy.maxExpirationSeconds);
  const byInstance = indexByInstance(bodies.ledger, calls);
  const asked = new Set([...byInstance.values()].map(({ nodeId }) => nodeId));
  const view = surveyOf(current, bodies, asked, policy, now);
  const first = calls.map((call) => judgeAlone(view, byInstance.get(call.instance), call, now));
  const marks = first.flatMap((verdict) => (verdict.kind === "marked" ? [verdict.node] : []));
  const unfit = new Set(
    first.flatMap((verdict, index) =>
      verdict.kind === "marked" && calls[index]?.unhealthy === true ? [verdict.node] : [],
    ),
  );
  const askers = without(new Set(marks), unfit);
  const free = spareNodes(current, bodies, { askers, unfit }, policy, now, recall);
  const verdicts = first.map((verdict): StopVerdict => {
    if (verdict.kind !== "marked" || unfit.has(verdict.node) || free.spare.has(verdict.node)) return verdict;
    return { kind: "needed", why: free.why(verdict.node) };
  });
  const ledger = unmark(bodies.ledger, byInstance, calls, verdicts, now);
  // Taking a mark back is a decision too: nobody may go on with one that was made on the mark.
  const counted = ledger === bodies.ledger ? record : { ...record, plan: record.plan + 1 };
  return mark(counted, ledger, calls, verdicts, now);
}

/** What every call of one moment is judged by, worked out once. */
interface Survey {
  /** The nodes that are asked about, as the last look saw them. */
  readonly nodes: ReadonlyMap<NodeId, Node>;
  readonly facts: ReadonlyMap<string, HostFact>;
  readonly stopping: ReadonlySet<NodeId>;
  readonly managed: ReadonlySet<ArrayName> | undefined;
  readonly policy: Policy;
  /** Why nothing can be told of any node just now. */
  readonly blind: CannotTell | undefined;
  readonly resting: CannotTell | undefined;
}

function surveyOf(
  record: ClusterRecord,
  bodies: Bodies,
  asked: ReadonlySet<NodeId>,
  policy: Policy,
  now: Instant,
): Survey {
  const nodes = new Map<NodeId, Node>();
  for (const node of bodies.seen?.nodes ?? []) if (asked.has(node.nodeId)) nodes.set(node.nodeId, node);
  return {
    nodes,
    facts: hostFacts(record, bodies, now),
    stopping: stoppingNodes(record.intents),
    managed: bodies.seen === undefined ? undefined : managedArrays(bodies.seen, policy),
    policy,
    blind: blind(bodies, policy, now),
    resting: resting(record, now),
  };
}

/** What can be said of a call without weighing it against the others. */
function judgeAlone(view: Survey, known: LedgerNode | undefined, call: StopCall, now: Instant): StopVerdict {
  if (known === undefined) return view.blind ?? { kind: "unknown-instance" };
  if (known.array !== call.array) return { kind: "forbidden" };
  if (isStopFresh(known, now)) return { kind: "stopping" };
  if (known.goneAt !== undefined) return judgeGone(known, known.goneAt, now);
  const node = view.nodes.get(known.nodeId);
  if (node?.missing !== undefined)
    return { kind: "cannot-tell", why: "CycleCloud does not list it; it is taken for gone if that goes on" };
  if (node?.phase === "going" || node?.phase === "off") return { kind: "stopping" };
  // Whoever committed the terminate may have died since: it is never replayed, and a yes now would be a promise that nobody keeps.
  if (view.stopping.has(known.nodeId))
    return { kind: "cannot-tell", why: "its stop is under way; ask again" };
  return objectionTo(view, known, call.unhealthy, now) ?? { kind: "marked", node: known.nodeId };
}

/** A node that has gone and asks all the same may be a status in error: only one that we stopped is told yes at once. */
function judgeGone(known: LedgerNode, goneAt: Instant, now: Instant): StopVerdict {
  const isOurs = known.draining?.sentAt !== undefined;
  if (isOurs || secondsBetween(goneAt, now) >= GONE_SURE_SECONDS) return { kind: "stopping" };
  return { kind: "cannot-tell", why: "CycleCloud has ceased to list it just now" };
}

/** What speaks against stopping a node, whatever the demand is. A node that is unfit for work needs neither a fresh look nor idleness. */
function objectionTo(
  view: Survey,
  known: LedgerNode,
  unhealthy: boolean,
  now: Instant,
): Extract<StopVerdict, { kind: "needed" | "cannot-tell" }> | undefined {
  const node = view.nodes.get(known.nodeId);
  if (node?.keepAlive === true) return { kind: "needed", why: "KeepAlive is set" };
  if (!view.policy.enabled)
    return { kind: "needed", why: "enabled is false in the configuration of this cluster" };
  if (view.managed?.has(known.array) === false) {
    return { kind: "needed", why: `node array "${known.array}" is not autoscaled` };
  }
  if (isForeign(known, view.policy))
    return { kind: "needed", why: "the autoscaler did not ask for this node, and stops only its own" };
  if (unhealthy) return undefined;
  const unsure = view.blind ?? view.resting;
  if (unsure !== undefined) return unsure;
  if (node !== undefined && isRecordDoubted(node, known, view.policy, now))
    return { kind: "cannot-tell", why: "CycleCloud's record of it does not say whether it is wanted" };
  const job = node === undefined ? undefined : entryOfNode(view.facts, node)?.jobs[0];
  return job === undefined ? undefined : { kind: "needed", why: `job ${job} is on it` };
}

/**
 * CycleCloud was asked to stop it a short while ago. Later a node that is still up was forgotten there, or the request was lost: it is
 * decided again, as a yes now would be a promise that nobody keeps.
 */
function isStopFresh({ draining }: LedgerNode, now: Instant): boolean {
  return draining?.sentAt !== undefined && secondsBetween(draining.sentAt, now) < DECIDE_AGAIN_SECONDS;
}

/** Gone, asked to terminate, or about to be asked. */
function isStopping(known: LedgerNode | undefined, stopping: ReadonlySet<NodeId>): boolean {
  if (known === undefined) return false;
  return known.goneAt !== undefined || known.draining?.sentAt !== undefined || stopping.has(known.nodeId);
}

function blind(bodies: Bodies, policy: Policy, now: Instant): CannotTell | undefined {
  if (bodies.seen === undefined)
    return { kind: "cannot-tell", why: "the cluster has not been looked at yet" };
  const age = secondsBetween(bodies.seen.at, now);
  if (age > 2 * policy.snapshotIntervalSeconds) {
    return { kind: "cannot-tell", why: `the last look at the cluster is ${Math.round(age)} s old` };
  }
  return undefined;
}

function resting(record: ClusterRecord, now: Instant): CannotTell | undefined {
  if (record.outage === undefined || now >= record.outage.until) return undefined;
  const missing = record.outage.awaiting.filter(
    (name) => (record.sets.get(name)?.sentAt ?? 0) <= (record.outage?.from ?? 0),
  );
  if (record.outage.awaiting.length > 0 && missing.length === 0) return undefined;
  return { kind: "cannot-tell", why: "scale-down rests after an interruption of the autoscaler" };
}

/** The callers' nodes. A VM is known by its instance id, as the callback knows no other (cyclecloud-wire.md D.2). A live node wins over a gone one. */
function indexByInstance(ledger: Ledger, calls: readonly StopCall[]): ReadonlyMap<string, LedgerNode> {
  const asked = new Set(calls.map(({ instance }) => instance));
  const index = new Map<string, LedgerNode>();
  for (const node of ledger.values()) {
    if (node.instanceId === undefined || !asked.has(node.instanceId)) continue;
    if (node.goneAt !== undefined && index.has(node.instanceId)) continue;
    index.set(node.instanceId, node);
  }
  return index;
}

interface Weighed {
  readonly spare: ReadonlySet<NodeId>;
  readonly why: (node: NodeId) => string;
}

/**
 * Which askers the demand can do without: in the whole plan, and also when only Ready nodes count as substitutes. `unfit` nodes go in any
 * case, so that they are nobody's substitute.
 */
function spareNodes(
  record: ClusterRecord,
  bodies: Bodies,
  { askers, unfit }: Readonly<Record<"askers" | "unfit", ReadonlySet<NodeId>>>,
  policy: Policy,
  now: Instant,
  recall: Recalls,
): Weighed {
  if (bodies.seen === undefined || askers.size === 0) return { spare: askers, why: () => "needed" };
  const sent = demandsInForce(record, bodies);
  // The askers' own marks, from the first of the two commits, must not hide them: they are weighed again, and with the same outcome while
  // nothing else has changed.
  const ledger = withoutMarks(bodies.ledger, askers);
  const snapshot = withUp(bodies.seen, askers);
  const out = excludedNodes(snapshot, ledger, stoppingNodes(record.intents), policy, now);
  const dynamics = dynamicsOf(sent, record.dynamicArrays ?? [], bodies.seen);
  const reports = readReports(
    reportedHosts(record, bodies, now),
    { snapshot, ledger, dynamics: dynamics.keys() },
    sent,
  );
  const demands = bindReported(sent, reports);
  const supply = supplyOf(record, {
    snapshot,
    ledger,
    policy,
    pools: poolsInForce(record, bodies),
    dynamics,
    ...(reports === undefined ? {} : { reports }),
    excluded: new Set([...out, ...unfit]),
    doubted: doubtedNodes(record, snapshot, ledger, policy, now),
    now,
  });
  const premises = premisesOf(record, supply);
  const question = { askers, excluded: supply.excluded };
  const { spare, needed } = recall.stops.answer(premises, question, (asked) => {
    const present = recall.plans.known(premises, { excluded: asked.excluded, last: undefined });
    return findSpare({ ...supply, excluded: asked.excluded }, demands, asked.askers, now, present);
  });
  return {
    spare,
    why: (node) => {
      const by = needed.get(node);
      return by === undefined ? "needed until other nodes are Ready" : `needed by ${by.join(", ")}`;
    },
  };
}

/** A node that asks is up, whatever it was at the last look: only other nodes that are up may stand in for it. */
function withUp(seen: Snapshot, askers: ReadonlySet<NodeId>): Snapshot {
  const isBehind = ({ nodeId, phase }: Node): boolean =>
    (phase === "coming" || phase === "deallocated" || phase === "unknown") && askers.has(nodeId);
  if (!seen.nodes.some(isBehind)) return seen;
  return { ...seen, nodes: seen.nodes.map((node) => (isBehind(node) ? { ...node, phase: "ready" } : node)) };
}

function withoutMarks(ledger: Ledger, nodes: ReadonlySet<NodeId>): Ledger {
  const marked = [...nodes]
    .flatMap((id) => ledger.get(id) ?? [])
    .filter(({ draining }) => draining !== undefined);
  if (marked.length === 0) return ledger;
  const next = new Map(ledger);
  for (const { draining: _gone, ...node } of marked) next.set(node.nodeId, node);
  return next;
}

function without<T>(all: ReadonlySet<T>, some: ReadonlySet<T>): ReadonlySet<T> {
  return new Set([...all].filter((item) => !some.has(item)));
}

/**
 * A node that is told to stay takes work again, so no mark of an earlier call of its own may be left: one that is still under way on
 * another instance, or that a crash has cut short, would stop a busy node, or have another created in its place.
 */
function unmark(
  ledger: Ledger,
  byInstance: ReadonlyMap<string, LedgerNode>,
  calls: readonly StopCall[],
  verdicts: readonly StopVerdict[],
  now: Instant,
): Ledger {
  const staying = verdicts.flatMap((verdict, index) => {
    const known = verdict.kind === "needed" ? byInstance.get(calls[index]?.instance ?? "") : undefined;
    return known !== undefined && isOurMark(known) ? [known] : [];
  });
  if (staying.length === 0) return ledger;
  const next = new Map(ledger);
  for (const node of staying) next.set(node.nodeId, undrain(node, now));
  return next;
}

function mark(
  record: ClusterRecord,
  ledger: Ledger,
  calls: readonly StopCall[],
  verdicts: readonly StopVerdict[],
  now: Instant,
): StopDecision {
  const marks = verdicts.flatMap((verdict, index) =>
    verdict.kind === "marked" ? [{ id: verdict.node, unhealthy: calls[index]?.unhealthy === true }] : [],
  );
  if (marks.length === 0) return { verdicts, record, ledger, marked: [] };
  const plan = record.plan + 1;
  const next = new Map(ledger);
  for (const { id, unhealthy } of marks) {
    const node = next.get(id);
    if (node === undefined) continue;
    const by = unhealthy ? "unhealthy" : "callback";
    next.set(id, { ...node, draining: { since: now, by, plan, attempts: node.draining?.attempts ?? 0 } });
  }
  return { verdicts, record: { ...record, plan }, ledger: next, marked: marks.map(({ id }) => id) };
}

/**
 * The look after the mark: the record as it is now, with whatever demand has come since (the node itself has said that it is idle).
 * What is still spare is stopped; the rest is taken out of draining again.
 */
export function confirmStops(
  record: ClusterRecord,
  bodies: Bodies,
  marked: readonly NodeId[],
  policy: Policy,
  now: Instant,
  owner: Owner,
  recall: Recalls = noRecalls(),
): {
  readonly record: ClusterRecord;
  readonly ledger: Ledger;
  readonly going: ReadonlySet<NodeId>;
  readonly why: (node: NodeId) => string;
} {
  // Without what has run out since the last plan: both looks at demand must see the same.
  const current = lapseParts(record, now, policy.maxExpirationSeconds);
  const stopping = stoppingNodes(record.intents);
  // Another call of the same node, on another instance, may have come to its end first.
  const underWay = marked.filter((id) => isStopping(bodies.ledger.get(id), stopping));
  const ours = marked.filter((id) => !underWay.includes(id) && isOurMark(bodies.ledger.get(id)));
  const view = surveyOf(current, bodies, new Set(ours), policy, now);
  const objections = objectionsTo(view, bodies.ledger, ours, now);
  const going = ours.filter((id) => !objections.has(id));
  const unhealthy = going.filter((id) => isUnhealthy(bodies.ledger.get(id)));
  const askers = without(new Set(going), new Set(unhealthy));
  const free = spareNodes(current, bodies, { askers, unfit: new Set(unhealthy) }, policy, now, recall);
  const stopped = new Set([...unhealthy, ...[...askers].filter((id) => free.spare.has(id))]);
  const ledger = new Map(bodies.ledger);
  for (const id of ours) {
    const node = ledger.get(id);
    if (node !== undefined && !stopped.has(id)) ledger.set(id, undrain(node, now));
  }
  const paused = pauseUnhealthy(
    record,
    unhealthy.flatMap((id) => view.nodes.get(id) ?? []),
    now,
  );
  const counted = { ...paused, plan: record.plan + 1 };
  return {
    record: commitEffects(counted, { terminates: [...stopped] }, now, owner),
    ledger,
    going: new Set([...underWay, ...stopped]),
    why: (node) => objections.get(node) ?? free.why(node),
  };
}

/** Why each of these nodes is to stay, where something has come up since it was marked. */
function objectionsTo(
  view: Survey,
  ledger: Ledger,
  ids: readonly NodeId[],
  now: Instant,
): ReadonlyMap<NodeId, string> {
  const objections = new Map<NodeId, string>();
  for (const id of ids) {
    const known = ledger.get(id);
    const objection = known === undefined ? undefined : objectionTo(view, known, isUnhealthy(known), now);
    if (objection !== undefined) objections.set(id, objection.why);
  }
  return objections;
}

function isUnhealthy(known: LedgerNode | undefined): boolean {
  return known?.draining?.by === "unhealthy";
}

function isOurMark(node: LedgerNode | undefined): boolean {
  const draining = node?.draining;
  return (
    draining !== undefined &&
    draining.sentAt === undefined &&
    (draining.by === "callback" || draining.by === "unhealthy")
  );
}

/** A node that calls itself unhealthy counts against its bucket (design.md section 4, Autostop). */
function pauseUnhealthy(record: ClusterRecord, nodes: readonly Node[], now: Instant): ClusterRecord {
  return nodes.reduce((next, node) => {
    const bucket = { array: node.array, machineType: node.machineType };
    return backOff(next, bucket, "unhealthy", `${node.name} asked to be stopped as unhealthy`, now);
  }, record);
}
