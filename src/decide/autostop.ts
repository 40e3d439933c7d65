import type { Node, Snapshot } from "../domain/cluster.ts";
import type { ArrayName, NodeId, Owner } from "../domain/ids.ts";
import { actsOn } from "../domain/mode.ts";
import type { Policy } from "../domain/policy.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { Question, Questions, UnhealthyHold } from "../domain/questions.ts";
import { NO_QUESTIONS } from "../domain/questions.ts";
import type { ClusterRecord, Draining, Ledger, LedgerNode, NodeBinding } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { plusSeconds, secondsBetween } from "../domain/units.ts";
import { entryOfNode } from "../domain/hosts.ts";
import type { HostFact } from "./nodes/ledger.ts";
import { hostFacts, managedArrays } from "./nodes/ledger.ts";
import { factOfNode } from "./nodes/planned-beside.ts";
import { heldNodes } from "./stops/held.ts";
import { isForeign } from "./stops/scale-down.ts";
import type { Caller } from "./stops/node-token.ts";
import { bindCallers, maySpeak } from "./stops/node-token.ts";
import type { Asking } from "./stops/questions.ts";
import {
  isOvertaken,
  noteAsked,
  noteBinding,
  noteMark,
  noteRefused,
  noteStay,
  noteUnhealthy,
} from "./stops/questions.ts";
import type { Weighing } from "./reconcile.ts";
import { STALE_MARK_SECONDS, doubtedNodes, isRecordDoubted } from "./nodes/doubt.ts";
import { admitDemands } from "./senders/admit.ts";
import { commitEffects, supplyOf } from "./reconcile.ts";
import { backOff } from "./intents/back-off.ts";
import { outageSeconds } from "./pace/observation-times.ts";
import { isResting } from "./pace/outage.ts";
import { poolsInForce } from "./constraints/shared-pools.ts";
import { dynamicsOf } from "./world/dynamic-arrays.ts";
import type { Spare } from "./need/spare.ts";
import { findSpare } from "./need/spare.ts";
import { premisesOf, Recall } from "./need/recall.ts";
import { bindReported } from "./world/bind-reported.ts";
import { reportedHosts } from "./world/reported-hosts.ts";
import { readReports } from "./world/scheduler-only.ts";
import { lapseParts } from "./record/accept.ts";
import { heldByLimit, limitOf, noteUnhealthyStops } from "./stops/unhealthy.ts";
import { stoppingNodes } from "./intents/open-intents.ts";
import { DECIDE_AGAIN_SECONDS, excludedNodes } from "./nodes/excluded.ts";

/** One node's question "may I stop?" (cyclecloud-wire.md D). The array is the one that the token of its stop URL is for. */
export interface StopCall extends Asking, Caller {
  readonly array: ArrayName;
  /** The node finds itself unfit for work: it goes whatever the demand is, unless a job is on it or too many others went (unhealthy.ts). */
  readonly unhealthy: boolean;
  /** False: the node asks what has become of its earlier questions, and no stop begins. */
  readonly begin: boolean;
}

/** `undrain`: the record shows no mark of the node and no stop that may still take effect, so it may take work again. */
export type StopVerdict =
  /** Marked; it goes if nothing has come up when the record is read again. */
  | { readonly kind: "marked"; readonly node: NodeId }
  /** Its stop is committed, and is to be sent. Only {@link confirmStops} says so. */
  | { readonly kind: "granted"; readonly node: NodeId }
  /** CycleCloud is stopping it, or it has gone within the hour. */
  | { readonly kind: "stopping" }
  /** Stay, with the reason; the caller should take work again if `undrain` says so. `held`: it calls itself unhealthy. */
  | {
      readonly kind: "needed";
      readonly why: string;
      readonly undrain: boolean;
      readonly held?: UnhealthyHold;
    }
  | { readonly kind: "unknown-instance" }
  /** No look shows such an instance, and none is fresh enough to say that there is none: one should be begun. */
  | { readonly kind: "not-seen-yet"; readonly why: string }
  /** The stop URL is another array's; or, with `unbound`, the call does not carry the token that this node's calls must carry. */
  | { readonly kind: "forbidden"; readonly undrain: boolean; readonly unbound?: true }
  | { readonly kind: "cannot-tell"; readonly why: string; readonly undrain: boolean };

