import type { Instant } from "../../src/domain/units.ts";
import { instant } from "../../src/domain/units.ts";
import { MinHeap } from "../../src/local/workload/min-heap.ts";
import type { Dice } from "./dice.ts";

interface Step {
  readonly at: number;
  /** Steps of one moment come in an order that the seed decides. */
  readonly lot: number;
  readonly run: () => void;
}

/** A Thursday at midnight: any moment will do, as long as it is the same in every run. */
export const ORIGIN = Date.UTC(2026, 0, 1);

/** What is to happen when, on a clock that jumps from one step to the next. */
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

  /** Moves the clock, never back. */
  moveTo(at: number): void {
    this.#now = Math.max(this.#now, at);
  }

  /** Takes the next step. */
  step(): void {
    const step = this.#steps.pop();
    if (step === undefined) return;
    this.moveTo(step.at);
    step.run();
  }
}

/** Lets everything run that waits for nothing but its turn: all that a step has set going. */
export function drainMicrotasks(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
