import { isOurs } from "../../domain/exclusive.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { NodeId } from "../../domain/ids.ts";
import { STALE_MARK_SECONDS } from "./doubt.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import { uselessNodes } from "./replaced.ts";

/**
 * Whether a node is no capacity because of its stop: CycleCloud has accepted it, or the node called itself unhealthy. Other nodes with an
 * uncertain stop are in doubt (doubt.ts) or of no use (replaced.ts).
 */
export function isExcluded(
  known: LedgerNode,
  stopping: ReadonlySet<NodeId>,
  snapshot: Pick<Snapshot, "early" | "at">,
  now: Instant,
): boolean {
  const draining = known.draining;
  if (draining === undefined) return false;
  const isUnfit = draining.by === "unhealthy";
  // The open stop is newer than the accepted one.
  if (stopping.has(known.nodeId)) return isUnfit;
  if (draining.sentAt !== undefined) return isStopFresh(known, snapshot);
  return isUnfit && secondsBetween(draining.since, now) < STALE_MARK_SECONDS;
}

/** Nodes of an observation that are being stopped or replaced. They are no capacity, but count against limits. */
export function excludedNodes(
  snapshot: Snapshot,
  ledger: Ledger,
  stopping: ReadonlySet<NodeId>,
  policy: Policy,
  now: Instant,
): ReadonlySet<NodeId> {
  const excluded = new Set(uselessNodes(snapshot, ledger, policy, now).replaced);
  ledger.forEach((node, id) => {
    // A deallocated node that is not ours is not started, because we could not stop it again.
    const isForbidden = node.deallocated === true && !isOurs(node, policy);
    if (isForbidden || isExcluded(node, stopping, snapshot, now)) excluded.add(id);
  });
  return excluded;
}

/** If the node is still up by an observation that began this long after its terminate was accepted, the stop is decided again. */
const DECIDE_AGAIN_SECONDS: Seconds = 120;

/** Whether CycleCloud has accepted a stop of the node, and no observation shows that it was lost. Soon after a standstill none can. */
export function isStopFresh(
  { draining }: LedgerNode,
  { early, at }: Pick<Snapshot, "early" | "at">,
): boolean {
  if (draining?.sentAt === undefined) return false;
  return early === true || secondsBetween(draining.sentAt, at) < DECIDE_AGAIN_SECONDS;
}
