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

/** A mark without its stop is the trace of a crash: a node that asked will ask again, another is judged again. */
export const STALE_MARK_SECONDS: Seconds = 60;

/**
 * The nodes of an observation that are in doubt (docs/protocol.md, Doubt). A doubted node counts as there for creates and as gone for stops:
 * nothing is created in its place, and it is no substitute for a node that is to be stopped. Only nodes of the observation are named, which
 * those that it lacks belong to (missing.ts).
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

/** The node is of no use whatever becomes of its stop: it failed, did not boot, or calls itself unfit. */
export function isGivenUp(draining: Draining | undefined): boolean {
  return draining !== undefined && draining.by !== "idle" && draining.by !== "callback";
}

/**
 * Whether it is not known if the node is there at all: the observation lacks it, or its record is unclear and its time is not over. Such a node
 * is not stopped; one that asks is told to wait.
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

/** Its stop may still come to nothing: it is committed and no observation shows what became of it, or it is not even committed. */
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

/** Its own question has marked it, and its stop is not committed yet: it may still be told to stay. */
function isMarked(draining: Draining | undefined, now: Instant): boolean {
  return (
    draining?.by === "callback" &&
    draining.sentAt === undefined &&
    secondsBetween(draining.since, now) < STALE_MARK_SECONDS
  );
}
