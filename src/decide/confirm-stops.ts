import type { Instant } from "../domain/units.ts";
import { plusSeconds, secondsBetween } from "../domain/units.ts";
import type { Ledger, LedgerNode } from "../domain/ledger.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { Questions } from "../domain/questions.ts";
import type { Policy } from "../domain/policy.ts";
import type { NodeId, Owner } from "../domain/ids.ts";
import type { Node } from "../domain/cluster.ts";
import type { Bodies } from "../domain/bodies.ts";
import { noteUnhealthyStops } from "./stops/unhealthy.ts";
import type { Asking } from "./stops/questions.ts";
import { isOvertaken, noteStay, noteUnhealthy } from "./stops/questions.ts";
import type { FinalVerdict, StopVerdict } from "./stop-verdict.ts";
import type { Objection, Survey } from "./stop-objections.ts";
import {
  isUnhealthy,
  judgeRecord,
  judgeStop,
  objectionTo,
  staying,
  surveyOf,
  unsettled,
} from "./stop-objections.ts";
import { spareNodes, without } from "./spare-nodes.ts";
import { heldOf, isStay } from "./note-verdicts.ts";
import { commitEffects } from "./intents/commit-effects.ts";
import { backOff } from "./intents/back-off.ts";
import { PATIENCE_SECONDS } from "./autostop.ts";
import type { Recalls } from "./recalls.ts";
import { noRecalls } from "./recalls.ts";
import { lapseParts } from "./record/lapse.ts";

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
 * The observation after the mark: the record as it is now, with whatever demand has come since (the node itself has said that it is idle).
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
