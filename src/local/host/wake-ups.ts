/** Wakes the trigger that polls a queue when code in this process adds a message (platform.md section 3, "backoff"). */
import type { Clock } from "../scaled-clock.ts";
import type { Milliseconds } from "../../domain/units.ts";

export type WakeUps = {
  wake(queueName: string): void;
  /** Sleeps for `milliseconds` (simulated), until the queue is woken, or until `signal` aborts. */
  sleep(queueName: string, milliseconds: Milliseconds, signal: AbortSignal): Promise<void>;
};

export function createWakeUps(clock: Clock): WakeUps {
  const sleepers = new Map<string, Set<AbortController>>();
  return {
    wake(queueName) {
      for (const sleeper of sleepers.get(queueName) ?? []) sleeper.abort();
    },
    async sleep(queueName, milliseconds, signal) {
      const sleeper = new AbortController();
      const others = sleepers.get(queueName) ?? new Set<AbortController>();
      sleepers.set(queueName, others.add(sleeper));
      // Not AbortSignal.any: with a poll every few milliseconds, signals that depend on the host's own signal would accumulate.
      const stop = () => sleeper.abort();
      signal.addEventListener("abort", stop);
      if (!signal.aborted) await clock.sleep(milliseconds, sleeper.signal);
      signal.removeEventListener("abort", stop);
      others.delete(sleeper);
    },
  };
}
