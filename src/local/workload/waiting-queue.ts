import type { JobReport } from "./scheduler-report.ts";
import { oneCore } from "./scheduler-report.ts";
import type { WorkloadJob } from "./workload-job.ts";

/** A job in the queue. */
export interface Waiting {
  readonly job: WorkloadJob;
  /** Its place among all submitted jobs. A job that lost its host keeps it. */
  readonly sequence: number;
  readonly submittedAt: number;
  readonly report: JobReport;
}

/** A job as the queue keeps it. */
export function queueJob({ job, sequence, submittedAt }: Omit<Waiting, "report">): Waiting {
  const report = { name: job.name, constraints: oneCore, iterations: job.processors };
  return { job, sequence, submittedAt, report };
}

interface Link {
  readonly waiting: Waiting;
  before: Link | undefined;
  after: Link | undefined;
}

/** Jobs in the order of their submission. Removing one from the middle costs the same at any length. */
export class WaitingQueue {
  readonly #links = new Map<Waiting, Link>();
  #first: Link | undefined;
  #last: Link | undefined;

  get size(): number {
    return this.#links.size;
  }

  get head(): Waiting | undefined {
    return this.#first?.waiting;
  }

  /** Adds a job at its place by sequence. That is the end, except for a job that is queued again. */
  add(waiting: Waiting): void {
    let after = this.#first;
    if (this.#last !== undefined && this.#last.waiting.sequence < waiting.sequence) after = undefined;
    while (after !== undefined && after.waiting.sequence < waiting.sequence) after = after.after;
    const before = after === undefined ? this.#last : after.before;
    const link: Link = { waiting, before, after };
    if (before === undefined) this.#first = link;
    else before.after = link;
    if (after === undefined) this.#last = link;
    else after.before = link;
    this.#links.set(waiting, link);
  }

  remove(waiting: Waiting): void {
    const link = this.#links.get(waiting);
    if (link === undefined) return;
    if (link.before === undefined) this.#first = link.after;
    else link.before.after = link.after;
    if (link.after === undefined) this.#last = link.before;
    else link.after.before = link.before;
    this.#links.delete(waiting);
  }

  /** All jobs in order. The caller may remove the job that it has just received. */
  *[Symbol.iterator](): Generator<Waiting> {
    let link = this.#first;
    while (link !== undefined) {
      const next = link.after;
      yield link.waiting;
      link = next;
    }
  }
}
