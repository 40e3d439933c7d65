import type { Instant } from "../../src/domain/units.ts";
import { instant } from "../../src/domain/units.ts";
import { MinHeap } from "../../src/local/workload/min-heap.ts";
import type { Dice } from "./dice.ts";

interface Step {
  readonly at: number;
  /** The seed decides the order of steps that are due at the same moment. */
  readonly lot: number;
  readonly run: () => void;
}

/** A Thursday at midnight. Any moment is fine if it is the same in every run. */
export const ORIGIN = Date.UTC(2026, 0, 1);

/** Steps that are due at given moments, on a clock that jumps from one step to the next. */
export class Schedule {
  readonly dice: Dice;
  readonly #steps = new MinHeap<Step>((a, b) => a.at < b.at || (a.at === b.at && a.lot < b.lot));
  #now = ORIGIN;

  constructor(dice: Dice) {
    this.dice = dice;
  }

  now(): Instant {
    return instant(this.#now);
  }

  after(milliseconds: number, run: () => void): void {
    this.at(this.#now + Math.max(0, milliseconds), run);
  }

  at(at: number, run: () => void): void {
    this.#steps.push({ at, lot: this.dice.fraction(), run });
  }

  /** When the next step is due. */
  nextAt(): number {
    return this.#steps.peek()?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Moves the clock forwards, never back. */
  moveTo(at: number): void {
    this.#now = Math.max(this.#now, at);
  }

  /** Runs the next step. */
  step(): void {
    const step = this.#steps.pop();
    if (step === undefined) return;
    this.moveTo(step.at);
    step.run();
  }
}

/** Lets all work run that a step has started and that waits for nothing else. */
export function drainMicrotasks(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
