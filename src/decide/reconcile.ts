import type { Node, Snapshot } from "../domain/cluster.ts";
import type { Pool, RankedDemand } from "../domain/demand.ts";
import { bucketOf, dynamicArrayOf } from "../domain/bucket.ts";
import type { ArrayName, NodeId, Owner } from "../domain/ids.ts";
import type { Allocation, LastPlan, World } from "../domain/allocation.ts";
import type { NodeVerdict, Plan, PlanLoads } from "../domain/plan.ts";
import { actsOn } from "../domain/mode.ts";
import type { CallBounds, Policy } from "../domain/policy.ts";
import type { Bodies } from "../domain/bodies.ts";
import type {
  ClusterRecord,
  CreateSet,
  Draining,
  Effect,
  Intent,
  Ledger,
  LedgerNode,
  Outage,
  PoolOwners,
  StartEffect,
  Unneeded,
} from "../domain/record.ts";
import { timeoutsOf } from "../domain/timeouts.ts";
import type { Questions } from "../domain/questions.ts";
import { NO_QUESTIONS } from "../domain/questions.ts";
import type { Instant } from "../domain/units.ts";
import { InTurn } from "../domain/in-turn.ts";
import { plusSeconds, secondsBetween } from "../domain/units.ts";
import { lapseParts } from "./record/accept.ts";
import type { Admitted } from "./senders/admit.ts";
import { admitDemands, refusedOutcome } from "./senders/admit.ts";
import { allocate } from "./search/allocate.ts";
import { backOff, forgetOldBackoffs } from "./intents/back-off.ts";
import { bindReported } from "./world/bind-reported.ts";
import { requestsOf } from "./intents/create-requests.ts";
import { noteGroups } from "./record/group-fills.ts";
import { requestIdOf } from "../domain/digest.ts";
import type { Dynamics } from "./world/dynamic-arrays.ts";
import { dynamicsOf, existingDynamics, recogniseByName } from "./world/dynamic-arrays.ts";
import { doubtVerdict } from "./stops/doubt-verdict.ts";
import { doubtedNodes } from "./nodes/doubt.ts";
import { awaitedUntil } from "./nodes/down.ts";
import { withCreatesWait } from "./record/epoch.ts";
import { entryOfNode } from "../domain/hosts.ts";
import { followInFlight } from "./intents/in-flight.ts";
import type { HostFact } from "./nodes/ledger.ts";
import { withMissing } from "./nodes/missing.ts";
import { hostFacts, idleProofAt, managedArrays, updateLedger } from "./nodes/ledger.ts";
import { BesideNotes, factOfNode } from "./nodes/planned-beside.ts";
import { isMemoryOld, nextOutage } from "./pace/outage.ts";
import { heldNodes } from "./stops/held.ts";
import type { NodeAction } from "./stops/scale-down.ts";
import {
  applyAction,
  awaitedBy,
  idleSeconds,
  isIdleLongEnough,
  judgeNode,
  whyGivenUp,
} from "./stops/scale-down.ts";
import { sendTimes, stopTimes } from "./intents/send-times.ts";
import { storeLoads } from "./need/plan-loads.ts";
import {
  bootingSince,
  endStarts,
  isStarting,
  restsUntil,
  startEffects,
  withStart,
} from "./intents/node-starts.ts";
import { withStopKeys } from "./nodes/stop-keys.ts";
import { foldQuestions, mayStopByReport, withQuestions } from "./stops/questions.ts";
import { ownedPools } from "./constraints/shared-pools.ts";
import { premisesOf, Recall } from "./need/recall.ts";
import { pauseRemoved } from "./intents/removed.ts";
import { uselessNodes } from "./nodes/replaced.ts";
import { isActing, observedAction, reachOf, splitByReach } from "./stops/reach.ts";
import { reportedHosts } from "./world/reported-hosts.ts";
import type { Reports } from "./world/scheduler-only.ts";
import { readReports } from "./world/scheduler-only.ts";
import type { Supply } from "./need/spare.ts";
import { allocationPolicyOf, isServedByReady, spareAmongReady } from "./need/spare.ts";
import { describeLeftOut, LeftOut, withLastPlaced } from "./need/left-out.ts";
import type { Lacking } from "./nodes/unclear.ts";
import { findLacking } from "./nodes/unclear.ts";
import { findUnneeded } from "./need/unneeded.ts";
import { buildWorld } from "./world/build-world.ts";
import type { Look } from "../domain/observation.ts";
import { pendingCreates, stoppingNodes } from "./intents/open-intents.ts";
import { excludedNodes } from "./nodes/excluded.ts";
import type { Decision } from "../domain/decision.ts";
import { orderOf } from "./world/order-of-use.ts";

