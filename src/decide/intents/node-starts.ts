import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { StartEffect } from "../../domain/intent.ts";
import type { Ledger, LedgerNode, NodeStart } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { bucketOf, bucketText } from "../../domain/bucket.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import { backOff } from "./back-off.ts";

/**
 * The start of deallocated nodes. Like a terminate, a start is never sent again; it is decided again. It names nodes by id, so its outcome
 * shows on the nodes. Sent again, it could start a node that was terminated meanwhile (cyclecloud-wire.md A.7: start is for "deallocated or
 * terminated nodes"). To decide it again with a new id is safe, because one NodeId is at most one VM; for a create it is not. It is still
 * avoided: CycleCloud may call the start of a starting node an error, which would look like a refusal. So a node whose start was requested
 * counts as coming until an observation shows its outcome, or its time is over.
 */

/** A start without a known answer is decided again after this time. The lag of statuses is seconds, not minutes. */
const UNSURE_SECONDS: Seconds = 60;
/** The pause of a node that was switched off again while it started. Its start was not refused. */
const OFF_AGAIN_REST_SECONDS: Seconds = 120;

/** Whether a start was requested and no observation shows it yet. The node counts as coming, and against the limits. */
export function isStarting(known: LedgerNode | undefined): boolean {
  return known?.start?.state === "unsure" || known?.start?.state === "accepted";
}

/**
 * Whether a node of ours may be started: it is deallocated, no start is requested, and it does not pause after a failed start. A node with
 * KeepAlive belongs to a person, and we could not stop it again. One that had shut itself down would do so again.
 */
export function mayBeStarted(node: Node, known: LedgerNode | undefined): boolean {
  return (
    node.phase === "deallocated" &&
    !node.keepAlive &&
    known?.start === undefined &&
    known?.kept?.by !== "down"
  );
}

/** Until when a node pauses after a failed start. Undefined if it does not pause. */
export function restsUntil(known: LedgerNode): Instant | undefined {
  return known.start?.until;
}

/** When the node began to boot. The boot timeout counts from here. */
export function bootingSince(known: LedgerNode): Instant {
  return known.start?.state === "shown" ? known.start.since : known.firstSeenAt;
}

/** Whether an observation that began at `began` may show a deallocated node as it was before: it began before the one that showed it off had arrived. */
export function isFromBefore(old: LedgerNode | undefined, began: Instant): boolean {
  return old?.deallocated === true && old.kept !== undefined && began < old.kept.since;
}

/** The start of a node after a new observation, which began at `began`. */
export function nextStart(
  old: LedgerNode | undefined,
  node: Node,
  now: Instant,
  began: Instant = now,
): NodeStart | undefined {
  const start = old?.start;
  if (node.phase === "deallocated" || isFromBefore(old, began)) {
    if (start?.state !== "shown") return start;
    // It may show the node as it was before.
    if (began < (start.shownAt ?? start.since)) return { ...start, state: "accepted" };
    const message = "it was deallocated again before it was Ready";
    return old?.firstReadyAt === undefined ? failedStart(message, now, OFF_AGAIN_REST_SECONDS) : undefined;
  }
  if (old?.deallocated !== true) return start;
  // It starts, or stops again already. Our start is over, even if another tool started the node.
  const stopped = old.kept?.by === undefined ? {} : { stopped: true as const };
  return { state: "shown", since: isStarting(old) ? (start?.since ?? now) : now, shownAt: now, ...stopped };
}

/**
 * Ends starts that have waited long enough. An accepted start that does not show within the time of creates has failed. Its bucket pauses, so
 * that the demand is served elsewhere. A start without an answer is forgotten and decided again. Starts that are still open wait.
 */
export function endStarts(
  record: ClusterRecord,
  ledger: Ledger,
  snapshot: Snapshot,
  policy: Policy,
  now: Instant,
): { readonly record: ClusterRecord; readonly ledger: Ledger } {
  const underWay = startingNodes(record);
  let next = record;
  const ended = new Map<NodeId, LedgerNode>();
  for (const node of snapshot.nodes) {
    if (node.phase !== "deallocated") continue;
    const known = ledger.get(node.nodeId);
    if (known?.start === undefined || underWay.has(node.nodeId)) continue;
    if (snapshot.early === true && known.start.state === "unsure") continue;
    const start = stillGoing(node, known.start, policy, now);
    if (start === known.start) continue;
    ended.set(node.nodeId, withStart(known, start));
    if (start !== undefined) next = backOff(next, bucketOf(node), "boot-failed", start.message ?? "", now);
  }
  return ended.size === 0 ? { record, ledger } : { record: next, ledger: new Map([...ledger, ...ended]) };
}

/** The same start while it waits or pauses. Undefined if it is forgotten. A refused start if it failed. */
function stillGoing(node: Node, start: NodeStart, policy: Policy, now: Instant): NodeStart | undefined {
  const age = secondsBetween(start.since, now);
  const waited = `${node.name} was still Deallocated ${Math.round(age)} s after`;
  switch (start.state) {
    case "accepted": {
      if (age < policy.inFlightGraceSeconds) return start;
      return failedStart(`${waited} CycleCloud accepted its start`, now);
    }
    case "unsure": {
      if (age < UNSURE_SECONDS) return start;
      // A 409 may have meant that the start was sent before. That is excluded now, because there was no effect.
      if (start.message === undefined) return undefined;
      return failedStart(`${waited} CycleCloud answered 409 to its start: ${start.message}`, now);
    }
    case "refused":
      return now < (start.until ?? now) ? start : undefined;
    case "shown":
      return start;
  }
}

function startingNodes(record: ClusterRecord): ReadonlySet<NodeId> {
  return new Set(record.intents.flatMap(({ effect }) => (effect.kind === "start" ? effect.nodes : [])));
}

/** The node with this start. Undefined: without any start. */
export function withStart(known: LedgerNode, start: NodeStart | undefined): LedgerNode {
  const { start: _before, ...rest } = known;
  return start === undefined ? rest : { ...rest, start };
}

/** One effect for each bucket, so that a refusal pauses only its bucket. */
export function startEffects(starts: readonly NodeId[], snapshot: Snapshot): readonly StartEffect[] {
  const wanted = new Set(starts);
  const effects = new Map<string, StartEffect>();
  for (const node of snapshot.nodes) {
    if (!wanted.has(node.nodeId)) continue;
    const bucket = bucketOf(node);
    const key = bucketText(bucket);
    effects.set(key, { kind: "start", bucket, nodes: [...(effects.get(key)?.nodes ?? []), node.nodeId] });
  }
  return [...effects.values()];
}

const START_REST_SECONDS: Seconds = 900;

/** A failed start. The node is not started again at once, because a broken node would pause its bucket for ever. */
export function failedStart(message: string, now: Instant, seconds = START_REST_SECONDS): NodeStart {
  return { state: "refused", since: now, until: plusSeconds(now, seconds), message };
}
