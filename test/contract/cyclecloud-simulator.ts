import { createCycleCloud } from "../../src/adapters/cyclecloud/cyclecloud.ts";
import { createHttpTransport } from "../../src/adapters/cyclecloud/http-transport.ts";
import { arrayName, clusterName, machineType } from "../../src/domain/ids.ts";
import { instant } from "../../src/domain/units.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { serveSimulator } from "../../src/simulator/server.ts";
import type { CycleCloudHarness } from "./cyclecloud-harness.ts";

type CycleCloudOptions = Parameters<typeof createCycleCloud>[0];

/** What a test may set of the simulator: its unknowns, and how late a node shows. */
export type SimulatorVariant = Pick<SimulatorOptions, "quirks" | "visibilityLagSeconds">;

const small = "Standard_F2s_v2";
const credentials = { username: "cc_admin", password: "a Password 1" };
/** A name that has to be encoded, as cluster names may be. */
export const simulatedCluster = "HPC prod/ä%1";

const options: SimulatorOptions = {
  clusters: [
    {
      name: simulatedCluster,
      arrays: [
        { name: "roomy", region: "westeurope", maxCount: 50, machineTypes: [small, "Standard_F8s_v2"] },
        { name: "tight", region: "westeurope", maxCount: 3, machineTypes: [small] },
        { name: "lowprio", region: "westeurope", spot: true, machineTypes: [small] },
      ],
      headNodes: [{ name: "scheduler", machineType: small, region: "westeurope", keepAlive: true }],
    },
  ],
  machineTypes: {
    [small]: { vcpuCount: 2, memory: 4, family: "standardFSv2Family" },
    Standard_F8s_v2: { vcpuCount: 8, memory: 16, family: "standardFSv2Family" },
  },
  quotas: { regional: { westeurope: 1_000 }, spot: { westeurope: 100 }, family: { standardFSv2Family: 400 } },
  timings: {
    secondsToAllocate: 5,
    secondsToAcquire: 85,
    secondsToPrepare: 210,
    secondsToTerminate: 60,
    jitter: 0,
  },
};

/** Harder for a client than the simulator's defaults. */
const HARDER = { headNodesInStatus: true, operationNodesLag: true };

export interface SimulatedCycleCloud extends CycleCloudHarness {
  readonly simulator: Simulator;
  readonly url: string;
}

/** The simulator over HTTP on loopback, on a clock that only the test moves. */
export async function serveSimulatedCycleCloud(
  variant: SimulatorVariant,
  adapter: Pick<CycleCloudOptions, "autostop"> = {},
  password = credentials.password,
): Promise<SimulatedCycleCloud> {
  let now = 1_768_040_000_000;
  const simulator = new Simulator(
    { ...options, ...variant, quirks: { ...HARDER, ...variant.quirks } },
    { now: () => now },
  );
  const server = await serveSimulator(simulator, { credentials });
  const transport = createHttpTransport({
    baseUrl: server.url,
    credentials: () => Promise.resolve({ kind: "basic", username: credentials.username, password }),
    sleep: () => Promise.resolve(),
  });
  return {
    simulator,
    url: server.url,
    cyclecloud: createCycleCloud({ transport, ...adapter }),
    cluster: clusterName(simulatedCluster),
    roomy: { array: arrayName("roomy"), machineType: machineType(small) },
    tight: { array: arrayName("tight"), machineType: machineType(small) },
    spot: { array: arrayName("lowprio"), machineType: machineType(small) },
    now: () => instant(now),
    advance: (seconds) => {
      now += seconds * 1000;
    },
    secondsToShow: (variant.visibilityLagSeconds ?? 0) + (variant.quirks?.operationsLagSeconds ?? 0),
    secondsToBoot: 300,
    secondsToVanish: 60 + (variant.quirks?.retainedTerminatedSeconds ?? 0),
    deallocate: (ids) => {
      const path = `/clusters/${encodeURIComponent(simulatedCluster)}/nodes/deallocate`;
      const authorization = `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64")}`;
      simulator.request({ method: "POST", path, query: {}, body: { ids }, authorization });
    },
    refuseStart: (node) => simulator.faults.refuseStart(node, "The disk is gone"),
    keepAlive: (node) => simulator.faults.keepAlive(node, true),
    signsItsErrors: variant.quirks?.errorBody !== "html",
    close: async () => {
      await transport.close();
      await server.close();
    },
  };
}