/**
 * Works out, from demand and one believed look, what to create and what to stop (architecture.md, The decision model): the same
 * record and look always give the same decision, and applying it and looking again gives "nothing to do". `recall` only spares work.
 */
export function decide(
  record: ClusterRecord,
  bodies: Bodies,
  newest: Look,
  policy: Policy,
  now: Instant,
  owner: Owner,
  recall: Recall<Weighing> = new Recall(),
): Decision {
  const snapshot = withMissing(newest.snapshot, bodies.seen, bodies.ledger, record.intents);
  const look: Look = { ...newest, snapshot };
  const number = record.plan + 1;
  const outage = nextOutage(record, policy, now);
  const { targetStatesLackedSince: _before, ...held } = record;
  const followed = followInFlight(held, look, bodies.ledger, policy, now);
  const lapsed = lapseParts(followed, now, policy.maxExpirationSeconds);
  const managed = managedArrays(look.snapshot, policy);
  const observed: ClusterRecord = withoutTrouble({
    ...withCreatesWait(lapsed, record, look.snapshot, { managed, lagSeconds: policy.lagSeconds }, now),
    plan: number,
    observedGeneration: record.generation,
    backoffs: forgetOldBackoffs(followed.backoffs, now),
    lastGoodLookAt: look.snapshot.at,
    ...lackedSince(findLacking(record, newest.snapshot)),
  });
  const rested: ClusterRecord = outage === undefined ? withoutOutage(observed) : { ...observed, outage };
  const facts = hostFacts(rested, bodies, now, policy.senders);
  const questions = bodies.questions ?? NO_QUESTIONS;
  const before = withQuestions(bodies.ledger, questions);
  const seen = updateLedger(before, look, record.inFlight, facts, now);
  const rewound = isMemoryOld(record, policy, now) ? restartClocks(seen, now) : seen;
  const admitted = admitDemands(rested, bodies, policy);
  const sent = admitted.demands;
  const dynamics = dynamicsOf(sent, rested.dynamicArrays ?? [], look.snapshot);
  const known = recogniseByName(rewound, dynamics);
  const { record: started, ledger } = endStarts(rested, known, look.snapshot, policy, now);
  const next = pauseBuckets(started, bodies.seen, look.snapshot, ledger, facts, policy, now);
  const { senders } = policy;
  const { pools, owners } = ownedPools(rested, bodies, senders);
  const reports = readReports(
    reportedHosts(rested, bodies, now, senders),
    { snapshot: look.snapshot, ledger, dynamics: dynamics.keys() },
    sent,
  );
  const wanted = {
    demands: bindReported(sent, reports),
    pools,
    dynamics,
    reports,
    last: () => lastPlanOf(bodies),
  };
  const weighed = weigh({
    record: next,
    snapshot: look.snapshot,
    ledger,
    questions,
    wanted,
    policy,
    now,
    recall,
  });
  return conclude({
    record: withPoolOwners(next, owners),
    dynamics,
    admitted,
    look,
    ledger,
    questions,
    facts,
    weighed,
    last: bodies.plan,
    policy,
    now,
    owner,
    outage,
  });
}

