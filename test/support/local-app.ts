import { QueueServiceClient } from "@azure/storage-queue";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Ports } from "../../src/app/ports/ports.ts";
import { composition, ConfigError, decoratePorts, portsOnTable, readConfig } from "../../src/compose.ts";
import { startAzurite } from "../../src/local/azurite.ts";
import { startHost } from "../../src/local/host/host.ts";
import type { Clock } from "../../src/local/scaled-clock.ts";
import { scaledClock } from "../../src/local/scaled-clock.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import type { ClusterOptions, SimulatorOptions } from "../../src/simulator/options.ts";
import { serveSimulator } from "../../src/simulator/server.ts";
import { mergingBy } from "./configuration-merge.ts";
import { memoryTable } from "./memory-table.ts";
import { findUndescribed, findUndescribedRequest, operationOf } from "./check-answer.ts";
type Host = Awaited<ReturnType<typeof startHost>>;

type Azurite = Awaited<ReturnType<typeof startAzurite>>;

/**
 * The functions as they are deployed, in the local host of this process, with the queues of Azurite and the simulator over HTTP. A
 * process has one app at a time, whose settings are those of the process: close one before you start the next.
 */
export interface LocalApp {
  readonly host: Host;
  readonly clock: Clock;
  readonly simulator: Simulator;
  readonly azurite: Azurite;
  /** The lines that the host and the functions' contexts have logged. */
  readonly lines: readonly string[];
  /** The events that the app has logged. */
  readonly events: readonly LoggedEvent[];
  /** Sends a request with the host key to a path such as "/api/clusters". Throws if the API's description does not allow the answer. */
  call(method: string, path: string, body?: unknown): Promise<Answered>;
  /** The same without a key, with these headers. */
  callBare(method: string, path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  send(queue: string, text: string): Promise<string>;
  /** The first texts in a queue: as many as one peek shows. */
  peek(queue: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface LoggedEvent {
  readonly event: string;
  readonly [field: string]: unknown;
}

export interface Answered {
  readonly status: number;
  readonly type: string | null;
  readonly retryAfter: string | null;
  readonly cacheControl: string | null;
  /** The parsed JSON of the answer, or its text if it is not JSON. */
  readonly body: unknown;
}

export interface LocalAppOptions {
  readonly clusters: readonly string[];
  readonly speed: number;
  /**
   * Where the app's table is. In memory it costs less processor time; the adapters are the deployed ones. Azurite is for tests
   * that write or read rows beside the app. Default: memory.
   */
  readonly table?: "azurite" | "memory";
  /** App settings that replace the default ones, which work. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly decorate?: (ports: Ports) => Ports;
  readonly simulator?: Partial<SimulatorOptions>;
}

/** Creates tables and queues, as a deployment does before the app starts. Some tests want invalid settings: those errors are ignored. */
async function prepareStorage(): Promise<void> {
  try {
    await composition().prepare();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
}

export async function startLocalApp(options: LocalAppOptions): Promise<LocalApp> {
  const origin = Date.now();
  const { speed } = options;
  const before = { ...process.env };
  const clock = scaledClock({ origin, speed });
  const azurite = await startAzurite();
  const simulator = new Simulator(mergingBy(simulatorOptions(options)), clock);
  const credentials = { username: "autoscaler", password: randomBytes(12).toString("hex") };
  const server = await serveSimulator(simulator, { credentials });
  const lines: string[] = [];
  const events: LoggedEvent[] = [];
  decoratePorts((ports) => {
    const inMemory = () => portsOnTable(memoryTable(ports.clock), ports.clock, ports.log, readConfig());
    const held = options.table === "azurite" ? ports : { ...ports, ...inMemory() };
    return {
      ...(options.decorate?.(held) ?? held),
      log: (event, fields) => events.push({ event, ...fields }),
    };
  });
  const hostJson: unknown = JSON.parse(await readFile(new URL("../../host.json", import.meta.url), "utf8"));
  const host = await startHost({
    app: () => import("../../functions/main.ts"),
    hostJson,
    settings: {
      AUTOSCALER_CLUSTERS: JSON.stringify(
        options.clusters.map((name) => ({
          name,
          url: server.url,
          username: credentials.username,
          passwordSetting: "CYCLECLOUD_PASSWORD",
        })),
      ),
      CYCLECLOUD_PASSWORD: credentials.password,
      AUTOSCALER_PUBLIC_URL: "https://autoscaler.example",
      AUTOSCALER_AUTOSTOP_KEYS: `test:${randomBytes(24).toString("hex")}`,
      AUTOSCALER_LOCAL_CLOCK: `${origin}@${speed}`,
      ...options.settings,
    },
    clock,
    speed,
    connectionString: azurite.connectionString,
    log: ({ message }) => lines.push(message),
  });
  await prepareStorage();
  const queues = QueueServiceClient.fromConnectionString(azurite.connectionString);
  return {
    host,
    clock,
    simulator,
    azurite,
    lines,
    events,
    call: async (method, path, body) =>
      described(
        method,
        path,
        await fetch(`${host.url}${path}`, {
          method,
          headers: { "x-functions-key": host.keys.host },
          ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
        }),
        body,
      ),
    callBare: async (method, path, headers = {}) =>
      described(method, path, await fetch(`${host.url}${path}`, { method, headers })),
    async send(queue, text) {
      const { messageId } = await queues.getQueueClient(queue).sendMessage(text);
      host.wake(queue);
      return messageId;
    },
    async peek(queue) {
      const { peekedMessageItems } = await queues
        .getQueueClient(queue)
        .peekMessages({ numberOfMessages: 32 });
      return peekedMessageItems.map(({ messageText }) => messageText);
    },
    async close() {
      await host.stop();
      await server.close();
      await azurite.close();
      decoratePorts((ports) => ports);
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
      Object.assign(process.env, before);
    },
  };
}

/** Reads an answer. Throws if the API's description does not allow it, or does not allow an accepted request. */
async function described(
  method: string,
  path: string,
  response: Response,
  body?: unknown,
): Promise<Answered> {
  const answer = await answered(response);
  const undescribed = [
    ...findUndescribed(method, path, answer),
    ...findStorable(method, path, answer),
    ...(response.ok ? findUndescribedRequest(method, path, body, answer) : []),
  ];
  if (undescribed.length === 0) return answer;
  throw new Error(
    `src/wire/api/ does not describe this request, or this answer, of ${method} ${path} (${answer.status}):\n${undescribed.join("\n")}`,
  );
}

/** Why a cache could keep an answer, or nothing. Answers of the host itself are not checked: 401, 404 for an unknown route, and 500. */
function findStorable(method: string, path: string, answer: Answered): readonly string[] {
  const { status, cacheControl } = answer;
  if (operationOf(method, path) === undefined || status === 401 || status === 500) return [];
  return cacheControl === "no-store" ? [] : [`cache-control is ${cacheControl}, not no-store`];
}

async function answered(response: Response): Promise<Answered> {
  const text = await response.text();
  const { status, headers } = response;
  const type = headers.get("content-type");
  const body: unknown = type?.includes("json") === true ? JSON.parse(text) : text;
  const cacheControl = headers.get("cache-control");
  return { status, type, retryAfter: headers.get("retry-after"), cacheControl, body };
}

/** Equal clusters of two arrays, each of up to ten nodes of four cores. Each step of a node takes one second. */
function simulatorOptions({ clusters, simulator }: LocalAppOptions): SimulatorOptions {
  const cluster = (name: string): ClusterOptions => ({
    name,
    arrays: [
      { name: "execute", region: "westeurope", maxCount: 10, machineTypes: ["Standard_F4"] },
      { name: "other", region: "westeurope", maxCount: 10, machineTypes: ["Standard_F4"] },
    ],
  });
  return {
    clusters: clusters.map(cluster),
    machineTypes: { Standard_F4: { vcpuCount: 4, memory: 8, family: "standardFFamily" } },
    timings: { secondsToAllocate: 1, secondsToAcquire: 1, secondsToPrepare: 1, secondsToTerminate: 1 },
    ...simulator,
  };
}
