import type { Run } from "./host.ts";
import type { Milliseconds, Seconds } from "../../domain/units.ts";

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

export interface WaitSummary {
  readonly meanWaitSeconds: Seconds;
  readonly p95WaitSeconds: Seconds;
}

/** Figures of the attempts that have ended. It keeps no attempt: there may be hundreds of thousands. */
export class JobLog {
  #new: JobLogEntry[] = [];
  #completed = 0;
  #killed = 0;
  /** How many completed jobs waited for so long. */
  readonly #waits = new Map<Milliseconds, number>();
  #waitedMs: Milliseconds = 0;
  #processorMs: Milliseconds = 0;

  get counts(): { readonly completed: number; readonly killed: number } {
    return { completed: this.#completed, killed: this.#killed };
  }

  add({ job, shares, submittedAt, startedAt }: Run, endedAt: number, outcome: JobLogEntry["outcome"]): void {
    const { name, processors } = job;
    const hosts = shares.length;
    this.#new.push({ name, processors, hosts, submittedAt, startedAt, endedAt, outcome });
    if (outcome === "killed") {
      this.#killed += 1;
      return;
    }
    const wait = startedAt - submittedAt;
    this.#completed += 1;
    this.#waits.set(wait, (this.#waits.get(wait) ?? 0) + 1);
    this.#waitedMs += wait;
    this.#processorMs += processors * (endedAt - startedAt);
  }

  /** The entries since the last call. */
  takeNew(): readonly JobLogEntry[] {
    const taken = this.#new;
    this.#new = [];
    return taken;
  }

  /** Waiting times of completed jobs, from submission to the start of the last attempt. p95 is the nearest rank. 0 without jobs. */
  waits(): WaitSummary {
    if (this.#completed === 0) return { meanWaitSeconds: 0, p95WaitSeconds: 0 };
    let left = Math.ceil(this.#completed * 0.95);
    const p95 = [...this.#waits].toSorted(([a], [b]) => a - b).find(([, jobs]) => (left -= jobs) <= 0)?.[0];
    return {
      meanWaitSeconds: this.#waitedMs / 1000 / this.#completed,
      p95WaitSeconds: (p95 ?? 0) / 1000,
    };
  }

  /** The fewest node-hours with which any cluster could run the completed jobs: processors x run time / cores of a node. */
  leastNodeHours(coresPerNode: number): number {
    return this.#processorMs / coresPerNode / 3_600_000;
  }
}
