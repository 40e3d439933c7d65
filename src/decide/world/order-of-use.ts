import type { LedgerNode } from "../../domain/ledger.ts";
import type { Node } from "../../domain/cluster.ts";
import { bootingSince, isStarting } from "../intents/node-starts.ts";

/** The order in which capacity is used; lower goes first. */
export const ORDER = { busy: 0, ready: 1, wantsToStop: 2, coming: 3, deallocated: 4 };

/** The position of a node in the order of use. A marked node comes after others that are up. */
export function orderOf(node: Node, known: LedgerNode | undefined): number {
  if (node.phase === "ready" && known?.draining !== undefined) return ORDER.wantsToStop;
  return orderUnmarked(node, known);
}

/** The position of a node without regard to its mark. */
export function orderUnmarked(node: Node, known: LedgerNode | undefined): number {
  if (node.phase === "deallocated" && !isStarting(known)) return ORDER.deallocated;
  if (node.phase !== "ready") return ORDER.coming + ageFraction(known);
  if (known?.busyness.state === "busy") return ORDER.busy;
  return ORDER.ready + ageFraction(known);
}

/**
 * A number in [0, 1) that is larger for newer nodes, so that older ones are used first and plans stay stable. Of nodes that were first observed
 * together, those that were requested first come first.
 */
function ageFraction(known: LedgerNode | undefined): number {
  if (known === undefined) return 0;
  const askedAfter = Math.min(known.askedAfter ?? 0, REQUESTS_APART - 1);
  return Math.min(bootingSince(known) + askedAfter / REQUESTS_APART, LAST_INSTANT) / (LAST_INSTANT + 1);
}

/** In the year 2096. With this end, 53 bits have room for 500 requests in each millisecond. */
const LAST_INSTANT = 4e12;

const REQUESTS_APART = 500;
