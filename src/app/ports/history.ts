import type { ClusterName } from "../../domain/ids.ts";
import type { Endpoint } from "../../domain/calls.ts";
import type { Instant } from "../../domain/units.ts";

/** One row of history: the cluster's counts at a tick. */
export interface HistoryRow {
  readonly at: Instant;
  readonly plan: number;
  readonly nodes: Readonly<Record<string, number>>;
  readonly inFlight: number;
  readonly liveSets: number;
  /** Nodes created and stopped since the record was created. The difference of two rows is the number between them. */
  readonly created: number;
  readonly terminated: number;
  /** Deallocated nodes that were started. Absent: none. */
  readonly started?: number;
  /** Demands of the last plan that are not completely placed. */
  readonly unmet: number;
  /** The last plan only showed what it would do. Absent: it acted, or an older release wrote the row. */
  readonly mode?: "observe";
  /** What the last plan would create, start and stop in observed node arrays, in nodes. */
  readonly withheld?: { readonly create: number; readonly start: number; readonly stop: number };
  readonly trouble?: string;
  /** Ready nodes that no demand needs and that are not known to be busy. Absent: an older release wrote the row. */
  readonly idle?: number;
  /** Hourly price of all nodes, and of the idle ones. Absent: there were no prices. */
  readonly pricePerHour?: number;
  readonly idlePricePerHour?: number;
  readonly currency?: string;
  /** Nodes whose price was unknown. Absent: none. */
  readonly unpricedNodes?: number;
  /** Duration of a call in seconds, for each endpoint of CycleCloud that takes a second or more. Absent: none does. */
  readonly callSeconds?: Readonly<Partial<Record<Endpoint, number>>>;
}

/** Counts per cluster and tick, kept 30 days. */
export interface History {
  /** A row with the same moment is replaced. */
  append(cluster: ClusterName, row: HistoryRow): Promise<void>;
  /** Newest first, at most `limit`. */
  read(cluster: ClusterName, from: Instant, to: Instant, limit: number): Promise<readonly HistoryRow[]>;
  /** Removes rows before `before`, at most a few hundred per call. Returns their number. */
  prune(cluster: ClusterName, before: Instant): Promise<number>;
}
