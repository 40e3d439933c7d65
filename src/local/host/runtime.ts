import type { QueueServiceClient } from "@azure/storage-queue";
import type { Clock } from "../scaled-clock.ts";
import type { AppSettings } from "./app-settings.ts";
import type { Binding, FunctionMetadata, Registry, RegisteredFunction, LogLevel } from "./core.ts";
import type { HostSettings } from "./host-json.ts";
import type { Milliseconds } from "../../domain/units.ts";

/** The parts of a host that all its triggers share. */

export type Runtime = {
  readonly registry: Registry;
  readonly hostSettings: HostSettings;
  readonly settings: AppSettings;
  readonly clock: Clock;
  readonly speed: number;
  readonly instanceId: string;
  readonly log: Log;
  readonly wakeUps: WakeUps;
  /** Aborts when the host begins to stop. Triggers then take no more work, and running work finishes. */
  readonly stopping: AbortSignal;
  /** The queue service that a binding's `connection` names. */
  queueService(connection: string | undefined): QueueServiceClient;
};

type Trigger = { readonly bindingName: string; readonly binding: Binding; readonly type: string };

/** A function's only trigger. Its type is in lower case, because letter case does not matter to the host. */
export function triggerOf(metadata: FunctionMetadata): Trigger {
  for (const [bindingName, binding] of Object.entries(metadata.bindings)) {
    if (/trigger$/i.test(binding.type)) return { bindingName, binding, type: binding.type.toLowerCase() };
  }
  throw new Error(`function "${metadata.name}" has no trigger`);
}

/** The registered function with this name. Letter case does not matter, as in the host. */
export function findFunction(registry: Registry, name: string): RegisteredFunction | undefined {
  return [...registry.functions.values()].find(
    ({ metadata }) => metadata.name.toLowerCase() === name.toLowerCase(),
  );
}

// The log lines of the host and of its functions.

type LogEntry = {
  readonly level: LogLevel;
  /** Source of the entry. "host": the host itself; "user": a function's context.log; "system": the programming model. */
  readonly category: string;
  readonly message: string;
  readonly functionName?: string;
  readonly invocationId?: string;
};
export type Log = (entry: LogEntry) => void;

// Wakes the trigger that polls a queue when code in this process adds a message (platform.md section 3, "backoff").

type WakeUps = {
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
