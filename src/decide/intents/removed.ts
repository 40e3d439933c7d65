import { bucketOf, dynamicArrayOf } from "../../domain/bucket.ts";
import type { Node, NodePhase, Snapshot } from "../../domain/cluster.ts";
import { type ExclusiveRules, isOurs } from "../../domain/exclusive.ts";
import type { ArrayName, NodeId } from "../../domain/ids.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { backOff } from "./back-off.ts";
import { stoppingNodes } from "./open-intents.ts";

/** For this long a removal is shown as a trouble. */
const REMOVED_SECONDS: Seconds = 3600;

/** The inputs of {@link pauseRemoved}. */
interface Change {
  /** The last believed observation. */
  readonly before: Snapshot | undefined;
  /** The new observation. */
  readonly snapshot: Snapshot;
  /** The ledger after this observation. */
  readonly ledger: Ledger;
  /** Nodes whose stop has no known outcome. */
  readonly open: ReadonlySet<NodeId>;
  /** Arrays that are ours. */
  readonly managed: ReadonlySet<ArrayName>;
  /** The rules by which nodes of these arrays are ours. */
  readonly policy: ExclusiveRules;
}

/**
 * Pauses the buckets of our nodes that were removed before they were Ready, and not by us, as for nodes that fail (docs/protocol.md, Doubt).
 * Without the pause they would be created again with each observation. Nodes of other tools cause no pause.
 */
export function pauseRemoved(record: ClusterRecord, change: Change, now: Instant): ClusterRecord {
  const { before, snapshot, ledger, open, managed, policy } = change;
  const coming = (before?.nodes ?? []).filter(({ array, phase }) => isOnWayUp(phase) && managed.has(array));
  if (coming.length === 0) return record;
  const phases = new Map(snapshot.nodes.map(({ nodeId, phase }) => [nodeId, phase]));
  return coming.reduce((next, node) => {
    const known = ledger.get(node.nodeId);
    const phase = phases.get(node.nodeId);
    const isRemoved = phase === undefined || phase === "going" || phase === "off";
    if (known === undefined || !isRemoved || isStoppedByUs(known, open)) return next;
    if (known.firstReadyAt !== undefined || !isOurs(known, policy)) return next;
    return backOff(next, bucketOf(node), "boot-failed", textOf(node), now, dynamicArrayOf(known.purpose));
  }, record);
}

const isOnWayUp = (phase: NodePhase): boolean => phase === "coming" || phase === "unknown";

const textOf = ({ name }: Node): string =>
  `${name} was removed before it was Ready, and not by the autoscaler`;

/** Whether CycleCloud was asked to stop the node, or may have been. */
function isStoppedByUs({ nodeId, draining }: LedgerNode, open: ReadonlySet<NodeId>): boolean {
  return open.has(nodeId) || draining?.sentAt !== undefined || (draining?.attempts ?? 0) > 0;
}

/** Our nodes that went within the last hour and that we did not stop. */
export function removedByOthers(
  { intents }: Pick<ClusterRecord, "intents">,
  ledger: Ledger,
  policy: ExclusiveRules,
  now: Instant,
): readonly LedgerNode[] {
  const open = stoppingNodes(intents);
  return [...ledger.values()].filter(
    (node) =>
      node.goneAt !== undefined &&
      secondsBetween(node.goneAt, now) < REMOVED_SECONDS &&
      isOurs(node, policy) &&
      !isStoppedByUs(node, open),
  );
}