/** A verdict that lasts: there is nothing left to confirm. */
export type FinalVerdict = Exclude<StopVerdict, { kind: "marked" }>;

type Stay = Extract<StopVerdict, { kind: "needed" | "cannot-tell" }>;

export interface StopDecision {
  /** In the order of the calls. */
  readonly verdicts: readonly StopVerdict[];
  readonly record: ClusterRecord;
  /** The very same where nothing is to be noted. */
  readonly questions: Questions;
}

/** A question is too old to begin anything so long after it reached a host: the node has given up waiting, and may have opened. */
export const PATIENCE_SECONDS = 20;
/** An instance that no look shows is unknown only if a look is not older than this: a node may be newer than the look. */
const UNKNOWN_LOOK_SECONDS = 45;
/** A node that the looks do not show is gone for certain after so long. */
const GONE_SECONDS = 60;

/** The last answers of the planner about one cluster: none of them is worked out again while nothing has changed. */
export interface Recalls {
  readonly plans: Recall<Weighing>;
  /** Of the plans of the virtual fleet. */
  readonly virtual: Recall<Weighing>;
  readonly stops: Recall<Spare>;
}

/** Nothing has been worked out yet. */
export const noRecalls = (): Recalls => ({ plans: new Recall(), virtual: new Recall(), stops: new Recall() });

/**
 * Answers all calls of one moment together, so that nodes which ask at once cannot all be let go when some are needed. Decides on the
 * last believed look: cannot tell if that is older than two snapshot intervals. What a node is told is in `questions`: its mark, or that
 * it is to stay (docs/protocol.md, Questions of nodes). `recall` only spares work.
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
  const view = surveyOf(current, bodies, asked, policy, now, bindingsOf(calls, byInstance));
  const first = calls.map((call) => judgeAlone(view, byInstance.get(call.instance), call, now));
  const marks = first.flatMap((verdict) => (verdict.kind === "marked" ? [verdict.node] : []));
  const sick = new Set(
    first.flatMap((verdict, index) =>
      verdict.kind === "marked" && calls[index]?.unhealthy === true ? [verdict.node] : [],
    ),
  );
  const limited = view.limited(sick);
  const askers = without(new Set(marks), sick);
  const free = spareNodes(current, bodies, { askers, unfit: sick }, policy, now, recall);
  const verdicts = first.map((verdict): StopVerdict => {
    if (verdict.kind !== "marked" || free.spare.has(verdict.node)) return verdict;
    if (sick.has(verdict.node)) return limited.get(verdict.node) ?? verdict;
    const unknown = free.unknown.get(verdict.node);
    if (unknown !== undefined) return unsettled(unknown);
    return { kind: "needed", why: free.why(verdict.node), undrain: !view.isForgetful };
  });
  return noteVerdicts(record, bodies, view, byInstance, calls, verdicts, now);
}

/** Whose calls must carry which token. A call with the stop URL of another array binds nobody. */
function bindingsOf(calls: readonly StopCall[], byInstance: ReadonlyMap<string, LedgerNode>): Bindings {
  return bindCallers(
    calls.flatMap((call) => {
      const known = byInstance.get(call.instance);
      return known === undefined || known.array !== call.array ? [] : [{ known, call }];
    }),
  );
}

/** What those of these unhealthy nodes are told of whose arrays enough others went. They stay closed. */
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

/** Stops of an epoch that ended, or of a ledger that was lost, may arrive, and show, so long after it. */
function forgottenSeconds({ callLimitSeconds, lagSeconds }: Policy): number {
  return callLimitSeconds + lagSeconds;
}

