/** The input and output of the auditor. Times are milliseconds on one axis. */

export interface NodeCreated {
  readonly at: number;
  readonly nodeId: string;
  readonly cores: number;
  /** The cores of quota that the node uses. Absent: its cores. Constrained sizes use more. */
  readonly quotaCores?: number;
  readonly array: string;
  readonly machineType: string;
  readonly spot: boolean;
  /** Creations of one request count as one scale-up. Without an id, creations of one moment do. */
  readonly requestId?: string;
}

export interface NodeEvent {
  readonly at: number;
  readonly nodeId: string;
}

export interface DemandEvent {
  readonly at: number;
  /** Slots of one core, running and queued. This demand replaces the one before it. */
  readonly slots: number;
  readonly expiresAt: number;
}

/** A limit on all nodes that match. Limits of cluster and array, and quotas of family, region and spot all have this form. */
export interface AuditedLimit {
  /** For users: "cluster cores", "family standardFSv2Family". */
  readonly name: string;
  readonly unit: "nodes" | "cores" | "quota-cores";
  readonly most: number;
  /** Only nodes with all of these properties count. Absent: every node. */
  readonly only?: {
    readonly array?: string;
    readonly machineTypes?: readonly string[];
    readonly spot?: boolean;
  };
  /** The event after which a node no longer counts. Default "gone", as in Azure's quotas. */
  readonly heldUntil?: "gone" | "terminate-accepted";
}

export type Violation =
  | {
      readonly kind: "busy-node-stopped";
      readonly at: number;
      readonly nodeId: string;
      readonly busySince: number;
    }
  | {
      readonly kind: "limit-exceeded";
      readonly at: number;
      readonly nodeId: string;
      readonly limit: string;
      readonly most: number;
      readonly used: number;
    }
  | {
      readonly kind: "node-beyond-demand";
      readonly at: number;
      readonly nodeId: string;
      readonly slotsAsked: number;
      readonly nodesNeeded: number;
      readonly liveNodes: number;
      readonly liveCores: number;
    };

export interface AuditReport {
  readonly busyNodesStopped: number;
  /** Creations that exceeded a limit. A creation that exceeds two limits counts twice. */
  readonly limitsExceeded: number;
  readonly nodesBeyondDemand: number;
  readonly violations: readonly Violation[];
  readonly nodesCreated: number;
  readonly nodesStopped: number;
  /** From the acceptance of the creation until the node was gone, or the end of the report. */
  readonly nodeHours: number;
  /** From the acceptance of the creation until the node was Ready, or gone, or the report ends. No job can use this time. */
  readonly bootNodeHours: number;
  /** Ready and without a job. */
  readonly idleNodeHours: number;
  readonly scaleUps: number;
  /** Moments at which terminations were accepted. */
  readonly scaleDowns: number;
  readonly mostLiveNodes: number;
}
