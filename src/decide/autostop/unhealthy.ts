import type { ArrayName, NodeId } from "../../domain/ids.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord, UnhealthyStops } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { HostFact } from "../senders/host-facts.ts";
import { entryOfNode } from "../../domain/hosts.ts";
import { factThatCounts } from "../nodes/planned-beside.ts";

/**
 * Nodes that call themselves unhealthy (docs/nodes.md). Any holder of the stop URL of an array can call any of its nodes unhealthy. So no
 * node is stopped for it while a job is on it, and without a scheduler's report only a few are stopped within an hour.
 */

/** This share of an array's nodes may be stopped within an hour without a scheduler's report, ... */
const SHARE = 0.1;
/** ... and at least this many. */
const FEWEST = 3;
const HOUR_SECONDS: Seconds = 3600;
/** Stops of one array within this time are one entry of the record. An hour has 13 entries at most. */
const SLOT_SECONDS: Seconds = 300;

/** Whether a report in force says that the host has no jobs, or that no job starts there any more. */
function hasSchedulersWord(fact: HostFact | undefined): boolean {
  if (fact === undefined) return false;
  return fact.state === "closed" || (fact.reportedAt !== undefined && fact.jobs.length === 0);
}

/** Those of these unhealthy nodes that must wait, because enough others of their array were stopped within the last hour. */
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

/** Notes that these unhealthy nodes are stopped. */
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

/** How many nodes of the array may be stopped as unhealthy within an hour without a scheduler's report. */
export function limitOf(array: ArrayName, ledger: Ledger): number {
  let count = 0;
  ledger.forEach((node) => {
    if (node.array === array && node.goneAt === undefined) count += 1;
  });
  return Math.max(FEWEST, Math.floor(count * SHARE));
}

/** How many nodes of the array were stopped as unhealthy within the last hour without a scheduler's report. */
function goneOf(array: ArrayName, stops: readonly UnhealthyStops[], now: Instant): number {
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
    .filter((node) => !hasSchedulersWord(factThatCounts(entryOfNode(facts, node), node)));
}

function isRecent({ at }: UnhealthyStops, now: Instant): boolean {
  return secondsBetween(at, now) < HOUR_SECONDS;
}

function slotOf(at: Instant): number {
  return Math.floor(at / (1000 * SLOT_SECONDS));
}
