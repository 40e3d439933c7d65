/**
 * The local functions host: loads an app written for the Azure Functions v4 model and runs the functions that it registers, with the
 * platform's rules (platform.md section 3), against a storage emulator and on a clock of our own.
 */
import { TableClient } from "@azure/data-tables";
import { QueueServiceClient } from "@azure/storage-queue";
import { randomUUID } from "node:crypto";
import type { Clock } from "../scaled-clock.ts";
import { answerAdminRequest } from "./admin.ts";
import { connectionString, isDisabled, type AppSettings } from "./app-settings.ts";
import type { Registry } from "./core.ts";
import { readHostJson } from "./host-json.ts";
import { createKeys, type HostKeys } from "./host-keys.ts";
import type { Log } from "./host-log.ts";
import { listen } from "./http-server.ts";
import { answerRequest, emptyAnswer, readEndpoints } from "./http-trigger.ts";
import { listFunctions, loadApp, type AppSource, type FunctionSummary } from "./load-app.ts";
import { checkBindings } from "./queue-output.ts";
import { openQueue, runQueueTrigger } from "./queue-trigger.ts";
import { triggerOf, type Runtime } from "./runtime.ts";
import { readTimer, runTimerTrigger } from "./timer-trigger.ts";
import { createWakeUps } from "./wake-ups.ts";
import { createWorkInHand } from "./work-in-hand.ts";

export type HostOptions = {
  /** The app's entry, or what imports it. There is one app per process; several hosts of a process share its functions. */
  readonly app: AppSource;
  /** The content of host.json. */
  readonly hostJson: unknown;
  /** App settings; they are put into process.env before the app is imported. `AzureWebJobsStorage` defaults to `connectionString`. */
  readonly settings: AppSettings;
  /** The host's own time; all durations in host.json and schedules are on this clock. */
  readonly clock: Clock;
  /** Simulated seconds per real second, as in `clock`: what storage is asked for is divided by it. */
  readonly speed: number;
  readonly keys?: HostKeys;
  /** Where to listen on 127.0.0.1. Absent or 0: a free port. */
  readonly port?: number;
  /** Names this host as the owner of timer leases. Absent: random. */
  readonly instanceId?: string;
  /** The host's own storage: timer leases and schedules. */
  readonly connectionString: string;
  readonly log?: Log;
};

export type Host = {
  readonly url: string;
  readonly keys: HostKeys;
  readonly functions: readonly FunctionSummary[];
  /** Answers a request as the server at `url` does, without a socket. */
  fetch(request: Request): Promise<Response>;
  /** Lets a queue trigger of this host poll at once. */
  wake(queueName: string): void;
  /** Takes no more work, waits for what runs, then runs the appTerminate hooks. May be called again; then it waits for the same end. */
  stop(): Promise<void>;
};

const hostTable = "LocalFunctionsHost";

/**
 * Loads the app and starts its triggers. Rejects if the app registers nothing, host.json or a binding is not usable, a setting that a
 * binding names is missing, or the port is taken.
 */
export async function startHost(options: HostOptions): Promise<Host> {
  const settings = { AzureWebJobsStorage: options.connectionString, ...options.settings };
  Object.assign(process.env, settings);
  const registry = await loadApp(options.app);
  const stopping = new AbortController();
  const runtime = createRuntime(options, settings, registry, stopping.signal);
  const keys = options.keys ?? createKeys();
  const endpoints = readEndpoints(runtime);
  const listeners = prepareListeners(runtime);

  const say: Parameters<Registry["listeners"]["add"]>[0] = (level, category, message) =>
    runtime.log({ level, category, message });
  registry.listeners.add(say);
  for (const hook of registry.hooks.appStart) await hook(lifecycleContext(registry));
  registry.locked = true;
  await refuseStreaming(registry);
  const table = await openHostTable(options.connectionString);

  const inHand = createWorkInHand();
  const answer = async (request: Request): Promise<Response> => {
    if (stopping.signal.aborted) return emptyAnswer(503);
    const admin = await answerAdminRequest(runtime, keys, request);
    if (admin?.run !== undefined) void inHand.track(admin.run);
    return admin?.response ?? answerRequest(runtime, endpoints, keys, request);
  };
  const fetch = (request: Request) => inHand.track(answer(request));
  const server = await listen(fetch, options.port ?? 0, (error) =>
    runtime.log({ level: "error", category: "host", message: `a request failed: ${String(error)}` }),
  );
  const running = listeners.map((start) => start(table));

  const stop = async () => {
    stopping.abort();
    await Promise.all([server.close(), ...running]);
    await inHand.finish();
    for (const hook of registry.hooks.appTerminate) await hook(lifecycleContext(registry));
    registry.listeners.delete(say);
  };
  let stopped: Promise<void> | undefined;
  return {
    url: server.url,
    keys,
    functions: listFunctions(registry),
    fetch,
    wake: (queueName) => runtime.wakeUps.wake(queueName.toLowerCase()),
    stop: () => (stopped ??= stop()),
  };
}

function createRuntime(
  { clock, speed, hostJson, instanceId, log }: HostOptions,
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
      if (entry.category === "host") return log?.(entry); // hooks are the worker's, and see only what the worker says
      const said = { ...entry, hookData: {}, appHookData: registry.appHookData, invocationContext };
      for (const hook of registry.hooks.log) hook(said); // which may change the level and the text
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

type Listener = (table: TableClient) => Promise<void>;

/** The code to run for each queue and timer function. All bindings are checked here, so that a host starts completely or not at all. */
function prepareListeners(runtime: Runtime): readonly Listener[] {
  const listeners: Listener[] = [];
  for (const registered of runtime.registry.functions.values()) {
    const { metadata } = registered;
    checkBindings(metadata);
    if (metadata.retryOptions !== undefined)
      throw new Error(`${metadata.name}: retry policies are not served locally`);
    if (isDisabled(metadata.name, runtime.settings)) continue;
    const { type } = triggerOf(metadata);
    if (type === "queuetrigger") {
      openQueue(runtime, registered);
      listeners.push(() => runQueueTrigger(runtime, registered));
    } else if (type === "timertrigger") {
      readTimer(registered, runtime.settings);
      listeners.push((table) => runTimerTrigger(runtime, registered, table));
    } else if (type !== "httptrigger") {
      throw new Error(`${metadata.name}: triggers of type ${type} are not served locally`);
    }
  }
  return listeners;
}

/** An app that streams HTTP listens itself and expects a proxying host. */
async function refuseStreaming(registry: Registry): Promise<void> {
  const capabilities = await registry.model?.getCapabilities({});
  if (capabilities?.["HttpUri"] !== undefined) throw new Error("enableHttpStream is not served locally");
}

async function openHostTable(text: string): Promise<TableClient> {
  const table = TableClient.fromConnectionString(text, hostTable, {
    allowInsecureConnection: true,
    retryOptions: { maxRetries: 2, retryDelayInMs: 50 },
  });
  await table.createTable(); // says nothing when it exists
  return table;
}

const lifecycleContext = (registry: Registry) => ({
  hookData: registry.lifecycleHookData,
  appHookData: registry.appHookData,
  functionAppDirectory: process.cwd(),
});