// ---------------------------------------------------------------- our own outage

function withoutOutage(record: ClusterRecord): ClusterRecord {
  const { outage: _over, ...rest } = record;
  return rest;
}

function withoutTrouble(record: ClusterRecord): ClusterRecord {
  const { trouble: _over, ...rest } = record;
  return rest;
}

/** What the record keeps of statuses that mostly lack TargetState: when the line of them began, and nothing once it has ended. */
function lackedSince(lacking: Lacking | undefined): Pick<ClusterRecord, "targetStatesLackedSince"> {
  return lacking === undefined ? {} : { targetStatesLackedSince: lacking.since };
}

/** No idle clock advances across a gap of ours. */
function restartClocks(ledger: Ledger, now: Instant): Ledger {
  return new Map(
    [...ledger].map(([id, node]) => [id, { ...node, busyness: { ...node.busyness, since: now } }]),
  );
}

// ---------------------------------------------------------------- what did not come up

/**
 * Pauses the buckets of nodes that this plan stops before they ever were Ready, and of those that others removed. That comes before
 * demand is weighed: their replacements belong to the same plan, and elsewhere.
 */
function pauseBuckets(
  record: ClusterRecord,
  before: Snapshot | undefined,
  snapshot: Snapshot,
  ledger: Ledger,
  facts: ReadonlyMap<string, HostFact>,
  policy: Policy,
  now: Instant,
): ClusterRecord {
  if (!isActing(snapshot, policy)) return record;
  // Nobody asks for nodes of observed arrays here, so nothing of them is paused.
  const managed = new Set([...managedArrays(snapshot, policy)].filter((array) => actsOn(policy, array)));
  const stopping = stoppingNodes(record.intents);
  const entries = new InTurn(ledger);
  let next = pauseRemoved(record, { before, snapshot, ledger, managed }, now);
  snapshot.nodes.forEach((node) => {
    const known = entries.get(node.nodeId);
    if (known === undefined || !managed.has(node.array) || stopping.has(node.nodeId)) return;
    if (known.firstReadyAt !== undefined) return;
    const busy = (entryOfNode(facts, node)?.jobs.length ?? 0) > 0;
    const why = whyGivenUp(node, known, { policy, now, busy, resting: record.outage !== undefined });
    if (why === undefined) return;
    next = pauseBucket(next, node, dynamicArrayOf(known.purpose), why, now);
  });
  return next;
}

/** A bucket whose node did not come up gets a rest, so that its replacement is sought elsewhere (wire G: waits for ever for capacity). */
function pauseBucket(
  record: ClusterRecord,
  node: Node,
  dynamic: ArrayName | undefined,
  why: string,
  now: Instant,
): ClusterRecord {
  return backOff(record, bucketOf(node), "boot-failed", why, now, dynamic);
}

// ---------------------------------------------------------------- what is needed

/** What a plan takes from the allocator's answer. */
export interface Weighing extends Pick<
  Allocation,
  "creates" | "starts" | "needed" | "outcomes" | "groups" | "leftOut" | "steps"
> {
  readonly loads: PlanLoads;
}

interface Weighed {
  readonly allocation: Weighing;
  /** Nodes that are spare even if only Ready nodes count as substitutes. */
  readonly spare: ReadonlySet<NodeId>;
  /** Nodes of no use that count as there: see {@link uselessNodes}. */
  readonly kept: ReadonlySet<NodeId>;
  readonly leftOut: LeftOut;
}

/** What the sets in force ask for. */
interface Wanted {
  readonly demands: readonly RankedDemand[];
  readonly pools: readonly Pool[];
  readonly dynamics: Dynamics;
  /** What schedulers say of their hosts; undefined: nothing of amounts. */
  readonly reports: Reports | undefined;
  /** Where the last plan had what it knew; undefined: it did not keep that whole. */
  readonly last: () => LastPlan | undefined;
}

