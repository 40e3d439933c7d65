import type { ArrayName, SetName } from "./ids.ts";
import type { Instant, Seconds } from "./units.ts";
import { someOf } from "./text.ts";
import { isoTime, secondsBetween } from "./units.ts";

/**
 * Counts of the real and the virtual fleet, by day and node array. Updated at each observation: its nodes count for the time since the
 * previous one. Bounded to {@link COMPARISON_DAYS} days.
 */
export interface Comparison {
  /** The oldest first. */
  readonly days: readonly ComparedDay[];
}

/** The counts of one day. */
export interface ComparedDay {
  /** In UTC, "2026-01-31". */
  readonly day: string;
  /** In the order in which they were first observed. */
  readonly arrays: readonly ComparedArray[];
  /** Total seconds that jobs waited for capacity. Absent: no job reported where it runs or that it waits. */
  readonly waiting?: { readonly real: number; readonly virtual: number };
  /** Currency of the costs. Absent: no prices are known. */
  readonly currency?: string;
}

/** The counts of one array on one day. */
export interface ComparedArray {
  readonly array: ArrayName;
  /** How much of the day was observed. */
  readonly seconds: Seconds;
  readonly real: FleetCounts;
  readonly virtual: FleetCounts;
  /** The largest differences, and the one that continues. */
  readonly differences: readonly Difference[];
}

/** Counts of one fleet in one array on one day. A node counts while it has a VM or is getting one. */
export interface FleetCounts {
  /** The largest number of nodes at one time. */
  readonly peak: number;
  readonly nodeSeconds: Seconds;
  /** Of these: up, with no job on the node and no demand that needs it. */
  readonly idleSeconds: Seconds;
  readonly boots: number;
  /** Absent: no prices are known. */
  readonly cost?: number;
  /** Node-seconds whose price is unknown. They are not in `cost`. Absent: none. */
  readonly unpricedSeconds?: Seconds;
}

/** A period in which the fleets differed in one way without a break. */
export interface Difference {
  /**
   * - `idle`: surplus real nodes that were idle.
   * - `more`: surplus real nodes that were booting or at work.
   * - `fewer`: surplus virtual nodes.
   */
  readonly kind: "idle" | "more" | "fewer";
  readonly since: Instant;
  readonly until: Instant;
  /** The largest number of nodes at one time. */
  readonly nodes: number;
  readonly nodeSeconds: Seconds;
  /** For `idle`: the previous stop of virtual nodes. Absent: the autoscaler would not have created them. */
  readonly stoppedAt?: Instant;
  /** For `fewer`: the first few request sets that need the virtual nodes. Absent: no set needs them. */
  readonly sets?: readonly SetName[];
}

/** The comparison is kept for this many days. */
export const COMPARISON_DAYS = 90;
/** Maximum number of differences kept of one array and day. */
export const MOST_DIFFERENCES = 6;
/** Maximum number of differences kept of one array and past day. */
export const PAST_DIFFERENCES = 3;
/** Maximum number of rows (day and array). With very many arrays fewer days are kept. */
export const MOST_ROWS = 2000;

/** Two short sentences for people: what differed and for how long, and why. Times are in UTC. */
export function differenceText(difference: Difference): string {
  const { kind, nodes, since, until, nodeSeconds } = difference;
  const seconds = secondsBetween(since, until);
  const upTo = nodeSeconds < nodes * seconds ? "up to " : "";
  const count = `${upTo}${nodes} ${nodes === 1 ? "node" : "nodes"}`;
  const span = `for ${lengthText(seconds)} from ${timeText(since, since)} (${hoursText(nodeSeconds)} node-hours)`;
  switch (kind) {
    case "idle":
      return `${count} idle ${span}. ${fateText(difference)}: no job needed ${nodes === 1 ? "it" : "them"}`;
    case "more":
      return `${count} more ${span}, booting or at work. The autoscaler would have done without ${nodes === 1 ? "it" : "them"}`;
    case "fewer":
      return `${count} fewer ${span}. ${useText(difference)}`;
  }
}

function fateText({ nodes, stoppedAt, since }: Difference): string {
  const they = nodes === 1 ? "It" : "They";
  return stoppedAt === undefined
    ? `${they} would not have been created`
    : `${they} would have been stopped at ${timeText(stoppedAt, since)}`;
}

function useText({ nodes, sets = [] }: Difference): string {
  const them = nodes === 1 ? "it" : "them";
  return sets.length === 0
    ? `The autoscaler would have kept ${them} until the idle timeout`
    : `The autoscaler would have had ${them} for ${someOf(sets, 3)}`;
}

/** "10:40", or with the date if the day differs. */
function timeText(at: Instant, near: Instant): string {
  const [day = "", time = ""] = isoTime(at).split("T");
  const clock = time.slice(0, 5);
  return isoTime(near).startsWith(day) ? clock : `${day} ${clock}`;
}

/** "5 h", "1.5 h" or "25 min". */
function lengthText(seconds: Seconds): string {
  return seconds < 3600 ? `${Math.round(seconds / 60)} min` : `${hoursText(seconds)} h`;
}

/** Hours, with one decimal if they are not whole. */
function hoursText(seconds: Seconds): string {
  return String(Number((seconds / 3600).toFixed(1)));
}
