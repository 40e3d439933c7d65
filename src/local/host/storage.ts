import type { Clock } from "../scaled-clock.ts";
import type { Milliseconds } from "../../domain/units.ts";

/** Conversions between the storage emulator's real time and the host's simulated time. */

/** The simulated time, in milliseconds, of a moment that storage reports in real time with whole seconds. */
export function simulatedTime(real: Date, clock: Clock, speed: number): number {
  return Math.round(clock.now() - (Date.now() - real.getTime()) * speed);
}

/**
 * A duration for storage, in whole real seconds, from simulated milliseconds. Storage has no fractions, so a positive duration is at least
 * 1 s.
 */
export function storageSeconds(simulatedMilliseconds: Milliseconds, speed: number): number {
  return Math.ceil(simulatedMilliseconds / 1000 / speed);
}

/** The HTTP status in an error of a storage client. Undefined for any other error. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("statusCode" in error)) return undefined;
  return typeof error.statusCode === "number" ? error.statusCode : undefined;
}
