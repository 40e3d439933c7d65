import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../../app/ports/ports.ts";
import type { Instant, Milliseconds } from "../../domain/units.ts";
import { instant } from "../../domain/units.ts";

export interface SystemClockOptions {
  /** Milliseconds to add to this instance's clock (see {@link observeServiceTime}). Default: none. */
  readonly correction?: () => number;
}

/** The instance's clock, corrected so that all instances agree to within a second. */
export function systemClock({ correction = () => 0 }: SystemClockOptions = {}): Clock {
  return {
    now: () => instant(Date.now() + correction()),
    sleep: (milliseconds, signal) => sleepReal(milliseconds, signal),
  };
}

/**
 * A clock that runs `speed` times as fast as the real one: now = origin + (real - origin) x speed, with `origin` in real milliseconds since
 * 1970. Processes with the same origin and speed agree.
 */
export function scaledClock(origin: number, speed: number): Clock {
  if (!(speed > 0) || !Number.isFinite(speed))
    throw new RangeError(`speed must be a positive number, not ${speed}`);
  return {
    speed,
    now: () => instant(origin + (Date.now() - origin) * speed),
    sleep: (milliseconds, signal) => sleepReal(milliseconds / speed, signal),
  };
}

/** The real moment at which {@link scaledClock} shows `at`, in whole milliseconds. */
export function unscaledTime(
  { origin, speed }: { readonly origin: number; readonly speed: number },
  at: Instant,
): Instant {
  return instant(Math.floor(origin + (at - origin) / speed));
}

/** Timers hold at most 2^31 - 1 ms. No intended sleep is that long. */
const LONGEST_TIMER_MS: Milliseconds = 2 ** 31 - 1;

async function sleepReal(milliseconds: Milliseconds, signal: AbortSignal | undefined): Promise<void> {
  const time = Math.min(LONGEST_TIMER_MS, Math.max(0, milliseconds));
  try {
    await pause(time, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
}
