import type { Instant, Milliseconds } from "../../domain/units.ts";
import { instant } from "../../domain/units.ts";

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that its driver sets. Sleeps end when it reaches their time. */
export class VirtualClock {
  #now: number;
  #leftOut: Milliseconds = 0;
  readonly #sleepers: Sleeper[] = [];

  constructor(origin: number) {
    this.#now = origin;
  }

  now(): Instant {
    return instant(this.#now);
  }

  /** The time that was left out so far: see {@link leaveOut}. */
  get leftOut(): Milliseconds {
    return this.#leftOut;
  }

  /** Moves the clock on over a time in which nobody looked at it. Only while nobody sleeps. */
  leaveOut(milliseconds: Milliseconds): void {
    if (this.#sleepers.length > 0) throw new Error("time cannot be left out while something waits for it");
    this.#now += milliseconds;
    this.#leftOut += milliseconds;
  }

  sleep(milliseconds: Milliseconds, signal?: AbortSignal): Promise<void> {
    return new Promise((wake) => {
      if (signal?.aborted === true) return wake();
      const sleeper = { at: this.#now + Math.max(0, milliseconds), wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", () => {
        const at = this.#sleepers.indexOf(sleeper);
        if (at >= 0) this.#sleepers.splice(at, 1);
        wake();
      });
    });
  }

  /** When the first sleeper wants to wake. */
  nextWakeAt(): number | undefined {
    let first: number | undefined;
    for (const { at } of this.#sleepers) if (first === undefined || at < first) first = at;
    return first;
  }

  /** Sets the clock, never back, and wakes all sleeps that are due. Returns whether there were any. */
  moveTo(at: number): boolean {
    this.#now = Math.max(this.#now, at);
    const due = this.#sleepers.filter((sleeper) => sleeper.at <= this.#now).sort((a, b) => a.at - b.at);
    if (due.length === 0) return false;
    const left = this.#sleepers.filter((sleeper) => sleeper.at > this.#now);
    this.#sleepers.splice(0, this.#sleepers.length, ...left);
    for (const { wake } of due) wake();
    return true;
  }
}

/** Lets all work run that does not wait for the clock. With all ports in memory, that is all microtasks. */
export function drainMicrotasks(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
