import type { Run } from "./host.ts";
import { MinHeap } from "./min-heap.ts";

/** The jobs that run, in the order of their starts, of their expected ends, and of their ends. */
export class RunningJobs {
  readonly #started = new Set<Run>();
  readonly #byExpectedEnd: Run[] = [];
  readonly #byEnd = new MinHeap<Run>(
    (a, b) => a.endsAt < b.endsAt || (a.endsAt === b.endsAt && a.sequence < b.sequence),
  );

  get size(): number {
    return this.#started.size;
  }

  /** In the order of their starts. */
  [Symbol.iterator](): IterableIterator<Run> {
    return this.#started.values();
  }

  /** In the order of their expected ends. Equals are in the order of submission. */
  byExpectedEnd(): readonly Run[] {
    return this.#byExpectedEnd;
  }

  /** The job that ends next. Undefined while none runs. */
  nextToEnd(): Run | undefined {
    // Lost attempts stay in the heap until they are its first.
    while (this.#byEnd.peek()?.over === true) this.#byEnd.pop();
    return this.#byEnd.peek();
  }

  add(run: Run): void {
    this.#started.add(run);
    this.#byExpectedEnd.splice(this.#findPlace(run), 0, run);
    this.#byEnd.push(run);
  }

  /** The job has ended, or was lost with a host. */
  remove(run: Run): void {
    run.over = true;
    if (this.#started.delete(run)) this.#byExpectedEnd.splice(this.#findPlace(run), 1);
  }

  /** The number of jobs before it. (expected end, sequence) is unique among running jobs, so this is also its own place. */
  #findPlace(run: Run): number {
    let from = 0;
    let to = this.#byExpectedEnd.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = this.#byExpectedEnd[middle];
      if (other !== undefined && comesBefore(other, run)) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

function comesBefore(a: Run, b: Run): boolean {
  return a.expectedEnd < b.expectedEnd || (a.expectedEnd === b.expectedEnd && a.sequence < b.sequence);
}
