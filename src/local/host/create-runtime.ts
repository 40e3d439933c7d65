import { QueueServiceClient } from "@azure/storage-queue";
import { randomUUID } from "node:crypto";
import type { Clock } from "../scaled-clock.ts";
import { connectionString, type AppSettings } from "./app-settings.ts";
import type { Registry } from "./core.ts";
import { readHostJson } from "./host-json.ts";
import type { Log } from "./host-log.ts";
import type { Runtime } from "./runtime.ts";
import { createWakeUps } from "./wake-ups.ts";

export type RuntimeOptions = {
  /** The content of host.json. */
  readonly hostJson: unknown;
  /** The host's time. Durations in host.json and schedules are on this clock. */
  readonly clock: Clock;
  /** Simulated seconds per real second, as in `clock`. Durations for storage, which has real time, are divided by it. */
  readonly speed: number;
  /** Names this host as the owner of timer leases. Absent: random. */
  readonly instanceId?: string;
  readonly log?: Log;
};

/** Creates the shared parts of all triggers. Throws if host.json cannot be used. */
export function createRuntime(
  { clock, speed, hostJson, instanceId, log }: RuntimeOptions,
  settings: AppSettings,
  registry: Registry,
  stopping: AbortSignal,
): Runtime {
  const services = new Map<string, QueueServiceClient>();
  return {
    registry,
    hostSettings: readHostJson(hostJson),
    settings,
    clock,
    speed,
    instanceId: instanceId ?? randomUUID(),
    wakeUps: createWakeUps(clock),
    stopping,
    log(entry, invocationContext) {
      // Log hooks are part of the worker, and get only the worker's entries.
      if (entry.category === "host") return log?.(entry);
      const said = { ...entry, hookData: {}, appHookData: registry.appHookData, invocationContext };
      // A hook may change the level and the text.
      for (const hook of registry.hooks.log) hook(said);
      log?.({ ...entry, level: said.level, message: said.message });
    },
    queueService(connection) {
      const text = connectionString(connection, settings);
      const service =
        services.get(text) ??
        QueueServiceClient.fromConnectionString(text, { retryOptions: { maxTries: 3, retryDelayInMs: 50 } });
      services.set(text, service);
      return service;
    },
  };
}
