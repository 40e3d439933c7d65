import type { Snapshot } from "../domain/cluster.ts";
import type { NodeId } from "../domain/ids.ts";
import type { ClusterRecord, Draining, Intent, Ledger } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { secondsBetween } from "../domain/units.ts";

/** A mark without its stop is the trace of a crash: a node that asked will ask again, another is judged again. */
export const STALE_MARK_SECONDS = 60;

/**
 * The nodes of a look that are in doubt (docs/protocol.md, Doubt). A doubted node counts as there for creates and as gone for stops:
 * nothing is created in its place, it is no substitute for a node that is to be stopped, and it is not stopped itself. Only nodes of
 * the look are named.
 */
export function doubtedNodes(
  record: Pick<ClusterRecord, "intents">,
  snapshot: Snapshot,
  ledger: Ledger,
  now: Instant,
): ReadonlySet<NodeId> {
  const doubted = new Set<NodeId>();
  const open = stoppingNodes(record.intents);
  snapshot.nodes.forEach(({ nodeId }) => {
    const draining = ledger.get(nodeId)?.draining;
    if (isGivenUp(draining)) return;
    if (open.has(nodeId) || isMarked(draining, now)) doubted.add(nodeId);
  });
  return doubted;
}

/** Nodes with a stop that is committed and whose outcome is not known yet. */
export function stoppingNodes(intents: readonly Intent[]): ReadonlySet<NodeId> {
  return new Set(
    intents.flatMap((intent) => (intent.effect.kind === "terminate" ? intent.effect.nodes : [])),
  );
}

/** The node is of no use whatever becomes of its stop, so it is replaced at once: it failed, did not boot, or calls itself unfit. */
export function isGivenUp(draining: Draining | undefined): boolean {
  return draining !== undefined && draining.by !== "idle" && draining.by !== "callback";
}

/** Its own question has marked it, and its stop is not committed yet: it may still be told to stay. */
function isMarked(draining: Draining | undefined, now: Instant): boolean {
  return (
    draining?.by === "callback" &&
    draining.sentAt === undefined &&
    secondsBetween(draining.since, now) < STALE_MARK_SECONDS
  );
}
