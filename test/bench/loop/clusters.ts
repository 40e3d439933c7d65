import type { SimulatorOptions } from "../../../src/simulator/options.ts";
import { CLUSTER } from "./parts.ts";

/** Nodes are Ready 3 s after their creation, and show up to 2 s late. */
const TIMINGS = {
  secondsToAllocate: 1,
  secondsToAcquire: 1,
  secondsToPrepare: 1,
  secondsToTerminate: 5,
  jitter: 0,
};

/** The arrays "execute" and "urgent" with room for `most` nodes of this many cores each. */
export function clusterOf(most: number, cores: number, visibilityLagSeconds = 0): SimulatorOptions {
  const array = (name: string) => ({
    name,
    region: "westeurope",
    machineTypes: ["Standard_Bench"],
    maxCount: most,
  });
  return {
    clusters: [
      {
        name: CLUSTER,
        maxCount: 2 * most,
        maxCoreCount: 2 * most * cores,
        arrays: [array("execute"), array("urgent")],
      },
    ],
    machineTypes: { Standard_Bench: { vcpuCount: cores, memory: 4 * cores, family: "standardBenchFamily" } },
    timings: TIMINGS,
    visibilityLagSeconds,
  };
}
