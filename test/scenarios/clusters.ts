import type { NodeArrayOptions, SimulatorOptions, Timings } from "../../src/simulator/options.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";

/** A node boots in 60 s (5 + 25 + 30) and terminates in 30 s. */
export const QUICK: Timings = {
  secondsToAllocate: 5,
  secondsToAcquire: 25,
  secondsToPrepare: 30,
  secondsToTerminate: 30,
  jitter: 0,
};

/** A node boots in 3 s: for tests in real time that are about something else. */
export const AT_ONCE: Timings = {
  secondsToAllocate: 1,
  secondsToAcquire: 1,
  secondsToPrepare: 1,
  secondsToTerminate: 5,
  jitter: 0,
};

export const MACHINE_TYPES: SimulatorOptions["machineTypes"] = {
  Standard_F4s_v2: { vcpuCount: 4, memory: 8, family: "standardFSv2Family" },
  Standard_D4s_v5: { vcpuCount: 4, memory: 16, family: "standardDSv5Family" },
};

/** One array "execute" of 4-core nodes with room for 1,000. */
export function oneArray(
  name: string,
  array: Partial<NodeArrayOptions> = {},
  more: Partial<SimulatorOptions> = {},
): SimulatorOptions {
  return {
    clusters: [
      {
        name,
        maxCount: 1000,
        maxCoreCount: 4000,
        arrays: [
          {
            name: "execute",
            region: "westeurope",
            machineTypes: ["Standard_F4s_v2"],
            maxCount: 1000,
            ...array,
          },
        ],
      },
    ],
    machineTypes: MACHINE_TYPES,
    timings: QUICK,
    ...more,
  };
}

/** A target of this many nodes of "execute", by one request set. */
export function target(cluster: string, count: number, more: Partial<DemandMessage> = {}): DemandMessage {
  return { version: 1, cluster, nodearrays: [{ Name: "execute", TargetCount: count }], ...more };
}