function lastPlanOf({ plan }: Bodies): LastPlan | undefined {
  if (plan?.loads === undefined || plan.kept !== undefined || plan.loads.cut > 0) return undefined;
  const { demands, nodes, loads } = plan;
  return { demands, nodes: new Set(nodes.keys()), loads };
}

interface ToWeigh {
  readonly record: ClusterRecord;
  readonly snapshot: Snapshot;
  readonly ledger: Ledger;
  readonly questions: Questions;
  readonly wanted: Wanted;
  readonly policy: Policy;
  readonly now: Instant;
  readonly recall: Recall<Weighing>;
}

function weigh({ record, snapshot, ledger, questions, wanted, policy, now, recall }: ToWeigh): Weighed {
  const { demands, pools, dynamics, reports, last } = wanted;
  const stopping = stoppingNodes(record.intents);
  const held = heldNodes(snapshot, ledger, questions, policy, now);
  const useless = excludedNodes(snapshot, ledger, stopping, policy, now);
  const excluded = new Set([...useless, ...held.closed]);
  const doubted = doubtedNodes(record, snapshot, ledger, policy, now);
  const { full } = held;
  const seen = { snapshot, ledger, policy, pools, dynamics, excluded, doubted, full, now };
  const input = supplyOf(record, reports === undefined ? seen : { ...seen, reports });
  const work = (asked: PlanQuestion): Weighing => {
    const world: World = {
      ...buildWorld({ ...input, excluded: asked.excluded, demands, order: orderOf }),
      last: () => asked.last,
    };
    const answer = allocate(world, demands, allocationPolicyOf(policy), now);
    const { creates, starts, needed, groups, leftOut, steps } = answer;
    const outcomes = leftOut.length === 0 ? answer.outcomes : withLastPlaced(answer, asked.last);
    return { creates, starts, needed, outcomes, groups, leftOut, steps, loads: storeLoads(answer) };
  };
  const allocation = recall.answer(
    premisesOf(record, input),
    new PlanQuestion(excluded, last),
    work,
    isTimeless,
  );
  const leftOut = new LeftOut(allocation.leftOut);
  const candidates = new Set<NodeId>();
  ledger.forEach((node, id) => {
    if (!mayBeReleased(node, policy, now) || allocation.needed.has(id)) return;
    if (leftOut.setFor(node) === undefined) candidates.add(id);
  });
  if (candidates.size > 0) {
    snapshot.nodes.forEach(({ nodeId, phase, stopDisabled }) => {
      // An unclear node may be one of those that serve the demand: it goes only where others that are up serve all of it.
      if (
        phase === "unknown" &&
        candidates.has(nodeId) &&
        (!leftOut.none || !isServedByReady(allocation, input))
      )
        candidates.delete(nodeId);
      if (stopDisabled === true && ledger.get(nodeId)?.draining === undefined) candidates.delete(nodeId);
    });
  }
  const kept = new Set(uselessNodes(snapshot, ledger, policy, now).kept);
  const planned = leftOut.others(demands);
  return {
    allocation,
    spare: spareAmongReady(input, planned, candidates, now, allocation),
    kept,
    leftOut,
  };
}

type Seen = Omit<Supply, "inFlight" | "pendingCreates" | "backoffs" | "groupFills">;

/** What there is to plan with: by what was seen, and by what the record says is under way or rests. */
export function supplyOf({ inFlight, intents, backoffs, groupFills }: ClusterRecord, seen: Seen): Supply {
  return {
    ...seen,
    inFlight,
    pendingCreates: pendingCreates(intents),
    backoffs,
    ...(groupFills === undefined ? {} : { groupFills }),
  };
}

/** What a plan rests on besides its premises; the last plan is looked into when somebody asks, and mostly nobody does. */
class PlanQuestion {
  readonly excluded: ReadonlySet<NodeId>;
  readonly #last: () => LastPlan | undefined;

