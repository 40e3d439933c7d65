import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { NodeVerdict } from "../../domain/node-verdict.ts";
import type { Standings } from "../../domain/node-standing.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { Unneeded, UnneededCost, UnneededSize } from "../../domain/unneeded.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { instant, secondsBetween } from "../../domain/units.ts";
import { priceNodes } from "../world/price-nodes.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** A node that is not needed should ask to stop within this time. CycleCloud's own scripts ask after 15 to 30 minutes without a job. */
export const ASKS_WITHIN_SECONDS: Seconds = 900;

const NAMED_SIZES = 5;

/** Observed nodes that no demand needs, and that only a callback, a report or an administrator can stop. Undefined if there are none. */
export function findUnneeded(
  snapshot: Snapshot,
  ledger: Ledger,
  verdicts: ReadonlyMap<NodeId, NodeVerdict>,
  standings: Standings,
  policy: Policy,
  now: Instant,
): Unneeded | undefined {
  const nodes: Node[] = [];
  let since = now;
  snapshot.nodes.forEach((node) => {
    if (verdicts.get(node.nodeId)?.kind !== "busyness-unknown") return;
    // Nodes that are not ours are stopped by an administrator or their own tool. describe-troubles.ts reports them.
    if (standings.get(node.nodeId)?.notOurs === true) return;
    const known = ledger.get(node.nodeId);
    const at = known === undefined ? now : unneededSince(known);
    if (secondsBetween(at, now) < ASKS_WITHIN_SECONDS) return;
    nodes.push(node);
    if (at < since) since = at;
  });
  if (nodes.length === 0) return undefined;
  const cost = costOf(nodes, snapshot, policy);
  return {
    nodes: nodes.length,
    since,
    sizes: sizesOf(nodes).slice(0, NAMED_SIZES),
    ...withoutAbsent({ cost }),
  };
}

/** When the node was last needed or, if it never was, when it came up. */
export function unneededSince({
  firstReadyAt,
  firstSeenAt,
  lastNeededAt,
}: Pick<LedgerNode, "firstReadyAt" | "firstSeenAt" | "lastNeededAt">): Instant {
  return instant(Math.max(firstReadyAt ?? firstSeenAt, lastNeededAt ?? 0));
}

function sizesOf(nodes: readonly Node[]): readonly UnneededSize[] {
  const sizes = new Map<string, UnneededSize>();
  for (const { array, machineType } of nodes) {
    const key = `${array}/${machineType}`;
    sizes.set(key, { array, machineType, nodes: (sizes.get(key)?.nodes ?? 0) + 1 });
  }
  return [...sizes.values()].toSorted((a, b) => b.nodes - a.nodes);
}

/** What the nodes cost. Undefined if no price of theirs is known. */
export function costOf(nodes: readonly Node[], snapshot: Snapshot, policy: Policy): UnneededCost | undefined {
  const price = priceNodes(nodes, snapshot, policy);
  if (price === undefined || price.unpricedNodes === nodes.length) return undefined;
  const { pricePerHour, currency, unpricedNodes = 0 } = price;
  return { perHour: pricePerHour, currency, unpriced: unpricedNodes };
}
