import type { Milliseconds } from "../domain/units.ts";

/** The time of the local runtime. Several processes share one scaled clock through its origin (architecture.md, Time). */

/** The time source of the host, the simulator and the driver. All durations passed to it are simulated. */
export type Clock = {
  /** Simulated milliseconds since 1970, whole. */
  now(): number;
  /** Resolves when `milliseconds` of simulated time have passed, or early when `signal` aborts. Never rejects. */
  sleep(milliseconds: Milliseconds, signal?: AbortSignal): Promise<void>;
};

/** Where simulated and real time agree (`origin`, real milliseconds since 1970), and how many simulated seconds a real one holds. */
type TimeScale = { readonly origin: number; readonly speed: number };

/** setTimeout fires at once when asked for more than 2^31 - 1 ms, so longer waits are cut into pieces of one day. */
const longestTimeout = 86_400_000;

/**
 * A clock on which simulated now = origin + (real now - origin) x speed. Two processes that are given the same origin and speed agree
 * to within the machine's own clock. Throws if the speed is not a positive number.
 */
export function scaledClock({ origin, speed }: TimeScale): Clock {
  if (!(speed > 0) || !Number.isFinite(speed))
    throw new RangeError(`speed must be a positive number, not ${speed}`);
  return {
    now: () => Math.round(origin + (Date.now() - origin) * speed),
    async sleep(milliseconds, signal) {
      for (let left = milliseconds / speed; ; left -= longestTimeout) {
        await pause(Math.min(left, longestTimeout), signal);
        if (left <= longestTimeout || signal?.aborted === true) return;
      }
    },
  };
}

function pause(realMilliseconds: Milliseconds, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.max(0, realMilliseconds));
    signal?.addEventListener("abort", end);
  });
}
