import type { Instant } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Questions } from "../../domain/questions.ts";
import type { Policy } from "../../domain/policy.ts";
import type { NodeId, Owner } from "../../domain/ids.ts";
import type { Node } from "../../domain/cluster.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { noteUnhealthyStops } from "./unhealthy.ts";
import type { Asking } from "../stops/questions.ts";
import { isOvertaken, noteStay, noteUnhealthy } from "../stops/questions.ts";
import type { FinalVerdict, Stay, StopVerdict, Survey } from "./stop-survey.ts";
import {
  PATIENCE_SECONDS,
  isUnhealthy,
  judgeRecord,
  judgeStop,
  judgeWait,
  objectionTo,
  staying,
  undecided,
} from "./stop-objections.ts";
import { surveyOf } from "./stop-survey.ts";
import type { SpareNodes } from "./spare-nodes.ts";
import { spareNodes, without } from "./spare-nodes.ts";
import { heldOf, isStay } from "./note-verdicts.ts";
import { commitEffects } from "../intents/create-requests.ts";
import { nodesToDeallocate } from "../intents/stops.ts";
import { backOff } from "../intents/back-off.ts";
import { lapseParts } from "../record/lapse.ts";

/** A node and its question that has marked it. */
export interface Marked {
  readonly node: NodeId;
  readonly call: Asking;
}

/** What is decided about marked nodes. */
interface Confirmation {
  readonly record: ClusterRecord;
  readonly questions: Questions;
  readonly verdicts: ReadonlyMap<NodeId, FinalVerdict>;
}

/**
 * Decides on marked nodes with the record as it was read after the mark, including demand that has come since. Nodes that are still spare are
 * stopped. The others are told to stay, except those whose question waited too long or whose mark is gone: they are told to ask again. `beside`:
 * the nodes that were up when these were marked. Without them a node that was told to stay then would count as still to come, and others
 * would stay in its place.
 */
export function confirmStops(
  record: ClusterRecord,
  bodies: Bodies,
  marked: readonly Marked[],
  policy: Policy,
  now: Instant,
  owner: Owner,
  beside?: ReadonlySet<NodeId>,
): Confirmation {
  // As in a plan: sets that have lapsed since the last one do not count.
  const current = lapseParts(record, now, policy.maxExpirationSeconds);
  const calls = new Map(marked.map(({ node, call }) => [node, call]));
  const view = surveyOf(current, bodies, new Set(calls.keys()), policy, now);
  const early = earlyVerdicts(view, bodies.ledger, calls, now);
  const ours = [...calls.keys()].filter((id) => !early.has(id));
  const objections = objectionsTo(view, bodies.ledger, ours);
  const going = ours.filter((id) => !objections.has(id));
  const sick = new Set(going.filter((id) => isUnhealthy(bodies.ledger.get(id))));
  const limited = view.limited(sick);
  const unhealthy = [...sick].filter((id) => !limited.has(id));
  const askers = without(new Set(going), sick);
  const asking = { askers, unfit: sick, ...(beside === undefined ? {} : { beside }) };
  const free = spareNodes(current, bodies, asking, policy, now);
  const stopped = [...unhealthy, ...[...askers].filter((id) => free.spare.has(id))];
  const verdicts = new Map<NodeId, FinalVerdict>([
    ...early,
    ...objections,
    ...limited,
    ...neededVerdicts(view, askers, free),
    ...stopped.map((node) => [node, { kind: "granted", node }] as const),
  ]);
  const noted = noteUnhealthyStops(record, bodies.ledger, view.facts, unhealthy, now);
  const paused = pauseUnhealthy(
    noted,
    unhealthy.flatMap((id) => view.nodes.get(id) ?? []),
    now,
  );
  const deallocates = nodesToDeallocate(stopped, bodies.ledger, bodies.seen);
  const effects = { terminates: stopped, deallocates, stopsBy: stopsBy(stopped, calls, now) };
  return {
    record: commitEffects({ ...paused, plan: record.plan + 1 }, effects, now, owner, policy),
    questions: withStays(view.questions, calls, verdicts, now),
    verdicts,
  };
}

