import type { Clock } from "./engine.ts";

/**
 * A clock that starts at `origin` (ms since 1970) and runs `speed` times as fast as `realNow`.
 * Two processes with the same origins and speed read the same time.
 */
export function scaleClock(
  speed: number,
  origin: number,
  realOrigin: number,
  realNow: () => number = Date.now,
): Clock {
  return { now: () => Math.floor(origin + (realNow() - realOrigin) * speed) };
}
