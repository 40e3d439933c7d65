import { setTimeout as pause } from "node:timers/promises";
import { putSet } from "./doors.ts";
import type { Pushed } from "./judge-stops.ts";
import type { Parts } from "./parts.ts";

/** The demand of one set, and each value that it has had. */
export interface MovingDemand {
  readonly pushes: readonly Pushed[];
  /** Sends a value, again and again to hosts that are drawn, until one acknowledges it or `signal` aborts. */
  set(count: number, signal?: AbortSignal): Promise<void>;
}

const SET = "standard";
const DAY_SECONDS = 86_400;
const RETRY_MS = 200;

export function openMovingDemand(parts: Parts, uniform: () => number): MovingDemand {
  const pushes: Pushed[] = [];
  return {
    pushes,
    async set(count, signal) {
      const sentAt = parts.clock.now();
      const position = pushes.push({ count, sentAt }) - 1;
      const content = {
        revision: Date.now(),
        expirationInterval: DAY_SECONDS,
        nodearrays: [{ Name: "execute", TargetCount: count }],
      };
      for (;;) {
        if (signal?.aborted === true) return;
        const host = parts.hosts[Math.floor(uniform() * parts.hosts.length)];
        const { status } = await putSet(parts, host?.url ?? "", SET, content);
        if (status === 202) {
          pushes[position] = { count, sentAt, acknowledgedAt: parts.clock.now() };
          return;
        }
        await pause(RETRY_MS);
      }
    },
  };
}
