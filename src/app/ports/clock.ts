import type { Instant, Milliseconds } from "../../domain/units.ts";

/**
 * The clock of the product. In Azure the instance's clock, corrected to that of the storage service. Locally a scaled or virtual one.
 * Throws nothing.
 */
export interface Clock {
  /** Seconds of this clock per real second. Absent: 1, or the clock stands still until it is set. */
  readonly speed?: number;
  now(): Instant;
  /** Resolves after this many milliseconds of this clock, or as soon as `signal` aborts: a sleep without a waiting caller ends. */
  sleep(milliseconds: Milliseconds, signal?: AbortSignal): Promise<void>;
}
