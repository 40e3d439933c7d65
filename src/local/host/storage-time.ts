/** Between the storage emulator's time, which is real, and the host's, which is simulated. */
import type { Clock } from "../scaled-clock.ts";
import type { Milliseconds } from "../../domain/units.ts";

/** Dates beyond the year 9999 have no ISO form that a function could read. */
const lastInstant = Date.UTC(9999, 11, 31, 23, 59, 59);

/** The simulated time, in milliseconds, of a moment that storage reports in real time (to whole seconds). */
export function simulatedTime(real: Date, clock: Clock, speed: number): number {
  const simulated = Math.round(clock.now() - (Date.now() - real.getTime()) * speed);
  return Math.max(0, Math.min(simulated, lastInstant));
}

/**
 * Whole real seconds to ask storage for, given simulated milliseconds: storage knows no fractions, so a positive time is at least 1 s.
 */
export function storageSeconds(simulatedMilliseconds: Milliseconds, speed: number): number {
  return Math.ceil(simulatedMilliseconds / 1000 / speed);
}
