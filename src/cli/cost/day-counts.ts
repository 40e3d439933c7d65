import { z } from "zod";

/** Requests to Table Storage or Queue Storage, by kind. Each is billed as one operation. */
export const STORAGE_KINDS = [
  "table read",
  "table list",
  "table write",
  "table delete",
  "table transaction",
  "table create",
  "queue put",
  "queue get",
  "queue peek",
  "queue update",
  "queue delete",
  "queue properties",
  "queue create",
] as const;

export type StorageKind = (typeof STORAGE_KINDS)[number];

/** Number of operations by kind. Absent: none. */
export type StorageCounts = Partial<Readonly<Record<StorageKind, number>>>;

const count = z.number().int().min(0);
const storage = z.partialRecord(z.enum(STORAGE_KINDS), count);

const dayCounts = z.strictObject({
  /** Description of the day, for readers. */
  day: z.string(),
  hours: z.number().positive(),
  /** Executions by function. Those of the timer do not depend on the number of clusters. */
  executions: z.record(z.string(), count),
  /** Operations of a process at its first tick, which creates missing tables and queues. */
  perStart: storage,
  /** Operations of the timer for all clusters together. */
  perApp: storage,
  /** Operations of the app for its one cluster. */
  perCluster: storage,
  /** Operations of senders. */
  bySenders: storage,
  /** Operations of the trigger for delivered messages, which it deletes or makes visible again. Without polls: see assumptions.ts. */
  byTrigger: storage,
  logLines: count,
  logBytes: count,
});

/** Counts of one app with one cluster in a simulated day of the local runtime (`npm run bench:cost`). */
export type DayCounts = z.infer<typeof dayCounts>;

/** The counts that `npm run bench:cost` printed; or what is wrong with them, one text for each problem. */
export function readDayCounts(
  value: unknown,
): { readonly counts: DayCounts } | { readonly problems: readonly string[] } {
  const read = dayCounts.safeParse(value);
  if (read.success) return { counts: read.data };
  return {
    problems: read.error.issues.map(({ path, message }) => `${path.join(".") || "the day"}: ${message}`),
  };
}

/** A day that comes with this release. */
export function shippedDay(value: unknown): DayCounts {
  return dayCounts.parse(value);
}
