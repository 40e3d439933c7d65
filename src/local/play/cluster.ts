import type { Quirks, SimulatorOptions, Timings } from "../../simulator/options.ts";
import type { AuditedLimit } from "../workload/audit-events.ts";
import type { Seconds } from "../../domain/units.ts";

/** The cluster on which a workload runs: as wide as the workload needs. Its arrays differ only in their limits. */
export interface PlayedCluster {
  readonly name: string;
  readonly arrays: readonly { readonly name: string; readonly nodes: number }[];
  readonly machineType: string;
  readonly coresPerNode: number;
  readonly nodes: number;
  /** For how many nodes the limits of the cluster and the quotas are enough. Absent: for `nodes`, as those of the arrays. */
  readonly roomForNodes?: number;
  readonly pricePerHour: number;
  readonly timings: Timings;
  readonly visibilityLagSeconds: Seconds;
  /** How CycleCloud behaves where that is unknown. Absent: the behaviour that the reference considers likely. */
  readonly quirks?: Partial<Quirks>;
}

/** Boot takes 5 minutes in total, as in most clusters; stopping 1 minute. A node is shown up to 10 s after its acceptance. */
const TIMINGS: Timings = {
  secondsToAllocate: 5,
  secondsToAcquire: 85,
  secondsToPrepare: 210,
  secondsToTerminate: 60,
  jitter: 0,
};
const LAG_SECONDS: Seconds = 10;
/** US dollars for a core and hour of a common compute-optimised size; an order of magnitude, for the cost that the progress line shows. */
const PRICE_PER_CORE_HOUR = 0.045;

/** Common members of a template's Configuration beside our own. */
const CONFIGURATION = {
  cyclecloud: { cluster: { autoscale: { stop_enabled: true, idle_time_after_jobs: 300 } } },
  autoscale: { enabled: true },
};

/** A cluster for so many processors. `secondArray` of its nodes are in an array of their own. */
export function clusterFor(maxProcessors: number, coresPerNode: number, secondArray = 0): PlayedCluster {
  const nodes = Math.ceil(maxProcessors / coresPerNode);
  const arrays = [
    { name: "execute", nodes: nodes - secondArray },
    { name: "second", nodes: secondArray },
  ];
  return {
    name: "demo",
    arrays: arrays.filter((array) => array.nodes > 0),
    machineType: `Simulated_${coresPerNode}_cores`,
    coresPerNode,
    nodes,
    pricePerHour: PRICE_PER_CORE_HOUR * coresPerNode,
    timings: TIMINGS,
    visibilityLagSeconds: LAG_SECONDS,
  };
}

export function bootSeconds(cluster: PlayedCluster): number {
  const { secondsToAllocate, secondsToAcquire, secondsToPrepare } = cluster.timings;
  return secondsToAllocate + secondsToAcquire + secondsToPrepare;
}

export function simulatorOptions(cluster: PlayedCluster, seed: number): SimulatorOptions {
  const room = cluster.roomForNodes ?? cluster.nodes;
  const cores = room * cluster.coresPerNode;
  const family = "simulatedFamily";
  return {
    clusters: [
      {
        name: cluster.name,
        maxCount: room,
        maxCoreCount: cores,
        arrays: cluster.arrays.map(({ name, nodes }) => ({
          name,
          region: "westeurope",
          maxCount: nodes,
          maxCoreCount: cluster.roomForNodes === undefined ? nodes * cluster.coresPerNode : cores,
          machineTypes: [cluster.machineType],
          configuration: CONFIGURATION,
        })),
      },
    ],
    machineTypes: {
      [cluster.machineType]: {
        vcpuCount: cluster.coresPerNode,
        memory: 4 * cluster.coresPerNode,
        family,
        pricePerHour: cluster.pricePerHour,
      },
    },
    quotas: { regional: { westeurope: cores }, family: { [family]: cores } },
    timings: cluster.timings,
    visibilityLagSeconds: cluster.visibilityLagSeconds,
    ...(cluster.quirks === undefined ? {} : { quirks: cluster.quirks }),
    seed,
    keepLog: false,
  };
}

/**
 * The same limits, as the auditor counts them. CycleCloud's own limits exclude nodes that are being stopped, quotas include them (wire A.3,
 * A.5).
 */
export function auditedLimits(cluster: PlayedCluster): readonly AuditedLimit[] {
  const room = cluster.roomForNodes ?? cluster.nodes;
  const cores = room * cluster.coresPerNode;
  return [
    { name: "cluster nodes", unit: "nodes", most: room, heldUntil: "terminate-accepted" },
    ...cluster.arrays.map(({ name, nodes }): AuditedLimit => ({
      name: cluster.arrays.length === 1 ? "array cores" : `array cores of ${name}`,
      unit: "cores",
      most: nodes * cluster.coresPerNode,
      only: { array: name },
      heldUntil: "terminate-accepted",
    })),
    { name: "regional quota", unit: "quota-cores", most: cores },
  ];
}
