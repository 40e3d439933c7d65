import type { SimulatorOptions } from "../../src/simulator/options.ts";

/** A cluster with an array that hostile demand may use, and one for the honest set. */
export function clusterOptions(): SimulatorOptions {
  return {
    clusters: [
      {
        name: "demo",
        arrays: [
          { name: "hpc", region: "westeurope", machineTypes: ["Standard_F4s_v2"] },
          { name: "htc", region: "westeurope", machineTypes: ["Standard_F4s_v2"] },
        ],
      },
    ],
    machineTypes: { Standard_F4s_v2: { vcpuCount: 4, memory: 8, family: "standardFSv2Family" } },
    quotas: { regional: { westeurope: 40_000 } },
    timings: {
      secondsToAllocate: 4,
      secondsToAcquire: 20,
      secondsToPrepare: 30,
      secondsToTerminate: 20,
      jitter: 0.5,
    },
    keepLog: false,
  };
}