  constructor(excluded: ReadonlySet<NodeId>, last: () => LastPlan | undefined) {
    this.excluded = excluded;
    this.#last = last;
  }

  get last(): LastPlan | undefined {
    return this.#last();
  }
}

/** No group has begun to be filled just now. */
function isTimeless({ groups }: Weighing): boolean {
  return groups.every((array) => array.groups.every(({ since }) => since === undefined));
}

function mayBeReleased(node: LedgerNode, policy: Policy, now: Instant): boolean {
  return node.goneAt === undefined && (node.draining !== undefined || isIdleLongEnough(node, policy, now));
}

// ---------------------------------------------------------------- the conclusion

interface Conclusion {
  readonly record: ClusterRecord;
  readonly dynamics: Dynamics;
  readonly admitted: Admitted;
  readonly look: Look;
  readonly ledger: Ledger;
  readonly questions: Questions;
  readonly facts: ReadonlyMap<string, HostFact>;
  readonly weighed: Weighed;
  readonly last: Plan | undefined;
  readonly policy: Policy;
  readonly now: Instant;
  readonly owner: Owner;
  readonly outage: Outage | undefined;
}

function conclude(on: Conclusion): Decision {
  const { look, policy, now, weighed } = on;
  const managed = managedArrays(look.snapshot, policy);
  // Of observed arrays the same is worked out, and only shown.
  const reach = reachOf(look.snapshot, policy, managed);
  const { done, withheld } = splitByReach(weighed.allocation, reach, on.ledger);
  const stopping = stoppingNodes(on.record.intents);
  let ledger = on.ledger;
  // Copied when something changes: most plans change nothing.
  let copy: Map<NodeId, LedgerNode> | undefined;
  const note = (known: LedgerNode): void => {
    copy ??= new Map(on.ledger);
    copy.set(known.nodeId, known);
    ledger = copy;
  };
  const verdicts = new Map<NodeId, NodeVerdict>();
  const terminates: NodeId[] = [];
  const unstopped: NodeId[] = [];
  const groups = weighed.allocation.groups.filter(({ array }) => reach.acts(array));
  const record = reach.isActing ? noteGroups(on.record, look.snapshot, on.ledger, groups, now) : on.record;
  const creates = on.record.createsFrom === undefined ? done.creates : [];
  const { starts } = done;
  for (const id of starts) {
    const known = ledger.get(id);
    if (known !== undefined) note(withStart(known, { state: "unsure", since: now }));
  }
  const entries = new InTurn(ledger);
  const needs = new InTurn(weighed.allocation.needed);
  const beside = new BesideNotes(weighed.allocation.outcomes, on.admitted.demands, on.last);
  look.snapshot.nodes.forEach((node) => {
    const known = entries.get(node.nodeId);
    if (known === undefined) return;
    if (!managed.has(node.array)) {
      verdicts.set(node.nodeId, { kind: "not-managed" });
      return;
    }
    const judged =
      (reach.isActing || reach.withholds) &&
      !stopping.has(node.nodeId) &&
      !isSettled(node, known, weighed.spare);
    const due: NodeAction = judged ? judgeNode(node, known, circumstances(on, node, known)) : NO_ACTION;
    const acts = reach.acts(node.array);
    if (!acts && (due.kind === "mark" || due.kind === "terminate")) unstopped.push(node.nodeId);
    const action = acts ? due : judged ? observedAction(known, due, now) : NO_ACTION;
    const needed = needs.get(node.nodeId);
    const acted = beside.noted(
      applyAction(known, action, record.plan, now),
      entryOfNode(on.facts, node),
      needed,
    );
    const next = touch(acted, needed !== undefined, policy, now);
    if (next !== known) note(next);
    if (action.kind === "terminate") terminates.push(node.nodeId);
    const verdict: NodeVerdict =
      action.kind === "terminate" ? { kind: "draining", by: action.by } : verdictOf(node, next, needed, on);
    verdicts.set(node.nodeId, verdict);
  });
  const plan: Plan = {
    number: record.plan,
    at: now,
    creates,
    ...(starts.length === 0 ? {} : { starts }),
    terminates,
    ...reach.shown,
    ...(reach.withholds ? { withheld: { ...withheld, terminates: unstopped } } : {}),
    demands: outcomesOf(weighed, on.admitted),
    nodes: verdicts,
    ...(weighed.allocation.groups.length === 0 ? {} : { groups: weighed.allocation.groups }),
    loads: weighed.allocation.loads,
    ...(weighed.leftOut.none ? {} : { leftOut: describeLeftOut(weighed.allocation.leftOut) }),
  };
  const effects = { creates, starts: startEffects(starts, look.snapshot), terminates };
  const noted = withUnneeded(
    withAwaited(record, ledger),
    findUnneeded(look.snapshot, ledger, verdicts, policy, now),
  );
  const committed = commitEffects(noted, effects, now, on.owner, policy);
  const keyed = withStopKeys(committed, ledger);
  return {
    record: withDynamics(keyed, ledger, on),
    ledger,
    questions: foldQuestions(on.questions, now),
    seen: look.snapshot,
    plan,
    ...(terminates.some((id) => weighed.kept.has(id)) ? { waitsForStops: true } : {}),
  };
}