/** The verdicts on nodes whose mark is gone, or whose stop may no longer begin. The stop of a node that is not here may be committed. */
function earlyVerdicts(
  view: Survey,
  ledger: Ledger,
  calls: ReadonlyMap<NodeId, Asking>,
  now: Instant,
): ReadonlyMap<NodeId, FinalVerdict> {
  const verdicts = new Map<NodeId, FinalVerdict>();
  for (const [id, call] of calls) {
    const verdict = earlyVerdict(view, ledger.get(id), call, now);
    if (verdict !== undefined) verdicts.set(id, verdict);
  }
  return verdicts;
}

function earlyVerdict(
  view: Survey,
  known: LedgerNode | undefined,
  call: Asking,
  now: Instant,
): FinalVerdict | undefined {
  if (known === undefined) return undecided("the node is not known any more; ask again");
  // Another instance may have answered another call of the same node first.
  const stopping =
    judgeStop(view, known, now) ?? judgeRecord(view, known, { unhealthy: isUnhealthy(known) }, now);
  if (stopping !== undefined) return stopping;
  if (!isOurMark(known) || isOvertaken(view.questions.get(known.nodeId), call, now))
    return undecided("another question of this node was answered; ask again");
  return judgeWait(call, now);
}

/** Nodes that must stay because something has come up since they were marked, with what they are told. */
function objectionsTo(view: Survey, ledger: Ledger, ids: readonly NodeId[]): ReadonlyMap<NodeId, Stay> {
  const objections = new Map<NodeId, Stay>();
  for (const id of ids) {
    const known = ledger.get(id);
    if (known === undefined) continue;
    const objection = objectionTo(view, known, { unhealthy: isUnhealthy(known) });
    if (objection !== undefined) objections.set(id, staying(view, objection));
  }
  return objections;
}

/** What the nodes are told that the demand needs, and those for which that is not known. */
function neededVerdicts(
  { isForgetful }: Survey,
  askers: ReadonlySet<NodeId>,
  free: SpareNodes,
): ReadonlyMap<NodeId, Stay> {
  const verdicts = new Map<NodeId, Stay>();
  for (const id of askers) {
    const unknown = free.unknown.get(id);
    if (unknown !== undefined) verdicts.set(id, undecided(unknown));
    else if (!free.spare.has(id))
      verdicts.set(id, { kind: "needed", why: free.why(id), undrain: !isForgetful });
  }
  return verdicts;
}

/** Until when the stops may be sent: the node with the oldest question gives up waiting then. */
function stopsBy(stopped: readonly NodeId[], calls: ReadonlyMap<NodeId, Asking>, now: Instant): Instant {
  const arrivals = stopped.map((id) => calls.get(id)?.arrivedAt ?? now);
  return plusSeconds(
    arrivals.reduce((a, b) => (a < b ? a : b), now),
    PATIENCE_SECONDS,
  );
}

/** The questions with the notes of nodes that are told to stay. */
function withStays(
  questions: Questions,
  calls: ReadonlyMap<NodeId, Asking>,
  verdicts: ReadonlyMap<NodeId, StopVerdict>,
  now: Instant,
): Questions {
  const next = new Map(questions);
  for (const [id, call] of calls) {
    const verdict = verdicts.get(id);
    if (verdict === undefined || !isStay(verdict)) continue;
    const stay = noteStay(next.get(id), call, now);
    next.set(id, noteUnhealthy(stay, heldOf(verdict), now) ?? stay);
  }
  return next;
}

function isOurMark(node: LedgerNode | undefined): boolean {
  const draining = node?.draining;
  return (
    draining !== undefined &&
    draining.sentAt === undefined &&
    (draining.by === "callback" || draining.by === "unhealthy")
  );
}

/** Pauses the buckets of nodes that called themselves unhealthy (architecture.md, Autostop). */
function pauseUnhealthy(record: ClusterRecord, nodes: readonly Node[], now: Instant): ClusterRecord {
  return nodes.reduce((next, node) => {
    const bucket = { array: node.array, machineType: node.machineType };
    return backOff(next, bucket, "unhealthy", `${node.name} asked to be stopped as unhealthy`, now);
  }, record);
}
