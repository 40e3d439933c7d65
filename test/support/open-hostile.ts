import type { StatusBucket } from "../../src/domain/cluster.ts";
import type { Demand } from "../../src/domain/demand.ts";
import { arrayName, machineType } from "../../src/domain/ids.ts";
import { buildArray, buildBucket, buildNodes, buildSnapshot, rememberNodes } from "./build-node.ts";
import type { buildState } from "./build-record.ts";
import { buildState as build, buildTarget } from "./build-record.ts";
import { HOSTILE_CLUSTERS } from "./hostile-clusters.ts";
import { times } from "./hostile-jobs.ts";
import type { HostileCluster } from "./hostile-jobs.ts";

/*
 * The state of a hostile cluster from which a plan begins.
 */

export function hostileCluster(name: string): HostileCluster {
  const found = HOSTILE_CLUSTERS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no hostile cluster is called ${name}`);
  return found;
}

/** Twenty VM sizes of the series D, each with another number of cores. */
const buckets = (array: number): readonly StatusBucket[] =>
  times(20, (k) => buildBucket(machineType(`Standard_D${k + 1}_v${array + 1}`), k + 1));

/** The demand in a cluster of ten arrays of twenty VM sizes, with this many nodes. All nodes are of one array and size. */
export function clusterOf(hostile: HostileCluster, nodeCount: number) {
  const nodes = buildNodes("n", nodeCount, {
    array: arrayName("a0"),
    machineType: machineType("Standard_D4_v1"),
  });
  const snapshot = buildSnapshot(nodes, {
    arrays: times(10, (a) => buildArray(`a${a}`, { buckets: buckets(a) })),
  });
  const { record, bodies } = build({
    sets: { ...hostile.sets(), honest: { demands: [HONEST] } },
    ledger: rememberNodes(nodes),
    seen: snapshot,
  });
  const { pools } = hostile;
  const demands =
    pools === undefined
      ? bodies.demands
      : new Map([...bodies.demands].map(([digest, body]) => [digest, { ...body, pools }]));
  const state: ReturnType<typeof buildState> = { record, bodies: { ...bodies, demands } };
  return { ...state, observation: { snapshot, requestNodes: new Map() } };
}

/** The demand of an honest set, which comes last by priority. */
const HONEST: Demand = buildTarget(5, { array: arrayName("a9"), priority: -5 });
