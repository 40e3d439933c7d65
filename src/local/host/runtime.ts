/** The shared parts of all triggers of one host. */
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
  /** Says something, through the app's log hooks; `invocationContext` is the invocation's own, if it is one that speaks. */
  log(entry: LogEntry, invocationContext?: unknown): void;
  readonly wakeUps: WakeUps;
  /** Aborts when the host begins to stop: triggers take no more work, what runs finishes. */
  readonly stopping: AbortSignal;
  /** The queue service that a binding's `connection` names. */
  queueService(connection: string | undefined): QueueServiceClient;
};

export type Trigger = { readonly bindingName: string; readonly binding: Binding; readonly type: string };

/** A function's one trigger; its type in lower case, as the host compares types without regard to case. */
export function triggerOf(metadata: FunctionMetadata): Trigger {
  for (const [bindingName, binding] of Object.entries(metadata.bindings)) {
    if (/trigger$/i.test(binding.type)) return { bindingName, binding, type: binding.type.toLowerCase() };
  }
  throw new Error(`function "${metadata.name}" has no trigger`);
}

/** The registered function of that name. Names are compared without regard to case, as the host does. */
export function findFunction(registry: Registry, name: string): RegisteredFunction | undefined {
  return [...registry.functions.values()].find(
    ({ metadata }) => metadata.name.toLowerCase() === name.toLowerCase(),
  );
}
