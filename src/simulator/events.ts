/** The events in the simulated CycleCloud, in order of time. `at` is in milliseconds since 1970. */

type OfNode = {
  readonly at: number;
  readonly cluster: string;
  /** The node array, or the head node's own name. */
  readonly array: string;
  readonly nodeId: string;
  readonly name: string;
};

/** A create was accepted. The node exists from now on, even if it does not show yet. */
type NodeCreated = OfNode & {
  readonly kind: "node-created";
  readonly machineType: string;
  readonly cores: number;
  readonly spot: boolean;
  readonly placementGroup?: string;
  readonly requestId?: string;
};

/** The VM has an address; billing begins. */
type NodeUp = OfNode & {
  readonly kind: "node-up";
  readonly hostname: string;
  readonly privateIp: string;
  readonly instanceId: string;
};

/** The node can run jobs. `configuration` is what the node reads: the array's, merged with the node's own. */
type NodeReady = OfNode & {
  readonly kind: "node-ready";
  readonly hostname: string;
  readonly instanceId: string;
  readonly configuration: Readonly<Record<string, unknown>>;
};

type NodeFailed = OfNode & {
  readonly kind: "node-failed";
  readonly phase: "starting" | "running" | "terminating";
  readonly message: string;
};

/** The node was shut down from inside, or restarts, and cannot run jobs. Its target state stays Started, and its VM is not deleted. */
type NodeDown = OfNode & { readonly kind: "node-down"; readonly status: "Off" | "Restarting" };

/** A request to stop this node was accepted. The simulator does not know whether it was busy. */
type TerminateAccepted = OfNode & {
  readonly kind: "terminate-accepted";
  readonly requestId?: string;
};

/** A request to deallocate this node was accepted. The simulator does not know whether it was busy. */
type DeallocateAccepted = OfNode & { readonly kind: "deallocate-accepted"; readonly requestId?: string };

/** A request to start this deallocated node was accepted. */
type StartAccepted = OfNode & { readonly kind: "start-accepted"; readonly requestId?: string };

/** The VM is off and its disks are kept; billing of the VM ends. */
type NodeDeallocated = OfNode & { readonly kind: "node-deallocated" };

/** The VM is deleted; billing ends and its quota is free again. */
type NodeGone = OfNode & { readonly kind: "node-gone"; readonly reason: "terminated" | "vanished" };

type CreateAccepted = {
  readonly kind: "create-accepted";
  readonly at: number;
  readonly cluster: string;
  readonly requestId?: string;
  /** Of all sets. */
  readonly asked: number;
  readonly added: number;
  /** Of each set, in the order of the request. */
  readonly sets: readonly { readonly asked: number; readonly added: number }[];
};

type StatusRead = {
  readonly kind: "status-read";
  readonly at: number;
  readonly cluster: string;
  readonly withNodes: boolean;
};

type RequestRefused = {
  readonly kind: "request-refused";
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Undefined if the answer has no message. */
  readonly why?: string;
};

export type SimulatorEvent =
  | NodeCreated
  | NodeUp
  | NodeReady
  | NodeFailed
  | NodeDown
  | TerminateAccepted
  | StartAccepted
  | DeallocateAccepted
  | NodeDeallocated
  | NodeGone
  | CreateAccepted
  | StatusRead
  | RequestRefused;
