import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../../app/ports/ports.ts";
import type { Instant, Milliseconds } from "../../domain/units.ts";
import { instant } from "../../domain/units.ts";
import type { TableServiceClientOptions } from "@azure/data-tables";

interface SystemClockOptions {
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

type Policies = NonNullable<TableServiceClientOptions["additionalPolicies"]>;

/** The storage service's clock, estimated from its answers. */
interface ServiceTime {
  /** For the clients of the storage account: reads the Date of each answer. */
  readonly policies: Policies;
  /** Milliseconds to add to this instance's clock: 0 if the answers allow it, otherwise the smallest correction that they allow. */
  correction(): number;
}

/** How far the service's clock is ahead of ours: lower and upper bound in milliseconds. */
interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** HTTP dates name whole seconds, cut off. */
const DATE_RESOLUTION_MS: Milliseconds = 1000;

/**
 * Keeps bounds of the offset between two clocks. An answer with date D, sent after `sent` and read at `received`, was stamped in between
 * and within [D, D + 1 s), so the offset lies in (D - received, D + 1 s - sent). Every answer narrows the bounds. An answer that
 * contradicts them means that a clock was set, and resets them.
 */
export function observeServiceTime(localNow: () => number = Date.now): ServiceTime {
  let bounds: Bounds = { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY };
  const observe = (dateHeader: string | undefined, sent: number, received: number) => {
    const date = Date.parse(dateHeader ?? "");
    if (Number.isNaN(date)) return;
    const answer = { least: date - received, most: date + DATE_RESOLUTION_MS - sent };
    const both = { least: Math.max(bounds.least, answer.least), most: Math.min(bounds.most, answer.most) };
    bounds = both.least <= both.most ? both : answer;
  };
  return {
    policies: [
      {
        position: "perRetry",
        policy: {
          name: "observeServiceTime",
          async sendRequest(request, next) {
            const sent = localNow();
            const response = await next(request);
            observe(response.headers.get("date"), sent, localNow());
            return response;
          },
        },
      },
    ],
    correction: () => Math.min(Math.max(0, bounds.least), bounds.most),
  };
}
