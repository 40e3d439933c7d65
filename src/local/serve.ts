import { defaultOptions } from "../simulator/default-options.ts";
import { heedInterrupts, untilAborted } from "./interruption.ts";
import { startSystem } from "./system.ts";

/** The whole system without a workload: prints how to reach it, and runs until Ctrl-C. Leaves no process behind. */
export async function serve(speed: number, seed: number, verbose: boolean): Promise<number> {
  const interruption = heedInterrupts();
  const system = await startSystem({
    simulator: { ...defaultOptions, seed, keepLog: false },
    speed,
    onHostLine: verbose ? (line) => process.stderr.write(`${line}\n`) : () => undefined,
  });
  const [cluster] = defaultOptions.clusters;
  const name = encodeURIComponent(cluster?.name ?? "demo");
  const lines = [
    `function app         ${system.url}/api/health`,
    `function key         ${system.keys.host}    (header x-functions-key)`,
    `master key           ${system.keys.master}`,
    `state of the cluster ${system.url}/api/clusters/${name}?code=${system.keys.host}`,
    `CycleCloud simulator ${system.simulatorUrl}    user autoscaler, password ${system.settings["CYCLECLOUD_PASSWORD"] ?? ""}`,
    `connection string    ${system.connectionString}`,
    `speed                ${speed} simulated seconds in a real one`,
    "",
    "Try:",
    `  curl -X PUT -H 'x-functions-key: ${system.keys.host}' -d '{"version":1,"nodearrays":{"Name":"htc","TargetCount":3}}' ${system.url}/api/clusters/${name}/request-sets/try`,
    "With the command line, in another terminal:",
    `  export AUTOSCALER_URL=${system.url} AUTOSCALER_KEY=${system.keys.host} AUTOSCALER_CLUSTER=${name}`,
    "  npx cyclecloud-autoscaler set --name htc --instancecount 3 && npx cyclecloud-autoscaler status",
    "Ctrl-C stops everything.",
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  await untilAborted(interruption.signal);
  process.stdout.write("\nstopping\n");
  await system.close();
  interruption.forget();
  process.stdout.write("stopped; nothing is left running\n");
  return 0;
}
