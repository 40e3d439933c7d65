import type { Run } from "./host.ts";

/** The jobs that run, in the order of their starts and in the order of their expected ends. */
export class RunningJobs {
  readonly #started = new Set<Run>();
  readonly #byExpectedEnd: Run[] = [];

  get size(): number {
    return this.#started.size;
  }

  [Symbol.iterator](): IterableIterator<Run> {
    return this.#started.values();
  }

  /** The soonest first; equals in the order of submission. */
  byExpectedEnd(): readonly Run[] {
    return this.#byExpectedEnd;
  }

  add(run: Run): void {
    this.#started.add(run);
    this.#byExpectedEnd.splice(this.#findPlace(run), 0, run);
  }

  remove(run: Run): void {
    if (this.#started.delete(run)) this.#byExpectedEnd.splice(this.#findPlace(run), 1);
  }

  /** How many come before it. (expected end, sequence) is unique among running jobs, so this is also where it is. */
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
