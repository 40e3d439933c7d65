import { TableClient } from "@azure/data-tables";
import { answerAdminRequest } from "./admin.ts";
import { isDisabled, type AppSettings, connectionString } from "./app-settings.ts";
import type { FunctionMetadata, Registry } from "./core.ts";
import { createKeys, type HostKeys } from "./host-keys.ts";
import { listen } from "./http-server.ts";
import { answerRequest, bodyBound, emptyAnswer, readEndpoints, type HttpEndpoint } from "./http-trigger.ts";
import { listFunctions, loadApp, type AppSource, type FunctionSummary } from "./load-app.ts";
import { openQueue, runQueueTrigger } from "./queue-trigger.ts";
import { triggerOf, type Runtime, createWakeUps } from "./runtime.ts";
import { checkTimer, runTimerTrigger } from "./timer-trigger.ts";
import { QueueServiceClient } from "@azure/storage-queue";
import { randomUUID } from "node:crypto";
import type { Clock } from "../scaled-clock.ts";
import { readHostJson } from "./host-json.ts";
import type { Log } from "./runtime.ts";

/**
 * The local functions host: loads an app written for the Azure Functions v4 model and runs the functions that it registers, with the
 * platform's rules (platform.md section 3), against a storage emulator and on a clock of our own.
 */

type HostOptions = RuntimeOptions & {
  /** The app's entry, or a function that imports it. There is one app per process; several hosts of a process share its functions. */
  readonly app: AppSource;
  /** App settings. They are copied into process.env before the app is imported. `AzureWebJobsStorage` defaults to `connectionString`. */
  readonly settings: AppSettings;
  readonly keys?: HostKeys;
  /** Where to listen on 127.0.0.1. Absent or 0: a free port. */
  readonly port?: number;
  /** The host's own storage: timer leases and schedules. */
  readonly connectionString: string;
};

type Host = {
  readonly url: string;
  readonly keys: HostKeys;
  readonly functions: readonly FunctionSummary[];
  /** Answers a request as the server at `url` does, without a socket. */
  fetch(request: Request): Promise<Response>;
  /** Lets a queue trigger of this host poll at once. */
  wake(queueName: string): void;
  /** Takes no more work, and waits for running work. A repeated call waits for the same end. */
  stop(): Promise<void>;
};

const hostTable = "LocalFunctionsHost";

/**
 * Loads the app and starts its triggers. Rejects if the app registers nothing, if host.json or a binding cannot be used, or if the port is in
 * use.
 */
export async function startHost(options: HostOptions): Promise<Host> {
  const settings = { AzureWebJobsStorage: options.connectionString, ...options.settings };
  Object.assign(process.env, settings);
  const registry = await loadApp(options.app);
  const stopping = new AbortController();
  const runtime = createRuntime(options, settings, registry, stopping.signal);
  const keys = options.keys ?? createKeys();
  const endpoints = readEndpoints(runtime);
  const answer = openAnswers(runtime, endpoints, keys);
  const listeners = prepareListeners(runtime);
  const stopLogging = passLogsOn(runtime);
  const table = await openHostTable(options.connectionString);

  const inHand = createWorkInHand();
  const fetch = (request: Request) => inHand.track(answer(request, inHand));
  const onError = (error: unknown) =>
    runtime.log({ level: "error", category: "host", message: `a request failed: ${String(error)}` });
  const server = await listen(fetch, options.port ?? 0, onError, bodyBound(runtime, endpoints));
  const running = listeners.map((start) => start(table));

  const stop = async () => {
    stopping.abort();
    await Promise.all([server.close(), ...running]);
    await inHand.finish();
    stopLogging();
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

/** Answers requests of the app's HTTP functions and of the admin routes. Runs that an admin request starts are tracked. */
function openAnswers(runtime: Runtime, endpoints: readonly HttpEndpoint[], keys: HostKeys) {
  return async (request: Request, inHand: WorkInHand): Promise<Response> => {
    if (runtime.stopping.aborted) return emptyAnswer(503);
    const admin = await answerAdminRequest(runtime, keys, request);
    if (admin?.run !== undefined) void inHand.track(admin.run);
    return admin?.response ?? answerRequest(runtime, endpoints, keys, request);
  };
}

/** Passes what the programming model logs on to the host's log, until the returned function is called. */
function passLogsOn(runtime: Runtime): () => void {
  const { listeners } = runtime.registry;
  const say: Parameters<typeof listeners.add>[0] = (level, category, message) =>
    runtime.log({ level, category, message });
  listeners.add(say);
  return () => void listeners.delete(say);
}

type Listener = (table: TableClient) => Promise<void>;

/** A listener for each queue and timer function. All bindings are checked here, so that a host starts completely or not at all. */
function prepareListeners(runtime: Runtime): readonly Listener[] {
  const listeners: Listener[] = [];
  for (const registered of runtime.registry.functions.values()) {
    const { metadata } = registered;
    checkBindings(metadata);
    if (isDisabled(metadata.name, runtime.settings)) continue;
    const { type } = triggerOf(metadata);
    if (type === "queuetrigger") {
      openQueue(runtime, registered);
      listeners.push(() => runQueueTrigger(runtime, registered));
    } else if (type === "timertrigger") {
      checkTimer(registered);
      listeners.push((table) => runTimerTrigger(runtime, registered, table));
    } else if (type !== "httptrigger") {
      throw new Error(`${metadata.name}: triggers of type ${type} are not served locally`);
    }
  }
  return listeners;
}

/** Throws if a function has more than its trigger and an HTTP answer: nothing else is served here, and a call would fail later. */
function checkBindings({ name, bindings, retryOptions }: FunctionMetadata): void {
  const others = Object.values(bindings).filter(({ type }) => !/trigger$|^http$/i.test(type));
  if (others.length > 0 || retryOptions !== undefined)
    throw new Error(`${name}: bindings beside the trigger and retry policies are not served locally`);
}

async function openHostTable(text: string): Promise<TableClient> {
  const table = TableClient.fromConnectionString(text, hostTable, {
    allowInsecureConnection: true,
    retryOptions: { maxRetries: 2, retryDelayInMs: 50 },
  });
  // An existing table is no error.
  await table.createTable();
  return table;
}

type RuntimeOptions = {
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
function createRuntime(
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
    log: (entry) => log?.(entry),
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

/** Work in progress. A host waits for it before it stops. */
type WorkInHand = {
  /** Tracks `work` until it succeeds or fails. Returns it. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when no work is in progress. */
  finish(): Promise<void>;
};

function createWorkInHand(): WorkInHand {
  const pending = new Set<Promise<unknown>>();
  return {
    track(work) {
      const ended: Promise<unknown> = work.then(
        () => pending.delete(ended),
        () => pending.delete(ended),
      );
      pending.add(ended);
      return work;
    },
    async finish() {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}
