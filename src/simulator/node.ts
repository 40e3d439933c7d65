import type { Fate } from "./fate.ts";
import type { JsonObject } from "./json.ts";
import type { LimitKeys } from "./limits.ts";
import type { Bucket, Cluster, Machine, NodeArray } from "./world.ts";

export type NodeStatus =
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
  /** undefined: a head node. */
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
  /** Equal for nodes whose attributes are equal: a scale set wants that. */
  readonly signature: string;
  readonly keys: LimitKeys;
  readonly fate: Fate;
  readonly createdAt: number;
};

/** A node as the simulator keeps it. Only the fleet changes one; each change drops the cached wire record. */
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
  /** Has a place in what Azure really has. */
  holdsCapacity: boolean;
  /** Shown instead of the actual state while a start must not be visible yet. */
  veil: JsonObject | undefined;
  /** Why it cannot be started, by a planned fault. */
  refusesStart: string | undefined;
  /** Raised by each change of course; a scheduled step of an older one is void. */
  course: number;
  record: JsonObject | undefined;
};

/** A node that was accepted this moment: nothing runs, nothing shows, and it holds its place under every limit. */
export function startNode(identity: NodeIdentity, keepAlive: boolean): SimulatedNode {
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
