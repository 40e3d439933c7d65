import type { ArrayName, SetName } from "./ids.ts";
import type { Instant } from "./units.ts";

/**
 * What the real and the virtual fleet have been like, by day and node array. It is counted at each look: a look's nodes count for the time
 * since the look before. Bounded: {@link COMPARISON_DAYS} days.
 */
export interface Comparison {
  /** The oldest first. */
  readonly days: readonly ComparedDay[];
}

export interface ComparedDay {
  /** In UTC, "2026-01-31". */
  readonly day: string;
  /** In the order in which they were first observed. */
  readonly arrays: readonly ComparedArray[];
  /** Seconds that jobs waited for capacity, all jobs together; absent: no job said where it runs or that it waits. */
  readonly waiting?: { readonly real: number; readonly virtual: number };
  /** Of the costs; absent: no prices are known. */
  readonly currency?: string;
}

export interface ComparedArray {
  readonly array: ArrayName;
  /** How much of the day was observed. */
  readonly seconds: number;
  readonly real: FleetCounts;
  readonly virtual: FleetCounts;
  /** The largest ones, and the one that goes on. */
  readonly differences: readonly Difference[];
}

/** What one fleet had in one array on one day. Nodes count while they have a VM, or get one. */
export interface FleetCounts {
  /** The most nodes at a time. */
  readonly peak: number;
  readonly nodeSeconds: number;
  /** Of these: up, with no job on the node and no demand that needs it. */
  readonly idleSeconds: number;
  readonly boots: number;
  /** Absent: no prices are known. */
  readonly cost?: number;
  /** Node-seconds whose price is not known, and not in `cost`; absent: none. */
  readonly unpricedSeconds?: number;
}

/** A time in which the fleets differed in one way without a break. */
export interface Difference {
  /**
   * `idle`: real nodes beyond the virtual ones that were idle. `more`: real nodes beyond the virtual ones that were booting or at work.
   * `fewer`: virtual nodes beyond the real ones.
   */
  readonly kind: "idle" | "more" | "fewer";
  readonly since: Instant;
  readonly until: Instant;
  /** The most nodes at a time. */
  readonly nodes: number;
  readonly nodeSeconds: number;
  /** Of `idle`: the last stop of virtual nodes before; absent: the autoscaler would not have created them. */
  readonly stoppedAt?: Instant;
  /** Of `fewer`: the first few request sets that need the virtual nodes; absent: none needs them. */
  readonly sets?: readonly SetName[];
}

/** The comparison is kept for so many days. */
export const COMPARISON_DAYS = 90;
/** Differences kept of one array and day. */
export const MOST_DIFFERENCES = 6;
/** The same of past days. */
export const PAST_DIFFERENCES = 3;
/** Rows of day and array that are kept: of very many arrays fewer days. */
export const MOST_ROWS = 2000;
