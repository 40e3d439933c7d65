/** The parts of a host that all its triggers share. */
import type { QueueServiceClient } from "@azure/storage-queue";
import type { Clock } from "../scaled-clock.ts";
import type { AppSettings } from "./app-settings.ts";
import type { Binding, FunctionMetadata, Registry, RegisteredFunction } from "./core.ts";
import type { HostSettings } from "./host-json.ts";
import type { LogEntry } from "./host-log.ts";
import type { WakeUps } from "./wake-ups.ts";

export type Runtime = {
  readonly registry: Registry;
  readonly hostSettings: HostSettings;
  readonly settings: AppSettings;
  readonly clock: Clock;
  readonly speed: number;
  readonly instanceId: string;
  /** Logs an entry, through the app's log hooks. `invocationContext` is given for an entry of an invocation. */
  log(entry: LogEntry, invocationContext?: unknown): void;
  readonly wakeUps: WakeUps;
  /** Aborts when the host begins to stop. Triggers then take no more work, and running work finishes. */
  readonly stopping: AbortSignal;
  /** The queue service that a binding's `connection` names. */
  queueService(connection: string | undefined): QueueServiceClient;
};

export type Trigger = { readonly bindingName: string; readonly binding: Binding; readonly type: string };

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
