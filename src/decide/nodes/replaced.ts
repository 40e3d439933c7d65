import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { ArrayName, NodeId } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Ledger, LedgerNode } from "../../domain/record.ts";
import { timeoutsOf } from "../../domain/timeouts.ts";
import type { Instant } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { isDown } from "./down.ts";
import { bootingSince } from "../intents/node-starts.ts";
import { unclearUntil } from "./unclear.ts";

/** Of an array's nodes this share is replaced at a time while CycleCloud still lists them as wanted ... */
const SHARE_REPLACED = 0.1;
/** ... and at least so many. */
const FEWEST_REPLACED = 3;

/** Nodes that CycleCloud lists as wanted and that are of no use. */
export interface Useless {
  /** No capacity: others are created for them. */
  readonly replaced: readonly NodeId[];
  /** They count as there: enough others of their array are being replaced, or a job is reported on them. */
  readonly kept: readonly NodeId[];
}

/**
 * The nodes of a look that failed, were not Ready in time, are down after they were Ready, or are unclear for too long. At most a tenth
 * of an array's nodes (at least 3) are replaced at a time; the others wait until CycleCloud has accepted the stop of those, or lists
 * them no more (docs/protocol.md, Doubt). So a fault that all nodes show, for whatever reason, does not create a second cluster.
 */
export function uselessNodes(snapshot: Snapshot, ledger: Ledger, policy: Policy, now: Instant): Useless {
  const replaced: NodeId[] = [];
  const kept: NodeId[] = [];
  let room: Map<ArrayName, number> | undefined;
  snapshot.nodes.forEach((node) => {
    // Most nodes are up: only for the others is the ledger asked.
    if (!mayBeUseless(node)) return;
    const known = ledger.get(node.nodeId);
    if (!isUseless(node, known, policy, now)) return;
    room ??= roomByArray(snapshot);
    const left = room.get(node.array) ?? 0;
    if (known?.busyness.state === "busy" || left === 0) kept.push(node.nodeId);
    else {
      room.set(node.array, left - 1);
      replaced.push(node.nodeId);
    }
  });
  return { replaced, kept };
}

function mayBeUseless({ phase }: Node): boolean {
  return phase === "failed" || phase === "coming" || phase === "unknown";
}

function isUseless(node: Node, known: LedgerNode | undefined, policy: Policy, now: Instant): boolean {
  if (node.phase === "failed") return true;
  if (known === undefined) return false;
  const unclear = unclearUntil(node, known, policy);
  if (unclear !== undefined) return now >= unclear;
  if (known.firstReadyAt !== undefined) return isDown(node, known, policy, now);
  return node.phase === "coming" && isLate(known, policy, now);
}

/** It never was Ready, and its time to boot is over. */
function isLate(known: LedgerNode, policy: Policy, now: Instant): boolean {
  return secondsBetween(bootingSince(known), now) >= timeoutsOf(policy, known).bootSeconds;
}

/** How many nodes of each array may be replaced at a time while CycleCloud still lists them as wanted. */
export function roomByArray({ nodes }: Snapshot): Map<ArrayName, number> {
  const counts = new Map<ArrayName, number>();
  for (const { array, phase } of nodes) {
    if (phase !== "off" && phase !== "deallocated") counts.set(array, (counts.get(array) ?? 0) + 1);
  }
  return new Map(
    [...counts].map(([array, count]) => [
      array,
      Math.max(FEWEST_REPLACED, Math.floor(count * SHARE_REPLACED)),
    ]),
  );
}
