import type { Clock } from "./engine.ts";

/** A clock that starts at `origin` (ms since 1970) and runs `speed` times as fast as `realNow`. The same arguments give the same time in every process. */
export function scaleClock(
  speed: number,
  origin: number,
  realOrigin: number,
  realNow: () => number = Date.now,
): Clock {
  return { now: () => Math.floor(origin + (realNow() - realOrigin) * speed) };
}
