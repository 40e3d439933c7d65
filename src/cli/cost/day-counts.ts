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

/** How many operations of each kind. Absent: none. */
export type StorageCounts = Partial<Readonly<Record<StorageKind, number>>>;

const count = z.number().int().min(0);
const storage = z.partialRecord(z.enum(STORAGE_KINDS), count);

const dayCounts = z.strictObject({
  /** Description of the day, for readers. */
  day: z.string(),
  hours: z.number().positive(),
  /** Executions by function. Those of the timer do not depend on how many clusters there are. */
  executions: z.record(z.string(), count),
  /** When a process ran its first tick: it makes table and queues where they are missing. */
  perStart: storage,
  /** By the timer, for all clusters together. */
  perApp: storage,
  /** By the app, for the one cluster. */
  perCluster: storage,
  /** By those who send demand. */
  bySenders: storage,
  /** By the trigger, for each message that it delivered: it deletes it, or shows it again. Not the polling: see assumptions.ts. */
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
