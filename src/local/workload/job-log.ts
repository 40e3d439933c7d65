import type { Seconds } from "../../domain/units.ts";

/** One attempt at a job that has ended. */
export interface JobLogEntry {
  readonly name: string;
  readonly processors: number;
  readonly hosts: number;
  readonly submittedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  /** `killed`: one of its hosts went away; the job went back to the queue. */
  readonly outcome: "completed" | "killed";
}

export interface WaitSummary {
  readonly meanWaitSeconds: Seconds;
  readonly p95WaitSeconds: Seconds;
}

/** Waits of completed jobs, from submission to the start of the attempt that completed; p95 is the nearest rank. 0 without jobs. */
export function summarizeWaits(log: readonly JobLogEntry[]): WaitSummary {
  const waits = log
    .filter((entry) => entry.outcome === "completed")
    .map((entry) => (entry.startedAt - entry.submittedAt) / 1000)
    .toSorted((a, b) => a - b);
  if (waits.length === 0) return { meanWaitSeconds: 0, p95WaitSeconds: 0 };
  return {
    meanWaitSeconds: waits.reduce((sum, wait) => sum + wait, 0) / waits.length,
    p95WaitSeconds: waits[Math.ceil(waits.length * 0.95) - 1] ?? 0,
  };
}

/** Node-hours that no cluster could go below for the completed jobs: processors x run time / cores of a node. */
export function measureLeastNodeHours(log: readonly JobLogEntry[], coresPerNode: number): number {
  return log
    .filter((entry) => entry.outcome === "completed")
    .reduce(
      (sum, entry) => sum + (entry.processors * (entry.endedAt - entry.startedAt)) / coresPerNode / 3_600_000,
      0,
    );
}
