import type { Run } from "./host.ts";
import type { Seconds } from "../../domain/units.ts";

/** An attempt to run a job that has ended. */
export interface JobLogEntry {
  readonly name: string;
  readonly processors: number;
  readonly hosts: number;
  readonly submittedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  /** `killed`: one of its hosts was lost, and the job was queued again. */
  readonly outcome: "completed" | "killed";
}

/** Every attempt that has ended, in the order of the ends. */
export class JobLog {
  readonly #entries: JobLogEntry[] = [];
  #new: JobLogEntry[] = [];
  #completed = 0;

  get entries(): readonly JobLogEntry[] {
    return this.#entries;
  }

  get counts(): { readonly completed: number; readonly killed: number } {
    return { completed: this.#completed, killed: this.#entries.length - this.#completed };
  }

  add({ job, shares, submittedAt, startedAt }: Run, endedAt: number, outcome: JobLogEntry["outcome"]): void {
    const { name, processors } = job;
    const hosts = shares.length;
    const entry = { name, processors, hosts, submittedAt, startedAt, endedAt, outcome };
    if (outcome === "completed") this.#completed += 1;
    this.#entries.push(entry);
    this.#new.push(entry);
  }

  /** The entries since the last call. */
  takeNew(): readonly JobLogEntry[] {
    const taken = this.#new;
    this.#new = [];
    return taken;
  }
}

export interface WaitSummary {
  readonly meanWaitSeconds: Seconds;
  readonly p95WaitSeconds: Seconds;
}

/** Waiting times of completed jobs, from submission to the start of the last attempt. p95 is the nearest rank. 0 without jobs. */
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

/** The fewest node-hours with which any cluster could run the completed jobs: processors x run time / cores of a node. */
export function measureLeastNodeHours(log: readonly JobLogEntry[], coresPerNode: number): number {
  return log
    .filter((entry) => entry.outcome === "completed")
    .reduce(
      (sum, entry) => sum + (entry.processors * (entry.endedAt - entry.startedAt)) / coresPerNode / 3_600_000,
      0,
    );
}
