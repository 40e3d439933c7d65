import type { ArrayName, NodeId } from "../../domain/ids.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord, UnhealthyStops } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { HostFact } from "../senders/host-facts.ts";
import { factOfNode } from "../nodes/planned-beside.ts";

/**
 * Nodes that call themselves unhealthy (docs/nodes.md). Whoever holds the stop URL of an array can say so of any of its nodes. So no node
 * goes on that word while a job is on it, and without a scheduler's word only a few go within an hour.
 */

/** Of an array's nodes this share may go within an hour on its own word alone ... */
const SHARE = 0.1;
/** ... and at least this many. */
const FEWEST = 3;
const HOUR_SECONDS: Seconds = 3600;
/** Stops of one array within this time are one entry of the record: an hour has 13 at most. */
const SLOT_SECONDS: Seconds = 300;

/** A report in force says that the host has no jobs, or that no job starts there any more. */
export function hasSchedulersWord(fact: HostFact | undefined): boolean {
  if (fact === undefined) return false;
  return fact.state === "closed" || (fact.reportedAt !== undefined && fact.jobs.length === 0);
}

/** Of these nodes, which call themselves unhealthy, those that must wait: enough others of their array went within the hour. */
export function heldByLimit(
  { unhealthyStops = [] }: Pick<ClusterRecord, "unhealthyStops">,
  ledger: Ledger,
  facts: ReadonlyMap<string, HostFact>,
  nodes: Iterable<NodeId>,
  now: Instant,
): readonly LedgerNode[] {
  const left = new Map<ArrayName, number>();
  return onOwnWord(ledger, facts, nodes).filter(({ array }) => {
    const room = left.get(array) ?? limitOf(array, ledger) - goneOf(array, unhealthyStops, now);
    left.set(array, room - 1);
    return room <= 0;
  });
}

/** The record once these unhealthy nodes are to be stopped. */
export function noteUnhealthyStops(
  record: ClusterRecord,
  ledger: Ledger,
  facts: ReadonlyMap<string, HostFact>,
  nodes: Iterable<NodeId>,
  now: Instant,
): ClusterRecord {
  const going = onOwnWord(ledger, facts, nodes);
  if (going.length === 0) return record;
  const stops = (record.unhealthyStops ?? []).filter((stop) => isRecent(stop, now));
  for (const { array } of going) {
    const last = stops.findIndex((stop) => stop.array === array && slotOf(stop.at) === slotOf(now));
    const before = stops[last];
    if (before === undefined) stops.push({ array, at: now, count: 1 });
    else stops[last] = { array, at: now, count: before.count + 1 };
  }
  return { ...record, unhealthyStops: stops };
}

/** How many nodes of the array may go within an hour on their own word alone. */
export function limitOf(array: ArrayName, ledger: Ledger): number {
  let count = 0;
  ledger.forEach((node) => {
    if (node.array === array && node.goneAt === undefined) count += 1;
  });
  return Math.max(FEWEST, Math.floor(count * SHARE));
}

/** How many nodes of the array went within the last hour on their own word alone. */
export function goneOf(array: ArrayName, stops: readonly UnhealthyStops[], now: Instant): number {
  return stops
    .filter((stop) => stop.array === array && isRecent(stop, now))
    .reduce((sum, { count }) => sum + count, 0);
}

function onOwnWord(
  ledger: Ledger,
  facts: ReadonlyMap<string, HostFact>,
  nodes: Iterable<NodeId>,
): readonly LedgerNode[] {
  return [...nodes]
    .flatMap((id) => ledger.get(id) ?? [])
    .filter((node) => !hasSchedulersWord(factOfNode(facts, node, node)));
}

function isRecent({ at }: UnhealthyStops, now: Instant): boolean {
  return secondsBetween(at, now) < HOUR_SECONDS;
}

function slotOf(at: Instant): number {
  return Math.floor(at / (1000 * SLOT_SECONDS));
}
