import type { LedgerNode } from "../../domain/ledger.ts";
import type { Node } from "../../domain/cluster.ts";
import { bootingSince, isStarting } from "../intents/node-starts.ts";

/** The order in which capacity is used; lower goes first. */
export const ORDER = { busy: 0, ready: 1, wantsToStop: 2, coming: 3, deallocated: 4 };

/** The place of a node in the order of use; a node that is marked gives way to others that are up. */
export function orderOf(node: Node, known: LedgerNode | undefined): number {
  if (node.phase === "ready" && known?.draining !== undefined) return ORDER.wantsToStop;
  return orderUnmarked(node, known);
}

export function orderUnmarked(node: Node, known: LedgerNode | undefined): number {
  if (node.phase === "deallocated" && !isStarting(known)) return ORDER.deallocated;
  if (node.phase !== "ready") return ORDER.coming + ageFraction(known);
  if (known?.busyness.state === "busy") return ORDER.busy;
  return ORDER.ready + ageFraction(known);
}

/**
 * In [0, 1), growing with time: of nodes that are alike those that came first are used first, so that a plan once made stands; of those
 * that showed up at once those that were asked for first.
 */
function ageFraction(known: LedgerNode | undefined): number {
  if (known === undefined) return 0;
  const askedAfter = Math.min(known.askedAfter ?? 0, REQUESTS_APART - 1);
  return Math.min(bootingSince(known) + askedAfter / REQUESTS_APART, LAST_INSTANT) / (LAST_INSTANT + 1);
}

/** In the year 2096: so early that in a number of 53 bits there is room for this many requests in each millisecond. */
const LAST_INSTANT = 4e12;

const REQUESTS_APART = 500;
