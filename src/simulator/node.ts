import type { Fate } from "./fate.ts";
import type { JsonObject } from "./json.ts";
import type { LimitKeys } from "./limits.ts";
import type { Bucket, Cluster, Machine, NodeArray } from "./world.ts";

type NodeStatus =
  | "Allocation"
  | "Acquiring"
  | "Preparing"
  | "Ready"
  | "Restarting"
  | "Failed"
  | "Reimaging"
  | "Stopping"
  | "Deallocated"
  | "Terminating"
  | "Terminated"
  | "Off";

export type Address = {
  readonly number: number;
  readonly hostname: string;
  readonly privateIp: string;
  readonly instanceId: string;
};

/** The constant properties of a node. */
export type NodeIdentity = {
  readonly id: string;
  readonly name: string;
  readonly cluster: Cluster;
  /** Undefined for a head node. */
  readonly array: NodeArray | undefined;
  readonly bucket: Bucket | undefined;
  readonly machine: Machine;
  readonly region: string;
  readonly spot: boolean;
  readonly group: string | undefined;
  readonly requestId: string | undefined;
  /** Attributes of the create request, without `Configuration`. */
  readonly attributes: JsonObject;
  /** The array's configuration merged with the request's. */
  readonly configuration: JsonObject;
  /** Equal for nodes whose attributes are equal. All nodes of a scale set must have the same. */
  readonly signature: string;
  readonly keys: LimitKeys;
  readonly fate: Fate;
  readonly createdAt: number;
};

/** A node with its state. Only fleet.ts, node-actions.ts, node-steps.ts, mishaps.ts and planned faults change it. */
export type SimulatedNode = NodeIdentity & {
  status: NodeStatus;
  targetState: "Started" | "Deallocated" | "Terminated";
  keepAlive: boolean;
  address: Address | undefined;
  message: string | undefined;
  upAt: number | undefined;
  failedAt: number | undefined;
  wasReady: boolean;
  /** Listed in status and nodes. */
  shown: boolean;
  holdsActive: boolean;
  holdsQuota: boolean;
  /** Counts against the VMs that Azure has. */
  holdsCapacity: boolean;
  /** Shown instead of the actual state while a start must not be visible yet. */
  veil: JsonObject | undefined;
  /** The error of each start, by a planned fault. */
  refusesStart: string | undefined;
  /** Raised by each change of the node's way. Steps that were scheduled before such a change are cancelled. */
  course: number;
  /** The wire record, until the next change. */
  record: JsonObject | undefined;
};

/** A node that was just accepted: it has no VM, does not show, and counts against every limit. */
export function createNode(
  identity: NodeIdentity,
  { keepAlive }: Pick<SimulatedNode, "keepAlive">,
): SimulatedNode {
  return {
    ...identity,
    status: "Allocation",
    targetState: "Started",
    keepAlive,
    address: undefined,
    message: undefined,
    upAt: undefined,
    failedAt: undefined,
    wasReady: false,
    shown: false,
    holdsActive: true,
    holdsQuota: true,
    holdsCapacity: true,
    veil: undefined,
    refusesStart: undefined,
    course: 0,
    record: undefined,
  };
}

/** The members that every event about a node has. */
export function describeNode(
  node: SimulatedNode,
  at: number,
): { at: number; cluster: string; array: string; nodeId: string; name: string } {
  const array = node.array?.name ?? node.name;
  return { at, cluster: node.cluster.name, array, nodeId: node.id, name: node.name };
}
