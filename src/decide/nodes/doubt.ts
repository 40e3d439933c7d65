import type { Node, Snapshot } from "../../domain/cluster.ts";
import { isLost } from "../../domain/cluster.ts";
import type { NodeId } from "../../domain/ids.ts";
import { InTurn } from "../../domain/in-turn.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Draining, Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { TimeoutRules } from "../../domain/timeouts.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { uselessNodes } from "./replaced.ts";
import { unclearUntil } from "./unclear.ts";
import { stoppingNodes } from "../intents/open-intents.ts";

/** A mark without a stop is left from a crash after this time. A node that asked asks again. Other nodes are judged again. */
export const STALE_MARK_SECONDS: Seconds = 60;

/**
 * The nodes of an observation that are in doubt (docs/protocol.md, Doubt). A doubted node counts as existing for creates and as gone for
 * stops: nothing is created in its place, and it replaces no node that is to be stopped. Nodes that the observation lacks are part of it
 * (missing.ts).
 */
export function doubtedNodes(
  record: Pick<ClusterRecord, "intents">,
  snapshot: Snapshot,
  ledger: Ledger,
  policy: Policy,
  now: Instant,
): ReadonlySet<NodeId> {
  const doubted = new Set(uselessNodes(snapshot, ledger, policy, now).kept);
  const open = stoppingNodes(record.intents);
  const entries = new InTurn(ledger);
  snapshot.nodes.forEach((node) => {
    const known = entries.get(node.nodeId);
    if (isStopDoubted(node, known, open, now) || isRecordDoubted(node, known, policy, now))
      doubted.add(node.nodeId);
  });
  return doubted;
}

/** Whether the node is of no use, even if its stop is lost: it failed, did not boot, or called itself unhealthy. */
export function isGivenUp(draining: Draining | undefined): boolean {
  return draining !== undefined && draining.by !== "idle" && draining.by !== "callback";
}

/**
 * Whether it is not known if the node exists or is wanted: the observation lacks it, or its record has been unclear for a short time. Such a
 * node is not stopped. If it asks, it is told to wait.
 */
export function isRecordDoubted(
  node: Node,
  known: LedgerNode | undefined,
  policy: TimeoutRules,
  now: Instant,
): boolean {
  if (isLost(node)) return true;
  const until = unclearUntil(node, known, policy);
  return until !== undefined && now < until;
}

/** Whether the stop of the node may still be lost: its outcome is not known, or it is not committed yet. */
function isStopDoubted(
  { nodeId, phase }: Node,
  known: LedgerNode | undefined,
  open: ReadonlySet<NodeId>,
  now: Instant,
): boolean {
  if (phase !== "ready" && phase !== "coming" && phase !== "unknown") return false;
  if (isGivenUp(known?.draining)) return false;
  return open.has(nodeId) || isMarked(known?.draining, now);
}

/** Whether the node was marked by its own question and its stop is not committed yet. It may still be told to stay. */
function isMarked(draining: Draining | undefined, now: Instant): boolean {
  return (
    draining?.by === "callback" &&
    draining.sentAt === undefined &&
    secondsBetween(draining.since, now) < STALE_MARK_SECONDS
  );
}
