import { standingsOf } from "../../../src/decide/nodes/standing.ts";
import { buildWorld } from "../../../src/decide/world/build-world.ts";
import type { World } from "../../../src/domain/world.ts";
import type { StatusBucket, Node, NodeArray, NodePhase, Snapshot } from "../../../src/domain/cluster.ts";
import { arrayName, clusterName, machineType, nodeId, placementGroup } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { instant } from "../../../src/domain/units.ts";
import type { WorldInput } from "../../../src/decide/world/world-input.ts";

/*
 * A small snapshot, and the world that is built of it.
 */

export const now = instant(1_763_636_400_000);
export const d4 = { vcpus: 4, quotaVcpus: 4, gpus: 0, memoryGib: 16, infiniband: false };

export function bucket(type: string, more: Partial<StatusBucket> = {}): StatusBucket {
  return {
    bucketId: `id-${type}`,
    machineType: machineType(type),
    valid: true,
    availableCount: 50,
    activeCount: 0,
    placementGroups: [],
    machine: d4,
    ...more,
  };
}

export function array(
  name: string,
  buckets: readonly StatusBucket[],
  more: Partial<NodeArray> = {},
): NodeArray {
  return {
    name: arrayName(name),
    limit: {},
    region: "westeurope",
    spot: false,
    autoscaled: true,
    priority: 1,
    resources: {},
    buckets,
    ...more,
  };
}

export function node(id: string, phase: NodePhase = "ready", more: Partial<Node> = {}): Node {
  return {
    nodeId: nodeId(id),
    name: id,
    array: arrayName("execute"),
    machineType: machineType("Standard_D4s_v5"),
    phase,
    status: "Ready",
    spot: false,
    keepAlive: false,
    ...more,
  };
}

export const D4 = "Standard_D4s_v5";

export function build(snapshot: Partial<Snapshot>, more: Partial<WorldInput> = {}): World {
  const whole: Snapshot = {
    cluster: clusterName("c"),
    at: now,
    state: "Started",
    targetState: "Started",
    limit: {},
    arrays: [array("execute", [bucket(D4)])],
    nodes: [],
    ...snapshot,
  };
  const { ledger = new Map(), policy = DEFAULT_POLICY } = more;
  return buildWorld({
    snapshot: whole,
    ledger,
    standings: standingsOf({ snapshot: whole, ledger, open: new Set() }, policy, more.now ?? now),
    inFlight: [],
    pendingCreates: [],
    backoffs: [],
    policy,
    excluded: new Set(),
    order: () => 0,
    now,
    ...more,
  });
}

/** "kind name unit: used/max, left" of each limit. */
export function limitsOf(world: World): readonly string[] {
  return world.limits.map(
    ({ id, used, max, left }) => `${id.kind} ${id.name} ${id.unit}: ${used}/${max}, ${left} left`,
  );
}

export const at = (name: string, type: string, group?: string) => ({
  array: arrayName(name),
  machineType: machineType(type),
  ...(group === undefined ? {} : { placementGroup: placementGroup(group) }),
});
