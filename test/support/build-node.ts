import type { StatusBucket, Node, NodeArray, NodePhase, Snapshot } from "../../src/domain/cluster.ts";
import { arrayName, clusterName, machineType, nodeId, requestId } from "../../src/domain/ids.ts";
import type { Busyness, Ledger, LedgerNode } from "../../src/domain/ledger.ts";
import type { Instant } from "../../src/domain/units.ts";
import { instant, plusSeconds } from "../../src/domain/units.ts";

/** The moment at which most scenarios decide. */
export const NOW = instant(1_763_636_400_000);

/** The moment this many seconds after {@link NOW}, or before it if negative. */
export function at(seconds: number): Instant {
  return plusSeconds(NOW, seconds);
}

export const PROD = clusterName("prod");
export const EXECUTE = arrayName("execute");
export const D4 = machineType("Standard_D4s_v5");
export const D8 = machineType("Standard_D8s_v5");

/** A node of the array "execute", four cores, up, as a status shows it; host `ip-ID`, instance `vm-ID`. */
export function buildNode(id: string, more: Partial<Node> = {}): Node {
  return {
    nodeId: nodeId(id),
    name: `execute-${id}`,
    array: EXECUTE,
    machineType: D4,
    phase: "ready",
    status: STATUS_OF[more.phase ?? "ready"],
    hostname: `ip-${id}`,
    instanceId: `vm-${id}`,
    spot: false,
    keepAlive: false,
    ...more,
  };
}

const STATUS_OF: Readonly<Record<NodePhase, string>> = {
  ready: "Ready",
  coming: "Preparation",
  failed: "Failed",
  going: "Terminating",
  off: "Off",
  deallocated: "Deallocated",
  unknown: "Unknown",
};

/** `count` nodes, named `PREFIX1` and so on. */
export function buildNodes(prefix: string, count: number, more: Partial<Node> = {}): readonly Node[] {
  return Array.from({ length: count }, (_, i) => buildNode(`${prefix}${i + 1}`, more));
}

const OUR_REQUEST = requestId("r-ours");

/**
 * The ledger entry of a node that a request of ours made, with the fields of `more` on top. A node that is up was first seen an hour ago,
 * one that is coming 100 s ago. Its busy state is unknown.
 */
export function rememberNode(node: Node, more: Partial<LedgerNode> = {}): LedgerNode {
  const up = node.phase !== "coming" && node.phase !== "unknown";
  return {
    nodeId: node.nodeId,
    name: node.name,
    array: node.array,
    ...(node.hostname === undefined ? {} : { hostname: node.hostname }),
    ...(node.instanceId === undefined ? {} : { instanceId: node.instanceId }),
    requestId: OUR_REQUEST,
    purpose: { kind: "array" },
    firstSeenAt: at(up ? -3600 : -100),
    ...(up ? { firstReadyAt: at(-3500) } : {}),
    busyness: { state: "unknown", since: at(-3500) },
    ...more,
  };
}

/** The entry of a node that another tool made: it has no request id and no stop URL of ours. */
export function notOurs({ requestId: _none, keyId: _url, ...known }: LedgerNode): LedgerNode {
  return known;
}

export function buildLedger(entries: readonly LedgerNode[]): Ledger {
  return new Map(entries.map((entry) => [entry.nodeId, entry]));
}

/** The ledger of these nodes, with an entry from {@link rememberNode} for each. */
export function rememberNodes(nodes: readonly Node[], more: Partial<LedgerNode> = {}): Ledger {
  return buildLedger(nodes.map((node) => rememberNode(node, more)));
}

export function idleSince(since: Instant): { readonly busyness: Busyness } {
  return { busyness: { state: "idle", since } };
}

/** One VM size of an array that has room for a thousand more. */
export function buildBucket(type = D4, vcpus = 4, more: Partial<StatusBucket> = {}): StatusBucket {
  return {
    bucketId: `bucket-${type}`,
    machineType: type,
    valid: true,
    availableCount: 1000,
    activeCount: 0,
    placementGroups: [],
    machine: { vcpus, quotaVcpus: vcpus, gpus: 0, memoryGib: vcpus * 4, infiniband: false },
    ...more,
  };
}

export function buildArray(name = "execute", more: Partial<NodeArray> = {}): NodeArray {
  return {
    name: arrayName(name),
    limit: {},
    spot: false,
    autoscaled: true,
    priority: 1,
    resources: {},
    buckets: [buildBucket()],
    ...more,
  };
}

/** The started cluster "prod" with the array "execute" and these nodes, seen at {@link NOW}. */
export function buildSnapshot(nodes: readonly Node[] = [], more: Partial<Snapshot> = {}): Snapshot {
  return {
    cluster: PROD,
    at: NOW,
    state: "Started",
    targetState: "Started",
    limit: {},
    arrays: [buildArray()],
    nodes,
    ...more,
  };
}