/** In the order of rank; after them what counts for nothing, as jobs are found in a plan by their rank. */
function outcomesOf({ allocation }: Weighed, { refused }: Admitted): Plan["demands"] {
  return refused.length === 0
    ? allocation.outcomes
    : [...allocation.outcomes, ...refused.map(refusedOutcome)];
}

function withPoolOwners(record: ClusterRecord, owners: PoolOwners): ClusterRecord {
  const { poolOwners: _before, ...rest } = record;
  return owners.length === 0 ? rest : { ...rest, poolOwners: owners };
}

/** Notes which dynamic node arrays there are, with what this plan has just asked for. */
function withDynamics(
  record: ClusterRecord,
  ledger: Ledger,
  { dynamics, admitted, look }: Conclusion,
): ClusterRecord {
  const { dynamicArrays: _before, ...rest } = record;
  const existing = existingDynamics(record, ledger, dynamics, look.snapshot, admitted.definers);
  return existing.length === 0 ? rest : { ...rest, dynamicArrays: existing };
}

function withUnneeded(record: ClusterRecord, unneeded: Unneeded | undefined): ClusterRecord {
  const { unneeded: _before, ...rest } = record;
  return unneeded === undefined ? rest : { ...rest, unneeded };
}

/** Notes whether a marked node waits for its scheduler's next report. */
function withAwaited(record: ClusterRecord, ledger: Ledger): ClusterRecord {
  const { awaitsReport: _before, ...rest } = record;
  const waits = [...ledger.values()].some(
    ({ draining, goneAt }) =>
      goneAt === undefined &&
      draining?.sentAt === undefined &&
      (draining?.by === "idle" || draining?.by === "failed"),
  );
  return waits ? { ...rest, awaitsReport: true } : rest;
}

const NO_ACTION: NodeAction = { kind: "none" };

/** A Ready node that is neither marked nor spare has nothing to be judged for; most nodes of a busy cluster are such. */
function isSettled(node: Node, known: LedgerNode, spare: ReadonlySet<NodeId>): boolean {
  return node.phase === "ready" && known.draining === undefined && !spare.has(node.nodeId);
}

function circumstances(on: Conclusion, node: Node, known: LedgerNode) {
  const fact = factOfNode(on.facts, node, known);
  const provedAt = fact === undefined ? undefined : idleProofAt(fact);
  const provesIdle = mayStopByReport(on.questions.get(node.nodeId), provedAt, on.now);
  const idle = fact !== undefined && fact.jobs.length === 0 && fact.state !== "open" && provesIdle;
  return {
    policy: on.policy,
    now: on.now,
    plan: on.record.plan,
    resting: on.outage !== undefined,
    spare: on.weighed.spare.has(node.nodeId),
    busy: (fact?.jobs.length ?? 0) > 0 || known.busyness.state === "busy",
    reportedIdleAt: idle ? provedAt : undefined,
  };
}

