import type { Node, Snapshot } from "../../domain/cluster.ts";
import { deallocatingArrays } from "../../domain/cluster.ts";
import type { ArrayName, NodeId } from "../../domain/ids.ts";
import type { Question } from "../../domain/questions.ts";
import type { Intent, TerminateEffect } from "../../domain/intent.ts";
import type { Draining, Ledger } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { Evidence, Settled } from "./evidence.ts";
import { withoutStop } from "../../domain/questions.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** A stop without a known outcome ends this long after its commit. */
const STOP_ENDS_SECONDS: Seconds = 900;

/** Stops after which a node may be of use again. Others end it, whatever its array's ShutdownPolicy says. */
const KEEPS: ReadonlySet<Draining["by"]> = new Set(["callback", "idle", "down"]);

const NO_ARRAYS: ReadonlySet<ArrayName> = new Set();

/** Of nodes that are stopped, those that are deallocated: their node array's ShutdownPolicy says so (docs/protocol.md, Deallocated nodes). */
export function nodesToDeallocate(
  stopped: readonly NodeId[],
  ledger: Ledger,
  snapshot: Pick<Snapshot, "arrays"> | undefined,
): ReadonlySet<NodeId> {
  const arrays = snapshot === undefined ? NO_ARRAYS : deallocatingArrays(snapshot);
  if (arrays.size === 0) return new Set();
  return new Set(
    stopped.filter((id) => {
      const known = ledger.get(id);
      return known?.draining !== undefined && arrays.has(known.array) && KEEPS.has(known.draining.by);
    }),
  );
}

/** The outcome of the stop of one node. */
type Fate =
  /** CycleCloud has accepted it. */
  | "accepted"
  /** It will never arrive. The node stays, and its stop is decided again from the beginning. */
  | "lost"
  | "open";

/** Settles a stop for each node. The intent stays until the stop of its last node is settled. */
export function settleStop(
  state: Settled,
  intent: Intent,
  effect: TerminateEffect,
  evidence: Evidence,
  now: Instant,
): Settled {
  const fate = fateByEvidence(evidence);
  const next = settleNodes(state, intent, effect, fate, now);
  const left = next.record.intents.find(({ id }) => id === intent.id);
  if (left === undefined || evidence.kind === "withdrawn" || left.sent === "maybe") return next;
  const intents = next.record.intents.map((one) => (one === left ? { ...one, sent: "maybe" as const } : one));
  return { ...next, record: { ...next.record, intents } };
}

function fateByEvidence(evidence: Evidence): (node: NodeId) => Fate {
  switch (evidence.kind) {
    case "terminated":
      return (node) => fateByAnswer(evidence.nodes.get(node)?.ok);
    case "found":
    case "accepted":
    case "started":
      return () => "accepted";
    case "named":
      return (node) => (evidence.nodes.has(node) ? "accepted" : "open");
    case "withdrawn":
      return (node) => (evidence.nodes.has(node) ? "lost" : "open");
    case "refused":
    case "not-sent":
      return () => "lost";
    case "absent":
    case "unclear":
      // An empty answer proves nothing: operations are documented for creates only (cyclecloud-wire.md A.7, A.9).
      return () => "open";
  }
}

/** The outcome by CycleCloud's answer. A node that it does not list is probably gone (cyclecloud-wire.md A.7). An observation shows it. */
function fateByAnswer(ok: boolean | undefined): Fate {
  if (ok === undefined) return "open";
  return ok ? "accepted" : "lost";
}

/**
 * Settles stops by an observation (docs/protocol.md, Stops). A stop is accepted if the node is no longer wanted, or has been missing. It is lost
 * if the node is still wanted in a status that began when the request could no longer be on its way and must show in a status. This needs no
 * question about the request.
 */
export function settleStopsByObservation(state: Settled, snapshot: Snapshot, now: Instant): Settled {
  const stops = stopIntents(state.record);
  if (stops.length === 0) return state;
  const nodes = new Map(snapshot.nodes.map((node) => [node.nodeId, node]));
  return stops.reduce((next, { intent, effect }) => {
    const isPast = snapshot.early !== true && snapshot.at >= intent.certainFrom;
    const isOver = hasEnded(intent, now);
    const fate = (id: NodeId): Fate => {
      const shown = fateByStatus(nodes.get(id), state.ledger, id, { isPast, act: effect.act });
      return shown === "open" && isOver ? "lost" : shown;
    };
    return settleNodes(next, intent, effect, fate, now);
  }, state);
}

