import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Simulator } from "../simulator/engine.ts";
import type { SimulatorOptions } from "../simulator/options.ts";
import { serveSimulator } from "../simulator/server.ts";
import { startAzurite } from "./azurite.ts";
import type { HostKeys } from "./host/host-keys.ts";
import type { RoleKeys } from "./role-keys.ts";
import { createRoleKeys } from "./role-keys.ts";
import type { ChildHostOptions, HostProcess } from "./host/spawn-host.ts";
import { spawnHost } from "./host/spawn-host.ts";
import { prepareStorage } from "./prepare-storage.ts";
import { freePort } from "./ports.ts";
import type { Ports } from "./ports.ts";
import { scaledClock } from "./scaled-clock.ts";
import type { Clock } from "./scaled-clock.ts";
import type { Milliseconds } from "../domain/units.ts";

/** The whole system on one machine: storage emulator, simulator, and function hosts in processes of their own, all on one scaled clock. */
export interface LocalSystem {
  readonly clock: Clock;
  readonly simulator: Simulator;
  readonly simulatorUrl: string;
  readonly connectionString: string;
  /** The first host's address. Nodes call it. */
  readonly url: string;
  readonly keys: HostKeys;
  /** A key for each role, set on that role's functions. */
  readonly roleKeys: RoleKeys;
  readonly hosts: readonly HostProcess[];
  /** App settings of the hosts, for starting another one. */
  readonly settings: Readonly<Record<string, string>>;
  startHost(other?: OtherHost): Promise<HostProcess>;
  /** Stops everything; leaves no process behind. */
  close(): Promise<void>;
}

/** The differences of a further host from the first: another app, a port, additional settings. */
interface OtherHost {
  readonly app?: string;
  readonly port?: number;
  readonly settings?: Readonly<Record<string, string>>;
}

interface LocalOptions {
  readonly simulator: SimulatorOptions;
  readonly speed: number;
  /**
   * The moment at which simulated and real time are equal, in real milliseconds since 1970. Absent: now. If it is in the past, simulated
   * time is ahead of real time from the start.
   */
  readonly origin?: number;
  readonly hosts?: number;
  /** The function app: functions/main.ts, or a built package folder. */
  readonly app?: string;
  /** The Node that runs the hosts. Absent: this process's own. */
  readonly node?: string;
  /** Real milliseconds by which every status answer is delayed. */
  readonly statusDelayMs?: Milliseconds;
  readonly extraSettings?: Readonly<Record<string, string>>;
  readonly onHostLine?: (line: string) => void;
  /** Absent: free ports. */
  readonly ports?: Ports;
}

const USER = "autoscaler";
export const SOURCE_APP = fileURLToPath(new URL("../../functions/main.ts", import.meta.url));
export const HOST_JSON = fileURLToPath(new URL("../../host.json", import.meta.url));

/** Starts everything. Rejects if a part cannot be started; then nothing is left running. */
export async function startSystem(options: LocalOptions): Promise<LocalSystem> {
  const origin = options.origin ?? Date.now();
  const clock = scaledClock({ origin, speed: options.speed });
  const closing: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const stop of closing.toReversed()) await stop();
  };
  try {
    const password = randomBytes(12).toString("hex");
    const azurite = await startAzurite(options.ports === undefined ? {} : { ports: options.ports });
    closing.push(() => azurite.close());
    const { connectionString } = azurite;
    const simulator = new Simulator(options.simulator, clock);
    const server = await serveSimulator(simulator, {
      credentials: { username: USER, password },
      ...(options.ports === undefined ? {} : { port: options.ports.simulator }),
      ...(options.statusDelayMs === undefined ? {} : { statusDelayMs: options.statusDelayMs }),
    });
    closing.push(() => server.close());
    const port = options.ports?.app ?? (await freePort());
    const { keys, roleKeys } = createRoleKeys();
    const simulatorUrl = server.url;
    const settings = settingsFor(options, { origin, port, simulatorUrl, password, connectionString });
    await prepareStorage(settings);
    const hosts: HostProcess[] = [];
    const startHost = async (other: OtherHost = {}) => {
      const host = await spawnOne(options, { origin, keys, settings, connectionString }, other);
      closing.push(() => host.stop());
      hosts.push(host);
      return host;
    };
    await startHost({ port });
    for (let more = 1; more < (options.hosts ?? 1); more += 1) await startHost();
    const url = `http://127.0.0.1:${port}`;
    const addresses = { simulatorUrl, connectionString, url };
    return { clock, simulator, ...addresses, keys, roleKeys, hosts, settings, startHost, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The app settings of the hosts: every cluster of the simulator, and stop URLs at the first host. */
function settingsFor(
  { simulator, speed, extraSettings }: LocalOptions,
  parts: {
    readonly origin: number;
    readonly port: number;
    readonly simulatorUrl: string;
    readonly password: string;
    readonly connectionString: string;
  },
): Readonly<Record<string, string>> {
  const clusters = simulator.clusters.map(({ name }) => ({
    name,
    url: parts.simulatorUrl,
    username: USER,
    passwordSetting: "CYCLECLOUD_PASSWORD",
  }));
  return {
    AzureWebJobsStorage: parts.connectionString,
    AUTOSCALER_CLUSTERS: JSON.stringify(clusters),
    CYCLECLOUD_PASSWORD: parts.password,
    AUTOSCALER_PUBLIC_URL: `http://127.0.0.1:${parts.port}`,
    AUTOSCALER_AUTOSTOP_KEYS: `local:${randomBytes(24).toString("hex")}`,
    AUTOSCALER_LOCAL_CLOCK: `${parts.origin}@${speed}`,
    ...extraSettings,
  };
}

async function spawnOne(
  { app = SOURCE_APP, speed, node, onHostLine }: LocalOptions,
  { settings, ...shared }: Pick<ChildHostOptions, "origin" | "keys" | "settings" | "connectionString">,
  other: OtherHost,
): Promise<HostProcess> {
  const hostJson: unknown = JSON.parse(await readFile(HOST_JSON, "utf8"));
  const host = {
    ...shared,
    app: other.app ?? app,
    hostJson,
    settings: { ...settings, ...other.settings },
    speed,
    ...(other.port === undefined ? {} : { port: other.port }),
  };
  return spawnHost(host, onHostLine, node);
}
