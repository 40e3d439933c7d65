/** A host in a process of its own. Several hosts on one Azurite are several instances of one function app. */
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { AppSettings } from "./app-settings.ts";
import { spawnChild, type Child } from "./child-process.ts";
import type { HostKeys } from "./host-keys.ts";
import type { FunctionSummary } from "./load-app.ts";

/** The input of a host process, as JSON. */
export type ChildHostOptions = {
  /** Path of the app's entry, or of a package folder with its own package.json and host.json. */
  readonly app: string;
  /** Path of host.json, or its content. Not needed for a package folder. */
  readonly hostJson?: unknown;
  readonly settings: AppSettings;
  /** The moment at which simulated and real time are equal, in real milliseconds since 1970. */
  readonly origin: number;
  readonly speed: number;
  readonly keys?: HostKeys;
  readonly port?: number;
  readonly instanceId?: string;
  readonly connectionString: string;
};

/** A running host process. */
export type HostProcess = Omit<Child<unknown>, "ready"> & {
  readonly url: string;
  readonly keys: HostKeys;
  readonly functions: readonly FunctionSummary[];
};

/** The environment variable with the options of a host process. */
export const optionsVariable = "LOCAL_FUNCTIONS_HOST";

const readyLine = z.object({
  url: z.string(),
  functions: z.array(z.object({ name: z.string(), trigger: z.string() })),
  keys: z.object({
    master: z.string(),
    host: z.string(),
    functions: z.record(z.string(), z.array(z.string())).exactOptional(),
  }),
});

/**
 * Starts a host process and resolves when it listens. It stops with `stop()`, on SIGTERM, and when this process ends. `onLine` is called
 * with each line of its log, a JSON object, and with each line that the app prints. `node` is the Node that runs it. Absent: this process's
 * own. Rejects with the host's output if it cannot start.
 */
export async function spawnHost(
  options: ChildHostOptions,
  onLine?: (line: string) => void,
  node?: string,
): Promise<HostProcess> {
  const { ready, ...child } = await spawnChild({
    script: fileURLToPath(new URL("./main.ts", import.meta.url)),
    args: [],
    env: { [optionsVariable]: JSON.stringify(options) },
    readyLine,
    ...(onLine === undefined ? {} : { onLine }),
    ...(node === undefined ? {} : { node }),
  });
  return { ...child, ...ready };
}
