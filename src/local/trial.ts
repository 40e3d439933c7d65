import { readFile } from "node:fs/promises";
import { startAzurite } from "./azurite.ts";
import type { HostKeys } from "./host/host-keys.ts";
import { createKeys } from "./host/host-keys.ts";
import type { HostProcess } from "./host/spawn-host.ts";
import { spawnHost } from "./host/spawn-host.ts";
import { prepareStorage } from "./prepare-storage.ts";
import { freePort } from "./ports.ts";
import type { Ports } from "./ports.ts";
import { HOST_JSON, SOURCE_APP } from "./system.ts";

/** The app on this machine against real clusters: storage emulator and one host, in real time, without a simulator. */
export interface Trial {
  readonly url: string;
  readonly keys: HostKeys;
  readonly connectionString: string;
  readonly host: HostProcess;
  /** Starts a host at the same address after the first one has ended. */
  startHost(): Promise<HostProcess>;
  close(): Promise<void>;
}

interface TrialOptions {
  /** App settings. The storage account in them is not used. */
  readonly values: Readonly<Record<string, string>>;
  /** False: nothing is changed in CycleCloud, even if a configuration allows it. */
  readonly act: boolean;
  /** Absent: free ones. */
  readonly ports?: Ports;
  readonly onHostLine: (line: string) => void;
}

export async function startTrial({ values, act, ports, onHostLine }: TrialOptions): Promise<Trial> {
  const azurite = await startAzurite(ports === undefined ? {} : { ports });
  try {
    const keys = createKeys();
    const hostJson: unknown = JSON.parse(await readFile(HOST_JSON, "utf8"));
    const settings = {
      ...NOT_FROM_THE_SHELL,
      ...withoutStorage(values),
      ...OURS,
      AUTOSCALER_LOCAL_TRIAL: act ? "act" : "watch",
    };
    const port = ports?.app ?? (await freePort());
    const { connectionString } = azurite;
    const options = {
      app: SOURCE_APP,
      hostJson,
      settings,
      origin: Date.now(),
      speed: 1,
      keys,
      port,
      connectionString,
    };
    await prepareStorage({ ...settings, AzureWebJobsStorage: connectionString });
    const startHost = () => spawnHost(options, onHostLine);
    const host = await startHost();
    return {
      url: host.url,
      keys,
      connectionString,
      host,
      startHost,
      close: async () => {
        await host.stop();
        await azurite.close();
      },
    };
  } catch (error) {
    await azurite.close();
    throw error;
  }
}

/** The host's process inherits the shell's variables. Settings that the file leaves out must not come from there. */
const NOT_FROM_THE_SHELL = { AUTOSCALER_PUBLIC_URL: "", AUTOSCALER_AUTOSTOP_KEYS: "" };
/** Real clusters run in real time, whatever the file or the shell contain. */
const OURS = { AUTOSCALER_LOCAL_CLOCK: "" };

function withoutStorage(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).filter(([name]) => !name.startsWith("AzureWebJobsStorage")),
  );
}
