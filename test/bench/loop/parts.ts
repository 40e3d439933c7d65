import { QueueClient } from "@azure/storage-queue";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createKeys } from "../../../src/local/host/host-keys.ts";
import { freePort } from "../../../src/local/ports.ts";
import type { Clock } from "../../../src/local/scaled-clock.ts";
import { scaledClock } from "../../../src/local/scaled-clock.ts";
import type { SimulatorOptions } from "../../../src/simulator/options.ts";
import type { Emulator } from "./emulator-process.ts";
import { spawnEmulator } from "./emulator-process.ts";
import type { HostLine } from "./host-lines.ts";
import type { HostSlot } from "./host-slot.ts";
import { openHostSlot } from "./host-slot.ts";
import type { Proxy } from "./proxy.ts";
import { startProxy } from "./proxy.ts";
import type { SimulatorProcess } from "./simulator-process.ts";
import { spawnSimulator } from "./simulator-process.ts";
import { queueKind, tableKind } from "./storage-kinds.ts";

/** The name of the only cluster. */
export const CLUSTER = "demo";

export interface PartsOptions {
  /** The folder whose host and function app run. Emulator and simulator are always this checkout's: the same yardstick for all. */
  readonly checkout: string;
  readonly simulator: SimulatorOptions;
  readonly speed: number;
  readonly hosts: number;
  /** Real milliseconds that every call of CycleCloud takes. */
  readonly latencyMs?: number;
  /** Puts proxies between the hosts and the others: to count calls, and to do harm. */
  readonly proxies: boolean;
  /** Hosts, counted from 0, whose password is not CycleCloud's any more. Absent: none. */
  readonly oldPasswords?: readonly number[];
}

export interface Proxies {
  readonly table: Proxy;
  readonly queue: Proxy;
  /** One for each host, in their order. */
  readonly cyclecloud: readonly Proxy[];
}

/** Emulator, simulator and function hosts, each a process of its own, on one clock, on loopback only. */
export interface Parts {
  readonly clock: Clock;
  readonly speed: number;
  readonly simulator: SimulatorProcess;
  readonly hosts: readonly HostSlot[];
  /** What the hosts have said; it grows. */
  readonly lines: readonly HostLine[];
  /** Opens the function keys. */
  readonly key: string;
  /** Of the emulator itself: what goes wrong in the proxies does not reach who uses this. */
  readonly connectionString: string;
  readonly demandQueue: QueueClient;
  /** Undefined: there are none. */
  readonly proxies: Proxies | undefined;
  onLine(listener: (line: HostLine) => void): void;
  close(): Promise<void>;
}

/** Starts all of it. Rejects, and leaves no process behind, if a part cannot be started. */
export async function startParts(options: PartsOptions): Promise<Parts> {
  const closing: (() => unknown)[] = [];
  const close = async () => {
    for (const end of closing.toReversed()) await end();
  };
  try {
    return await start(options, closing, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(
  options: PartsOptions,
  closing: (() => unknown)[],
  close: () => Promise<void>,
): Promise<Parts> {
  const { checkout, speed } = options;
  const origin = originFor(speed);
  const emulator = await spawnEmulator();
  closing.push(() => emulator.close());
  const simulator = await spawnSimulator({
    simulator: options.simulator,
    origin,
    speed,
    latencyMs: options.latencyMs ?? 0,
  });
  closing.push(() => simulator.close());
  const proxies = options.proxies ? await startProxies(emulator, simulator, options.hosts) : undefined;
  closing.push(() => allProxies(proxies).forEach((proxy) => proxy.close()));
  const { connectionString } = emulator;
  const demandQueue = new QueueClient(connectionString, "demand");
  // As a deployment does: a sender does not wait for the app's first tick.
  await demandQueue.createIfNotExists();
  const keys = createKeys();
  const ports: number[] = [];
  while (ports.length < options.hosts) ports.push(await freePort());
  const places: Places = {
    storage: proxies === undefined ? connectionString : throughProxies(emulator, proxies),
    simulator,
    publicPort: ports[0] ?? 0,
    autostopKey: randomBytes(24).toString("hex"),
    clock: `${origin}@${speed}`,
  };
  const hostJson: unknown = JSON.parse(await readFile(join(checkout, "host.json"), "utf8"));
  const settings = { hostJson, origin, speed, keys, connectionString };
  const lines: HostLine[] = [];
  const listeners: ((line: HostLine) => void)[] = [];
  const onLine = (line: HostLine) => {
    lines.push(line);
    for (const listener of listeners) listener(line);
  };
  const hosts = ports.map((port, index) => {
    const cyclecloudUrl = proxies?.cyclecloud[index]?.url ?? simulator.url;
    const old = options.oldPasswords?.includes(index) === true ? { CYCLECLOUD_PASSWORD: "old" } : {};
    const ofApp = { ...appSettings(places, cyclecloudUrl), ...old };
    return openHostSlot({ checkout, port, settings: { ...settings, settings: ofApp }, onLine });
  });
  for (const host of hosts) {
    await host.start();
    closing.push(() => host.stop());
  }
  return {
    clock: scaledClock({ origin, speed }),
    speed,
    simulator,
    hosts,
    lines,
    key: keys.host,
    connectionString,
    demandQueue,
    proxies,
    onLine: (listener) => void listeners.push(listener),
    close,
  };
}

/**
 * Where simulated and real time agree. A faster clock begins at a full minute, so that demand can be pushed before the first tick: a record
 * whose first look finds no demand rests for minutes.
 */
function originFor(speed: number): number {
  const now = Date.now();
  return speed > 1 ? Math.floor(now - (60_000 - (now % 60_000)) / (speed - 1)) : now;
}

async function startProxies(
  emulator: Emulator,
  simulator: SimulatorProcess,
  hosts: number,
): Promise<Proxies> {
  const cyclecloud: Proxy[] = [];
  while (cyclecloud.length < hosts)
    cyclecloud.push(await startProxy(simulator.url, ({ method, path }) => `${method} ${path.split("?")[0]}`));
  return {
    table: await startProxy(emulator.tableEndpoint, tableKind),
    queue: await startProxy(emulator.queueEndpoint, queueKind),
    cyclecloud,
  };
}

/** None if there are none. */
export function allProxies(proxies: Proxies | undefined): readonly Proxy[] {
  return proxies === undefined ? [] : [proxies.table, proxies.queue, ...proxies.cyclecloud];
}

const throughProxies = (emulator: Emulator, { table, queue }: Proxies): string =>
  emulator.connectionString
    .replace(emulator.tableEndpoint, table.url)
    .replace(emulator.queueEndpoint, queue.url);

interface Places {
  readonly storage: string;
  readonly simulator: SimulatorProcess;
  readonly publicPort: number;
  readonly autostopKey: string;
  readonly clock: string;
}

/** The app settings of docs/configuration.md. */
function appSettings(places: Places, cyclecloudUrl: string) {
  const { storage, simulator, publicPort, autostopKey, clock } = places;
  const { username, password } = simulator.credentials;
  return {
    AzureWebJobsStorage: storage,
    AUTOSCALER_CLUSTERS: JSON.stringify([
      { name: CLUSTER, url: cyclecloudUrl, username, passwordSetting: "CYCLECLOUD_PASSWORD" },
    ]),
    CYCLECLOUD_PASSWORD: password,
    AUTOSCALER_PUBLIC_URL: `http://127.0.0.1:${publicPort}`,
    AUTOSCALER_AUTOSTOP_KEYS: `local:${autostopKey}`,
    AUTOSCALER_LOCAL_CLOCK: clock,
  };
}