type Bindings = ReturnType<typeof bindCallers>;

/** What every call of one moment is judged by, worked out once. */
interface Survey {
  /** The nodes that are asked about, as the last look saw them. */
  readonly nodes: ReadonlyMap<NodeId, Node>;
  readonly questions: Questions;
  readonly facts: ReadonlyMap<string, HostFact>;
  /** Whose calls must carry which token. */
  readonly bindings: Bindings;
  readonly stopping: ReadonlySet<NodeId>;
  /** The node arrays of the last look, and which of them are ours. */
  readonly listed: ReadonlySet<ArrayName> | undefined;
  readonly managed: ReadonlySet<ArrayName> | undefined;
  readonly policy: Policy;
  /** When the last believed look was begun. */
  readonly seenAt: Instant | undefined;
  /** The record is so young that stops may be under way of which it knows nothing. */
  readonly isForgetful: boolean;
  /** Of nodes that call themselves unhealthy: what those are told that must wait, as enough others went (unhealthy.ts). */
  readonly limited: (nodes: Iterable<NodeId>) => ReadonlyMap<NodeId, StopVerdict & Stay>;
  /** Why nothing can be told of any node just now. */
  readonly blind: string | undefined;
  readonly resting: string | undefined;
}

function surveyOf(
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

/** What can be said of a call without weighing it against the others. */
function judgeAlone(view: Survey, known: LedgerNode | undefined, call: StopCall, now: Instant): StopVerdict {
  if (known === undefined) return judgeUnknown(view, now);
  const mayOpen = (): boolean => !view.isForgetful && !mayStop(view, known, now);
  if (known.array !== call.array) return { kind: "forbidden", undrain: mayOpen() };
  const bound = view.bindings.get(known.nodeId)?.binding;
  if (!maySpeak(bound, call.token, factOfNode(view.facts, known, known), now))
    return { kind: "forbidden", undrain: mayOpen(), unbound: true };
  const settled = judgeStop(view, known, now) ?? judgeRecord(view, known, call.unhealthy, now);
  if (settled !== undefined) return settled;
  if (isOvertaken(view.questions.get(known.nodeId), call, now))
    return unsettled("a newer question of this node was answered");
  if (secondsBetween(call.arrivedAt, now) >= PATIENCE_SECONDS)
    return unsettled("the question waited too long here; ask again");
  const undrain = !view.isForgetful;
  const objection = objectionTo(view, known, call.unhealthy);
  if (objection !== undefined) return staying(objection, undrain);
  if (call.begin) return { kind: "marked", node: known.nodeId };
  // A question on another instance may be about to commit the stop that this one asks about.
  if (isFreshMark(known, now)) return unsettled("its stop is being decided; ask again");
  const limited = call.unhealthy ? view.limited([known.nodeId]).get(known.nodeId) : undefined;
  return limited ?? { kind: "cannot-tell", why: "no stop of this node is under way", undrain };
}

function unsettled(why: string): Stay {
  return { kind: "cannot-tell", why, undrain: false };
}

/** A node may be newer than the last look: it is unknown once a look has come that does not show it. */
function judgeUnknown({ isForgetful, blind: why, seenAt }: Survey, now: Instant): FinalVerdict {
  if (isForgetful) return unsettled("the record of this cluster is new; ask again");
  if (why !== undefined) return { kind: "not-seen-yet", why };
  if (seenAt === undefined || secondsBetween(seenAt, now) > UNKNOWN_LOOK_SECONDS)
    return { kind: "not-seen-yet", why: "no node with this instance id is known yet; the next look tells" };
  return { kind: "unknown-instance" };
}

/** What is known of a stop of the node; undefined: none can be under way. */
function judgeStop(view: Survey, known: LedgerNode, now: Instant): FinalVerdict | undefined {
  const { draining, goneAt } = known;
  const isAsked = draining?.sentAt !== undefined;
  if (goneAt !== undefined)
    return isAsked || secondsBetween(goneAt, now) >= GONE_SECONDS
      ? { kind: "stopping" }
      : unsettled("the last look does not show the node");
  if (isStopFresh(known, view.seenAt ?? now)) return { kind: "stopping" };
  const node = view.nodes.get(known.nodeId);
  if (node?.phase === "going" || node?.phase === "off") return { kind: "stopping" };
  return view.stopping.has(known.nodeId) ? unsettled("its stop is under way; ask again") : undefined;
}

/** Doubt whether the node is there at all, or wanted (docs/protocol.md, Doubt); undefined: there is none, or it is unfit and may go. */
function judgeRecord(
  { nodes, policy }: Survey,
  known: LedgerNode,
  unhealthy: boolean,
  now: Instant,
): FinalVerdict | undefined {
  const node = nodes.get(known.nodeId);
  if (node?.missing !== undefined) return unsettled("the last look does not show the node");
  if (unhealthy || node === undefined || !isRecordDoubted(node, known, policy, now)) return undefined;
  return unsettled("CycleCloud's record of the node does not say whether it is wanted");
}

/** Whether a stop of the node may take effect, now or later. */
function mayStop(view: Survey, known: LedgerNode, now: Instant): boolean {
  return judgeStop(view, known, now) !== undefined || isFreshMark(known, now);
}

/** Marked by a question that may still be on its way to its stop. */
function isFreshMark({ draining }: LedgerNode, now: Instant): boolean {
  return (
    draining !== undefined &&
    draining.sentAt === undefined &&
    secondsBetween(draining.since, now) < STALE_MARK_SECONDS
  );
}

type Objection =
  | { readonly kind: "cannot-tell"; readonly why: string }
  | { readonly kind: "needed"; readonly why: string; readonly held?: UnhealthyHold };

/** A node that calls itself unhealthy takes no more jobs, so it is never told to open for its objection. */
function staying(objection: Objection, undrain: boolean): Stay {
  const isHeld = objection.kind === "needed" && objection.held !== undefined;
  return { ...objection, undrain: undrain && !isHeld };
}

/**
 * What speaks against stopping a node, whatever the demand is. A node that calls itself unhealthy needs no fresh look and no idle time. But
 * while a job is on it, it stays: anybody who holds the stop URL of its array could have said that it is unhealthy.
 */
function objectionTo(view: Survey, known: LedgerNode, unhealthy: boolean): Objection | undefined {
  const node = view.nodes.get(known.nodeId);
  if (node?.keepAlive === true) return { kind: "needed", why: "KeepAlive is set" };
  if (!actsOn(view.policy, known.array)) return { kind: "needed", why: "observe mode" };
  // Whether it is ours, and what it is needed for, is not known then.
  if (view.listed?.has(known.array) === false)
    return { kind: "cannot-tell", why: `the last look did not show node array "${known.array}"` };
  if (view.managed?.has(known.array) === false) {
    return { kind: "needed", why: `node array "${known.array}" is not autoscaled` };
  }
  if (isForeign(known, view.policy))
    return { kind: "needed", why: "the autoscaler did not ask for this node, and stops only its own" };
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
 * CycleCloud has accepted its stop, and no look proves the contrary. A node that such a look still shows wanted was forgotten there: it is
 * decided again, as a yes now would be a promise that nobody keeps.
 */
function isStopFresh({ draining }: LedgerNode, seenAt: Instant): boolean {
  return draining?.sentAt !== undefined && secondsBetween(draining.sentAt, seenAt) < DECIDE_AGAIN_SECONDS;
}

function blind(record: ClusterRecord, bodies: Bodies, policy: Policy, now: Instant): string | undefined {
  if (bodies.seen === undefined) return "the cluster has not been looked at yet";
  const age = secondsBetween(bodies.seen.at, now);
  return age > outageSeconds(record, policy)
    ? `the last look at the cluster is ${Math.round(age)} s old`
    : undefined;
}

function resting(record: ClusterRecord, policy: Policy, now: Instant): string | undefined {
  return isResting(record, policy, now)
    ? "scale-down rests after a start or an interruption of the autoscaler"
    : undefined;
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

const NEEDED_BY = "needed by ";

/** Of the reason why a node stays, what the node itself is told: not whose demand it serves. `explain node` says that. */
export function toldOf(why: string): string {
  return why.startsWith(NEEDED_BY) ? `${NEEDED_BY}demand` : why;
}

interface Weighed {
  readonly spare: ReadonlySet<NodeId>;
  /** Askers of which nothing can be told, and why. */
  readonly unknown: Spare["unknown"];
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
  if (bodies.seen === undefined || askers.size === 0)
    return { spare: askers, unknown: new Map(), why: () => "needed" };
  const { demands: sent } = admitDemands(record, bodies, policy);
  // The askers' own marks, from the first of the two commits, must not hide them: they are weighed again, and with the same outcome while
  // nothing else has changed.
  const ledger = withoutMarks(bodies.ledger, askers);
  const snapshot = withUp(bodies.seen, askers);
  const out = excludedNodes(snapshot, ledger, stoppingNodes(record.intents), policy, now);
  const held = heldNodes(snapshot, ledger, bodies.questions ?? NO_QUESTIONS, policy, now, askers);
  const dynamics = dynamicsOf(sent, record.dynamicArrays ?? [], bodies.seen);
  const reports = readReports(
    reportedHosts(record, bodies, now, policy.senders),
    { snapshot, ledger, dynamics: dynamics.keys() },
    sent,
  );
  const demands = bindReported(sent, reports);
  const supply = supplyOf(record, {
    snapshot,
    ledger,
    policy,
    pools: poolsInForce(record, bodies, policy.senders),
    dynamics,
    ...(reports === undefined ? {} : { reports }),
    excluded: new Set([...out, ...held.closed, ...unfit]),
    full: held.full,
    doubted: doubtedNodes(record, snapshot, ledger, policy, now),
    now,
  });
  const premises = premisesOf(record, supply);
  const question = { askers, excluded: supply.excluded };
  const { spare, needed, unknown } = recall.stops.answer(premises, question, (asked) => {
    const present = recall.plans.known(premises, { excluded: asked.excluded, last: undefined });
    return findSpare({ ...supply, excluded: asked.excluded }, demands, asked.askers, now, present);
  });
  return {
    spare,
    unknown,
    why: (node) => {
      const by = needed.get(node);
      return by === undefined ? "needed until other nodes are Ready" : `${NEEDED_BY}${by.join(", ")}`;
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
 * Notes what the nodes are told. A node that is told to stay takes work again, so no mark of an earlier call of its own may be left: one
 * that is still under way on another instance, or that a crash has cut short, would stop a busy node, or have another created in its place.
 */
function noteVerdicts(
  record: ClusterRecord,
  { ledger, questions: before = NO_QUESTIONS }: Bodies,
  { bindings }: Pick<Survey, "bindings">,
  byInstance: ReadonlyMap<string, LedgerNode>,
  calls: readonly StopCall[],
  verdicts: readonly StopVerdict[],
  now: Instant,
): StopDecision {
  const plan = record.plan + 1;
  const next = new Map(before);
  let isPlanned = false;
  calls.forEach((call, index) => {
    const id = byInstance.get(call.instance)?.nodeId;
    const verdict = verdicts[index];
    if (id === undefined || verdict === undefined || verdict.kind === "stopping") return;
    const known = ledger.get(id);
    const isMarked = known?.draining !== undefined;
    if (verdict.kind === "marked") {
      const by = call.unhealthy ? "unhealthy" : "callback";
      const draining: Draining = { since: now, by, plan, attempts: known?.draining?.attempts ?? 0 };
      next.set(id, noteMark(next.get(id), call, draining));
      isPlanned = true;
    } else if (isStay(verdict)) {
      const stay = noteStay(next.get(id), call, isMarked, now);
      if (stay !== undefined) next.set(id, stay);
      isPlanned ||= isMarked;
    } else if (isRefused(verdict)) next.set(id, noteRefused(next.get(id), call, now));
    else next.set(id, noteAsked(next.get(id), call));
    if (verdict.kind === "forbidden") return;
    const said = noteCaller(next.get(id), call, verdict, bindings.get(id), now);
    if (said !== undefined) next.set(id, said);
  });
  const isSame =
    next.size === before.size && [...next].every(([id, question]) => before.get(id) === question);
  // Marks and their removal are decisions: nobody may go on with one that was made before.
  return {
    verdicts,
    record: isPlanned ? { ...record, plan } : record,
    questions: isSame ? before : next,
  };
}

/** What an accepted call says of its node besides: its token, if this is the first, and whether it calls itself unhealthy. */
function noteCaller(
  question: Question | undefined,
  { unhealthy }: StopCall,
  verdict: StopVerdict,
  bound: { readonly binding: NodeBinding; readonly isNew: boolean } | undefined,
  now: Instant,
): Question | undefined {
  // Where nobody can tell just now, it is as unhealthy as before.
  const isKept = unhealthy && verdict.kind === "cannot-tell";
  const said = isKept ? question : noteUnhealthy(question, heldOf(verdict), now);
  return bound?.isNew === true ? noteBinding(said, bound.binding) : said;
}

/** The node may work again once it hears this; or no stop of it is to come of its question, as it stays although it calls itself unhealthy. */
function isStay(verdict: StopVerdict): boolean {
  if (heldOf(verdict) !== undefined) return true;
  return "undrain" in verdict && verdict.undrain && verdict.kind !== "forbidden";
}

function heldOf(verdict: StopVerdict): UnhealthyHold | undefined {
  return verdict.kind === "needed" ? verdict.held : undefined;
}

function isRefused(verdict: StopVerdict): boolean {
  return verdict.kind === "forbidden" && verdict.unbound === true;
}

/** One question that has marked its node. */
export interface Marked {
  readonly node: NodeId;
  readonly call: Asking;
}

/** What becomes of marked nodes. */
export interface Confirmation {
  readonly record: ClusterRecord;
  readonly questions: Questions;
  readonly verdicts: ReadonlyMap<NodeId, FinalVerdict>;
}

/**
 * The look after the mark: the record as it is now, with whatever demand has come since (the node itself has said that it is idle).
 * What is still spare is stopped; the rest is told to stay. A question that waited too long, or whose mark is gone, gets no verdict.
 */
export function confirmStops(
  record: ClusterRecord,
  bodies: Bodies,
  marked: readonly Marked[],
  policy: Policy,
  now: Instant,
  owner: Owner,
  recall: Recalls = noRecalls(),
): Confirmation {
  // Without what has run out since the last plan: both looks at demand must see the same.
  const current = lapseParts(record, now, policy.maxExpirationSeconds);
  const calls = new Map(marked.map(({ node, call }) => [node, call]));
  const view = surveyOf(current, bodies, new Set(calls.keys()), policy, now);
  const verdicts = new Map<NodeId, FinalVerdict>();
  const ours: NodeId[] = [];
  for (const [id, call] of calls) {
    const early = verdictBefore(view, bodies.ledger.get(id), call, now);
    if (early === undefined) ours.push(id);
    else verdicts.set(id, early);
  }
  const undrain = !view.isForgetful;
  const objections = objectionsTo(view, bodies.ledger, ours);
  for (const [id, objection] of objections) verdicts.set(id, staying(objection, undrain));
  const going = ours.filter((id) => !objections.has(id));
  const sick = new Set(going.filter((id) => isUnhealthy(bodies.ledger.get(id))));
  const limited = view.limited(sick);
  for (const [id, told] of limited) verdicts.set(id, told);
  const unhealthy = [...sick].filter((id) => !limited.has(id));
  const askers = without(new Set(going), sick);
  const free = spareNodes(current, bodies, { askers, unfit: sick }, policy, now, recall);
  const stopped = [...unhealthy, ...[...askers].filter((id) => free.spare.has(id))];
  for (const id of askers) {
    const unknown = free.unknown.get(id);
    if (unknown !== undefined) verdicts.set(id, unsettled(unknown));
    else if (!free.spare.has(id)) verdicts.set(id, { kind: "needed", why: free.why(id), undrain });
  }
  for (const id of stopped) verdicts.set(id, { kind: "granted", node: id });
  const paused = pauseUnhealthy(
    noteUnhealthyStops(record, bodies.ledger, view.facts, unhealthy, now),
    unhealthy.flatMap((id) => view.nodes.get(id) ?? []),
    now,
  );
  const arrivals = stopped.map((id) => calls.get(id)?.arrivedAt ?? now);
  const stopsBy = plusSeconds(
    arrivals.reduce((a, b) => (a < b ? a : b), now),
    PATIENCE_SECONDS,
  );
  return {
    record: commitEffects(
      { ...paused, plan: record.plan + 1 },
      { terminates: stopped, stopsBy },
      now,
      owner,
      policy,
    ),
    questions: withStays(view.questions, calls, verdicts, now),
    verdicts,
  };
}

/** What is known before anything is weighed; undefined: the mark is there, and its stop may be committed. */
function verdictBefore(
  view: Survey,
  known: LedgerNode | undefined,
  call: Asking,
  now: Instant,
): FinalVerdict | undefined {
  if (known === undefined) return unsettled("the node is not known any more; ask again");
  // Another call of the same node, on another instance, may have come to its end first.
  const settled = judgeStop(view, known, now) ?? judgeRecord(view, known, isUnhealthy(known), now);
  if (settled !== undefined) return settled;
  if (!isOurMark(known) || isOvertaken(view.questions.get(known.nodeId), call, now))
    return unsettled("another question of this node was answered; ask again");
  if (secondsBetween(call.arrivedAt, now) >= PATIENCE_SECONDS)
    return unsettled("the question waited too long here; ask again");
  return undefined;
}

function withStays(
  questions: Questions,
  calls: ReadonlyMap<NodeId, Asking>,
  verdicts: ReadonlyMap<NodeId, StopVerdict>,
  now: Instant,
): Questions {
  const next = new Map(questions);
  for (const [id, call] of calls) {
    const verdict = verdicts.get(id);
    const stay =
      verdict !== undefined && isStay(verdict) ? noteStay(next.get(id), call, true, now) : undefined;
    if (stay !== undefined && verdict !== undefined)
      next.set(id, noteUnhealthy(stay, heldOf(verdict), now) ?? stay);
  }
  return next;
}

/** Why each of these nodes is to stay, where something has come up since it was marked. */
function objectionsTo(view: Survey, ledger: Ledger, ids: readonly NodeId[]): ReadonlyMap<NodeId, Objection> {
  const objections = new Map<NodeId, Objection>();
  for (const id of ids) {
    const known = ledger.get(id);
    const objection = known === undefined ? undefined : objectionTo(view, known, isUnhealthy(known));
    if (objection !== undefined) objections.set(id, objection);
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

/** A node that calls itself unhealthy counts against its bucket (architecture.md, Autostop). */
function pauseUnhealthy(record: ClusterRecord, nodes: readonly Node[], now: Instant): ClusterRecord {
  return nodes.reduce((next, node) => {
    const bucket = { array: node.array, machineType: node.machineType };
    return backOff(next, bucket, "unhealthy", `${node.name} asked to be stopped as unhealthy`, now);
  }, record);
}
