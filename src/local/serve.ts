import { defaultOptions } from "../simulator/default-options.ts";
import type { Arguments } from "./arguments.ts";
import { ROLES } from "../domain/roles.ts";
import { clockTime, instant } from "../domain/units.ts";
import { heedInterrupts, untilAborted } from "./interruption.ts";
import type { KeepOptions } from "./keep-running.ts";
import { keepRunning } from "./keep-running.ts";
import { areAllFree, portsFrom } from "./ports.ts";
import { commandLine, exportLine } from "./shell-lines.ts";
import type { LocalSystem } from "./system.ts";
import { startSystem } from "./system.ts";
import { showText } from "../domain/shown.ts";

type ServeArguments = Pick<Arguments, "speed" | "seed" | "verbose" | "port">;

/** Runs the whole system without a workload until Ctrl-C. Prints addresses and keys. Leaves no process behind. Returns the exit code. */
export async function serve({ speed, seed, verbose, port: first }: ServeArguments): Promise<number> {
  const ports = first === undefined ? undefined : portsFrom(first);
  if (ports !== undefined && !(await areAllFree(ports))) return 2;
  process.stdout.write(
    `Starting a storage emulator, the function app and a simulated CycleCloud on this machine (Node ${process.versions.node}).\n`,
  );
  const interruption = heedInterrupts();
  const system = await startSystem({
    simulator: { ...defaultOptions, seed, keepLog: false },
    speed,
    onHostLine: hostLines(verbose),
    ...(ports === undefined ? {} : { ports }),
  });
  process.stdout.write(`${describe(system, speed).join("\n")}\n`);
  const port = Number(new URL(system.url).port);
  const [host] = system.hosts;
  await serveUntilInterrupted(system, interruption, {
    start: () => system.startHost({ port }),
    ...(host === undefined ? {} : { first: host }),
  });
  return 0;
}

export function hostLines(verbose: boolean): (line: string) => void {
  return verbose ? (line) => process.stderr.write(`${line}\n`) : () => undefined;
}

/** Keeps the host running until Ctrl-C, then stops everything. */
export async function serveUntilInterrupted(
  system: { close(): Promise<void> },
  interruption: ReturnType<typeof heedInterrupts>,
  host: Pick<KeepOptions, "start" | "first">,
): Promise<void> {
  const say = (line: string): void =>
    void process.stdout.write(`${clockTime(instant(Date.now()))} ${showText(line)}\n`);
  const kept = keepRunning({ name: "the function app", say, ...host });
  await untilAborted(interruption.signal);
  process.stdout.write("\nstopping\n");
  await kept.stop();
  await system.close();
  interruption.forget();
  process.stdout.write("stopped; nothing is left running\n");
}

/** The page with a reader's key behind the #, which a browser does not send. The key lives as long as the host. */
export function pageAddress({ url, roleKeys }: Pick<LocalSystem, "url" | "roleKeys">): string {
  return `${url}/api/page#key=${roleKeys.reader}`;
}

function describe(system: LocalSystem, speed: number): readonly string[] {
  const [cluster] = defaultOptions.clusters;
  const name = cluster?.name ?? "demo";
  const inAddress = encodeURIComponent(name);
  const { CYCLECLOUD_PASSWORD: password = "?" } = system.settings;
  return [
    `page for people      ${pageAddress(system)}`,
    `function app         ${system.url}/api/health`,
    `process of the app   ${system.hosts.map(({ pid }) => pid).join(", ")}    (if it ends, it is started again)`,
    `function key         ${system.keys.host}    (header x-functions-key)`,
    `master key           ${system.keys.master}`,
    ...ROLES.map((role) => `${`${role} key`.padEnd(20)} ${system.roleKeys[role]}`),
    `state of the cluster ${system.url}/api/clusters/${inAddress}?code=${system.keys.host}`,
    `CycleCloud simulator ${system.simulatorUrl}    user autoscaler, password ${password}`,
    `connection string    ${system.connectionString}`,
    speed === 1
      ? "speed                1: simulated time is real time"
      : `speed                ${speed} simulated seconds per real second; all times of the app and the simulator are simulated`,
    "",
    "Try:",
    `  curl -X PUT -H 'x-functions-key: ${system.keys.host}' -d '{"version":1,"nodearrays":{"Name":"htc","TargetCount":3}}' ${system.url}/api/clusters/${inAddress}/request-sets/try`,
    "",
    "For the command line and all commands of docs/quickstart.md, paste this into another terminal (bash):",
    ...exportsOf(system, name, speed),
    "",
    "Ctrl-C stops everything.",
  ];
}

/** Shell exports with which a user can act as the administrator, the scheduler and a node. */
function exportsOf(system: LocalSystem, cluster: string, speed: number): readonly string[] {
  const settingsOf = (...names: readonly string[]) =>
    Object.fromEntries(Object.entries(system.settings).filter(([name]) => names.includes(name)));
  const clock = system.settings["AUTOSCALER_LOCAL_CLOCK"];
  return [
    exportLine({
      AUTOSCALER_URL: system.url,
      AUTOSCALER_KEY: system.keys.host,
      AUTOSCALER_CLUSTER: cluster,
      // For `verify`, which reads the host's own list of functions.
      AUTOSCALER_MASTER_KEY: system.keys.master,
      // Needed only so that the command line marks times as simulated.
      ...(speed === 1 || clock === undefined ? {} : { AUTOSCALER_SIMULATED_CLOCK: clock }),
    }),
    exportLine(settingsOf("AUTOSCALER_CLUSTERS", "CYCLECLOUD_PASSWORD")),
    exportLine({ CONN: system.connectionString }),
    exportLine({ SIMULATOR: system.simulatorUrl }),
    commandLine(),
    // The output of `jetpack config` on a node, for `autostop`.
    'as_node() { local found; found=$(curl -s "$SIMULATOR/simulator/ready-nodes" | grep "^$1 ") || { echo "as_node: no ready node is called $1" >&2; return 1; }; read -r _ AUTOSCALER_INSTANCE AUTOSCALER_STOP_CALLBACK <<<"$found"; export AUTOSCALER_INSTANCE AUTOSCALER_STOP_CALLBACK; }',
  ];
}