/**
 * Notes that a node is needed, but not with every plan: the entries of all nodes would be written each time. Once in a fifth of the idle
 * timeout while the node is idle, as it counts against that; else only for people, as a node's idleness begins when it ceases to be busy.
 * By the clock and not by the node, so that one plan notes all nodes and the next ones none.
 */
function touch(node: LedgerNode, needed: boolean, policy: Policy, now: Instant): LedgerNode {
  if (!needed) return node;
  const { busyness, lastNeededAt } = node;
  const timeout = timeoutsOf(policy, node).idleSeconds;
  const seconds = Math.max(1, busyness.state === "idle" ? timeout / 5 : timeout);
  const spanOf = (at: Instant): number => Math.floor(at / (1000 * seconds));
  return lastNeededAt !== undefined && spanOf(lastNeededAt) === spanOf(now)
    ? node
    : { ...node, lastNeededAt: now };
}

function verdictOf(
  node: Node,
  known: LedgerNode,
  needed: readonly string[] | undefined,
  on: Conclusion,
): NodeVerdict {
  if (known.draining?.sentAt !== undefined) return { kind: "stopping", attempts: known.draining.attempts };
  if (known.draining !== undefined) return drainingVerdict(node, known, known.draining, on);
  const doubt = doubtVerdict(node, known, on.weighed.kept, on.policy, on.now);
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
  if (known.busyness.state === "unknown") return { kind: "busyness-unknown" };
  return {
    kind: "idle",
    idleSeconds: idleSeconds(known, on.now),
    idleTimeoutSeconds: timeoutsOf(on.policy, known).idleSeconds,
  };
}

/** What a plan wants changed. */
export interface Changes {
  readonly creates?: readonly CreateSet[];
  readonly starts?: readonly StartEffect[];
  readonly terminates?: readonly NodeId[];
  /** The stops are sent before then; absent: as long after their commit as they may be. */
  readonly stopsBy?: Instant;
}

/** One request stops at most so many nodes: how large a request CycleCloud takes is not documented. */
const STOPPED_TOGETHER = 500;

/** Effects become intents, committed before any is sent (architecture.md, Intents). Starts go first: they are the quickest to help. */
export function commitEffects(
  record: ClusterRecord,
  { creates = [], starts = [], terminates = [], stopsBy }: Changes,
  now: Instant,
  owner: Owner,
  bounds: CallBounds,
): ClusterRecord {
  const requests = requestsOf(creates, record.alone ?? []);
  const effects: Effect[] = [...starts, ...requests.map((sets) => ({ kind: "create", sets }) as const)];
  for (let from = 0; from < terminates.length; from += STOPPED_TOGETHER)
    effects.push({ kind: "terminate", nodes: terminates.slice(from, from + STOPPED_TOGETHER) });
  const intents = effects.map((effect, ordinal): Intent => ({
    id: requestIdOf(record.cluster, record.epoch, now, record.plan, ordinal),
    owner,
    ...(effect.kind === "terminate" ? stopTimes(now, stopsBy, bounds) : sendTimes(now, bounds)),
    effect,
    sent: "never",
  }));
  if (intents.length === 0) return record;
  const started = starts.reduce((sum, effect) => sum + effect.nodes.length, record.totals.started ?? 0);
  const totals = {
    ...(started === 0 ? {} : { started }),
    created: record.totals.created + creates.reduce((sum, effect) => sum + effect.count, 0),
    terminated: record.totals.terminated + terminates.length,
  };
  return { ...record, intents: [...record.intents, ...intents], totals };
}
