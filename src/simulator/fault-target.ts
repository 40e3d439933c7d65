import type { FaultActions } from "./faults.ts";
import type { Fleet } from "./fleet.ts";
import { failNode, hangInRestart, restartNode, shutDownNode, vanishNode } from "./mishaps.ts";
import type { SimulatedNode } from "./node.ts";
import type { Bucket, Cluster, World } from "./world.ts";
import { findBucket } from "./world.ts";

/** The nodes and clusters of a simulator, as planned faults reach them. `advance` processes what is due, and returns the present time. */
export function openFaultTarget(world: World, fleet: Fleet, advance: () => number): FaultActions {
  return { ...targetNodes(fleet, advance), ...targetClusters(world), ...targetLag(fleet, advance) };
}

function targetNodes(fleet: Fleet, advance: () => number) {
  const nodeOf = (id: string) => requireNode(fleet, id);
  return {
    vanish(ids) {
      const now = advance();
      for (const id of ids) vanishNode(fleet, nodeOf(id), now);
    },
    failNode(id, message) {
      const now = advance();
      failNode(fleet, nodeOf(id), message, now);
    },
    shutDown(id) {
      const now = advance();
      shutDownNode(fleet, nodeOf(id), now);
    },
    restart(id, { comesBack }) {
      const now = advance();
      if (comesBack) restartNode(fleet, nodeOf(id), now);
      else hangInRestart(fleet, nodeOf(id), now);
    },
    refuseStart(id, message) {
      nodeOf(id).refusesStart = message;
    },
    setKeepAlive(id, keepAlive) {
      const node = nodeOf(id);
      node.keepAlive = keepAlive;
      fleet.roster.touch(node);
    },
  } satisfies Partial<FaultActions>;
}

function targetClusters(world: World) {
  return {
    setCapacity(array, machineType, left, cluster) {
      requireBucket(world, array, machineType, cluster).capacityLeft = left;
    },
    setInvalid(array, machineType, reason, cluster) {
      requireBucket(world, array, machineType, cluster).invalidReason = reason;
    },
    setClusterState(name, state, targetState) {
      const cluster = requireCluster(world, name);
      cluster.state = state;
      cluster.targetState = targetState;
    },
  } satisfies Partial<FaultActions>;
}

function targetLag(fleet: Fleet, advance: () => number) {
  return {
    freezeLag() {
      advance();
      fleet.freezeLag();
    },
    thawLag() {
      advance();
      fleet.thawLag();
    },
  } satisfies Partial<FaultActions>;
}

function requireNode({ roster }: Fleet, id: string): SimulatedNode {
  const node = roster.find(id);
  if (node === undefined) throw new Error(`there is no node with the id ${id}`);
  return node;
}

function requireCluster({ clusters }: World, name: string): Cluster {
  const cluster = clusters.get(name);
  if (cluster !== undefined) return cluster;
  throw new Error(`there is no cluster ${name}, only ${[...clusters.keys()].join(", ")}`);
}

/** Without a cluster's name: the first cluster that has such an array. */
function requireBucket(
  world: World,
  array: string,
  machineType: string,
  cluster: string | undefined,
): Bucket {
  const clusters = cluster === undefined ? [...world.clusters.values()] : [requireCluster(world, cluster)];
  for (const { arrays } of clusters) {
    const found = arrays.find((candidate) => candidate.name === array);
    const bucket = found === undefined ? undefined : findBucket(found, machineType);
    if (bucket !== undefined) return bucket;
  }
  throw new Error(`there is no array ${array} with machine type ${machineType}`);
}