/** Ends stops that are too old to be settled, even while CycleCloud cannot be observed. */
export function endOldStops(state: Settled, now: Instant): Settled {
  return stopIntents(state.record)
    .filter(({ intent }) => hasEnded(intent, now))
    .reduce((next, { intent, effect }) => settleNodes(next, intent, effect, () => "lost", now), state);
}

/** Whether CycleCloud has accepted a stop of the node, by the record. */
export function isAccepted({ ledger, questions }: Settled, node: NodeId): boolean {
  return (questions?.get(node)?.draining ?? ledger.get(node)?.draining)?.sentAt !== undefined;
}

/** Whether a stop of the node is committed and its outcome is not known. */
export function isStopOpen({ record }: Settled, node: NodeId): boolean {
  return stoppingNodes(record.intents).has(node);
}

function hasEnded({ committedAt }: Intent, now: Instant): boolean {
  return secondsBetween(committedAt, now) >= STOP_ENDS_SECONDS;
}

/**
 * The outcome by a status. `isPast`: a stop that has had no effect in this status is lost. Before that a deallocation is open although the
 * node is not wanted: another tool may have deallocated it, and ours may arrive once the node is started again.
 */
function fateByStatus(
  node: Node | undefined,
  ledger: Ledger,
  id: NodeId,
  { isPast, act }: { readonly isPast: boolean; readonly act: TerminateEffect["act"] },
): Fate {
  if (node === undefined) {
    const known = ledger.get(id);
    return known === undefined || known.goneAt !== undefined ? "accepted" : "open";
  }
  switch (node.phase) {
    case "going":
      return act === undefined || isPast ? "accepted" : "open";
    case "off":
      return "accepted";
    case "deallocated":
      // What ends a deallocated node has had no effect yet.
      if (!isPast) return "open";
      return act === undefined ? "lost" : "accepted";
    case "ready":
    case "coming":
    case "failed":
      return isPast ? "lost" : "open";
    case "unknown":
      // Without a TargetState nothing is proved.
      return "open";
  }
}

function stopIntents({
  intents,
}: ClusterRecord): readonly { readonly intent: Intent; readonly effect: TerminateEffect }[] {
  return intents.flatMap((intent) =>
    intent.effect.kind === "terminate" ? [{ intent, effect: intent.effect }] : [],
  );
}

function settleNodes(
  state: Settled,
  intent: Intent,
  effect: TerminateEffect,
  fateOf: (node: NodeId) => Fate,
  now: Instant,
): Settled {
  const open: NodeId[] = [];
  const questions = new Map(state.questions);
  for (const id of effect.nodes) {
    const fate = fateOf(id);
    if (fate === "open") open.push(id);
    else if (fate === "lost") questions.set(id, withoutStop(questions.get(id), now));
    else
      questions.set(id, withAccepted(questions.get(id), state.ledger.get(id)?.draining, intent, effect, now));
  }
  if (open.length === effect.nodes.length) return state;
  const intents = state.record.intents.flatMap((one) => {
    if (one.id !== intent.id) return [one];
    return open.length === 0 ? [] : [{ ...one, effect: { ...effect, nodes: open } }];
  });
  return { ...state, record: { ...state.record, intents }, questions };
}

function withAccepted(
  question: Question | undefined,
  known: Draining | undefined,
  { committedAt }: Intent,
  { act }: TerminateEffect,
  now: Instant,
): Question {
  const first: Draining = { since: committedAt, by: "callback", plan: 0, attempts: 0 };
  const { act: _before, ...mark } = question?.draining ?? known ?? first;
  const draining = { ...mark, attempts: mark.attempts + 1, sentAt: now, ...withoutAbsent({ act }) };
  return { ...question, draining };
}

/** Nodes with a stop that is committed and whose outcome is not known yet. */
export function stoppingNodes(intents: readonly Intent[]): ReadonlySet<NodeId> {
  return new Set(
    intents.flatMap((intent) => (intent.effect.kind === "terminate" ? intent.effect.nodes : [])),
  );
}
