import { setTimeout as pause } from "node:timers/promises";
import { putSet } from "./doors.ts";
import type { Pushed } from "./judge-stops.ts";
import type { Parts } from "./parts.ts";

/** The demand of one set, and each value that it has had. */
export interface MovingDemand {
  readonly pushes: readonly Pushed[];
  /** Sends a value, again and again to hosts that are drawn, until one acknowledges it or `signal` aborts. */
  set(count: number, signal?: AbortSignal): Promise<void>;
  /** Sends a value once, to a host that is drawn, and gives it up after `waitMs` (real), as a sender does that cron starts. */
  say(count: number, waitMs: number): Promise<void>;
}

const SET = "standard";
const DAY_SECONDS = 86_400;
const RETRY_MS = 200;

export function openMovingDemand(parts: Parts, uniform: () => number): MovingDemand {
  const pushes: Pushed[] = [];
  /** Resolves with a function that sends the value once, and says whether it was acknowledged. */
  const begin = (count: number, waitMs?: number): (() => Promise<boolean>) => {
    const sentAt = parts.clock.now();
    const position = pushes.push({ count, sentAt }) - 1;
    const content = {
      revision: Date.now(),
      expirationInterval: DAY_SECONDS,
      nodearrays: [{ Name: "execute", TargetCount: count }],
    };
    return async () => {
      const host = parts.hosts[Math.floor(uniform() * parts.hosts.length)];
      const { status } = await putSet(parts, host?.url ?? "", SET, content, waitMs);
      if (status === 202) pushes[position] = { count, sentAt, acknowledgedAt: parts.clock.now() };
      return status === 202;
    };
  };
  return {
    pushes,
    async set(count, signal) {
      const send = begin(count);
      for (;;) {
        if (signal?.aborted === true || (await send())) return;
        await pause(RETRY_MS);
      }
    },
    async say(count, waitMs) {
      await begin(count, waitMs)();
    },
  };
}
