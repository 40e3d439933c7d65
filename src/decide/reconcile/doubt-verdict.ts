import type { Node } from "../../domain/cluster.ts";
import { isLost } from "../../domain/cluster.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { DownEnd, NodeVerdict } from "../../domain/node-verdict.ts";
import type { Policy } from "../../domain/policy.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import type { Instant } from "../../domain/units.ts";
import { isDown } from "../nodes/down.ts";
import { missingUntil } from "../nodes/missing.ts";
import { unclearUntil } from "../nodes/unclear.ts";

/**
 * The verdict on a node that the observation lacks, whose record is unclear, or that is down. Undefined for other nodes. `kept`: nodes that
 * are of no use and still count as capacity. `end`: when it ends, if it is down.
 */
export function doubtVerdict(
  node: Node,
  known: LedgerNode,
  kept: ReadonlySet<NodeId>,
  end: DownEnd | undefined,
  policy: Policy,
  now: Instant,
): NodeVerdict | undefined {
  const { missing, nodeId, status } = node;
  const until = missingUntil(node);
  if (missing !== undefined && until !== undefined && isLost(node)) {
    const { observations: _count, ...shown } = missing;
    return { kind: "missing", ...shown, until };
  }
  const isKept = kept.has(nodeId);
  const clearBy = unclearUntil(node, known, policy);
  if (known.unclearSince !== undefined && clearBy !== undefined) {
    const over = now < clearBy ? {} : { over: isKept ? ("kept" as const) : ("replaced" as const) };
    return { kind: "unclear", since: known.unclearSince, until: clearBy, status, ...over };
  }
  if (known.leftReadyAt === undefined || !isDown(node, known, policy, now)) return undefined;
  const ends = end === undefined ? {} : { end };
  return { kind: "down", since: known.leftReadyAt, status, ...(isKept ? { kept: true } : {}), ...ends };
}
