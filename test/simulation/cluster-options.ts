import type { SimulatorOptions } from "../../src/simulator/options.ts";
import type { Weather } from "./weather.ts";
import { CORES_PER_NODE } from "./writers.ts";

/** In weather that lasts, limits leave room for nodes that are created twice. */
const ROOM = 3;

export const MACHINE_TYPE = "Simulated_4_cores";

/** Maximum number of nodes that CycleCloud allows in an array. */
export function mostNodes({ nodesPerArray, lasting }: Weather): number {
  return nodesPerArray * (lasting === undefined ? 1 : ROOM);
}

/** The simulated CycleCloud of a run. */
export function simulatorOptions(cluster: string, weather: Weather, seed: number): SimulatorOptions {
  return {
    clusters: [
      {
        name: cluster,
        arrays: weather.arrays.map((name) => ({
          name,
          region: "westeurope",
          maxCount: mostNodes(weather),
          machineTypes: [MACHINE_TYPE],
          ...(weather.deallocates === undefined ? {} : { shutdownPolicy: "Deallocate" }),
        })),
      },
    ],
    machineTypes: { [MACHINE_TYPE]: { vcpuCount: CORES_PER_NODE, memory: 16, family: "simulatedFamily" } },
    quotas: { regional: { westeurope: weather.quotaNodes * CORES_PER_NODE } },
    timings: {
      secondsToAllocate: 4,
      secondsToAcquire: 15,
      secondsToPrepare: 25,
      secondsToTerminate: 20,
      jitter: 0.5,
    },
    visibilityLagSeconds: weather.lagSeconds,
    quirks: { operationNodesLag: true },
    seed,
    keepLog: false,
  };
}
