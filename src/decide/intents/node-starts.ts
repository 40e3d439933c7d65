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
 * The start of deallocated nodes. A start is never replayed, it is decided again, as a terminate is: it names nodes by id, so that what
 * became of it is seen on the nodes themselves, and sent again it could bring up a node that was terminated meanwhile (cyclecloud-wire.md
 * A.7: start is for "deallocated or terminated nodes"). Deciding it again with a new id is safe, which it is not for a create: one NodeId
 * is at most one VM. It is still avoided: whether CycleCloud calls the start of a starting node an error is unknown, and it would read as
 * a refusal. So a node that was asked to start counts as coming, and is left alone, until an observation shows it or its time is up.
 */

/** A start of which no answer is known is decided again after so long: statuses lag by seconds, not by minutes. */
const UNSURE_SECONDS: Seconds = 60;
/** A node that was switched off again on its way up rests for so long: nobody has refused it. */
const OFF_AGAIN_REST_SECONDS: Seconds = 120;

/** Asked to start, and not shown yet: it counts as coming, and against the limits. */
export function isStarting(known: LedgerNode | undefined): boolean {
  return known?.start?.state === "unsure" || known?.start?.state === "accepted";
}

/**
 * Whether a node of ours may be started: shown as deallocated, not asked for yet, not resting after a start that came to nothing. One with
 * KeepAlive is somebody's own, and could not be stopped again.
 */
export function mayBeStarted(node: Node, known: LedgerNode | undefined): boolean {
  const isThere = node.phase === "deallocated" && node.missing === undefined;
  return isThere && !node.keepAlive && known?.start === undefined;
}

/** Until when a node rests after a start that came to nothing; undefined: it does not. */
export function restsUntil(known: LedgerNode): Instant | undefined {
  return known.start?.until;
}

/** When the node's way up began: the boot timeout counts from here. */
export function bootingSince(known: LedgerNode): Instant {
  return known.start?.state === "shown" ? known.start.since : known.firstSeenAt;
}

/** What a new observation shows of the start of a node. */
export function nextStart(old: LedgerNode | undefined, node: Node, now: Instant): NodeStart | undefined {
  const start = old?.start;
  if (node.phase === "deallocated") {
    if (start?.state !== "shown") return start;
    const message = "it was deallocated again before it was Ready";
    return old?.firstReadyAt === undefined ? cameToNothing(message, now, OFF_AGAIN_REST_SECONDS) : undefined;
  }
  if (old?.deallocated !== true) return start;
  // On its way up, by us or by somebody else, or already on its way down again: what we asked for is over.
  return { state: "shown", since: isStarting(old) ? (start?.since ?? now) : now };
}

/**
 * Ends what has waited long enough: a start that was accepted, and after the grace of creates is still not to be seen, came to nothing,
 * and its bucket gets a rest, so that the demand is served elsewhere; one that nobody answered is forgotten, and decided again. Nodes of
 * starts that are still under way wait for their outcome.
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
    const start = stillGoing(node, known.start, policy, now);
    if (start === known.start) continue;
    ended.set(node.nodeId, withStart(known, start));
    if (start !== undefined) next = backOff(next, bucketOf(node), "boot-failed", start.message ?? "", now);
  }
  return ended.size === 0 ? { record, ledger } : { record: next, ledger: new Map([...ledger, ...ended]) };
}

/** The same start while it may go on waiting or resting; undefined: forgotten; a refusal: it came to nothing. */
function stillGoing(node: Node, start: NodeStart, policy: Policy, now: Instant): NodeStart | undefined {
  const age = secondsBetween(start.since, now);
  const waited = `${node.name} was still Deallocated ${Math.round(age)} s after`;
  switch (start.state) {
    case "accepted": {
      if (age < policy.inFlightGraceSeconds) return start;
      return cameToNothing(`${waited} CycleCloud accepted its start`, now);
    }
    case "unsure": {
      if (age < UNSURE_SECONDS) return start;
      // A 409 of which CycleCloud knows nothing may have been a repeat; no longer, as nothing came of it.
      if (start.message === undefined) return undefined;
      return cameToNothing(`${waited} CycleCloud answered 409 to its start: ${start.message}`, now);
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

/** The node with this start, or without any. */
export function withStart(known: LedgerNode, start: NodeStart | undefined): LedgerNode {
  const { start: _before, ...rest } = known;
  return start === undefined ? rest : { ...rest, start };
}

/** One effect for each bucket, so that a refusal pauses the bucket that it is about. */
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

/** A start that came to nothing: a broken node is not tried again at once, or it would keep its bucket paused for ever. */
export function cameToNothing(message: string, now: Instant, seconds = START_REST_SECONDS): NodeStart {
  return { state: "refused", since: now, until: plusSeconds(now, seconds), message };
}
