import type { Bytes } from "../../domain/memory-budget.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";

/** A process that has not planned a cluster for this long is taken for gone. */
const REMEMBERED_SECONDS: Seconds = 3600;

/** Notes that a process with this heap plans the cluster now. */
export function noteHeap(record: ClusterRecord, bytes: Bytes, now: Instant): ClusterRecord {
  const others = recent(record, now).filter((heap) => heap.bytes !== bytes);
  return { ...record, heaps: [...others, { bytes, at: now }] };
}

/** The smallest heap that planned the cluster in the last hour: the bounds of the cluster follow from it, whoever asks. `own`: if none did. */
export function smallestHeap(record: ClusterRecord, own: Bytes, now: Instant): Bytes {
  const known = recent(record, now).map(({ bytes }) => bytes);
  return known.length === 0 ? own : Math.min(...known);
}

function recent({ heaps = [] }: ClusterRecord, now: Instant): NonNullable<ClusterRecord["heaps"]> {
  return heaps.filter(({ at }) => Math.abs(secondsBetween(at, now)) < REMEMBERED_SECONDS);
}
