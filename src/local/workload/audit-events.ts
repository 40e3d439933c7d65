/** The input and output of the auditor. Times are milliseconds on one axis. */

export interface NodeCreated {
  readonly at: number;
  readonly nodeId: string;
  readonly cores: number;
  /** The quota that the node uses, if that differs from its cores (constrained sizes). */
  readonly quotaCores?: number;
  readonly array: string;
  readonly machineType: string;
  readonly spot: boolean;
  /** Creations of one request are one scale-up; without an id, creations of one instant are. */
  readonly requestId?: string;
}

export interface NodeEvent {
  readonly at: number;
  readonly nodeId: string;
}

export interface DemandEvent {
  readonly at: number;
  /** Slots of one core, running and queued. It replaces the demand before it. */
  readonly slots: number;
  readonly expiresAt: number;
}

/** One ceiling over the nodes that match: cluster, array, family, region and spot quotas all have this form. */
export interface AuditedLimit {
  /** For people: "cluster cores", "family standardFSv2Family". */
  readonly name: string;
  readonly unit: "nodes" | "cores" | "quota-cores";
  readonly most: number;
  /** Left out: every node counts. Given: only nodes that agree with each entry. */
  readonly only?: {
    readonly array?: string;
    readonly machineTypes?: readonly string[];
    readonly spot?: boolean;
  };
  /** Until when a node counts; Azure's quotas do until it is gone (the default). */
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
  /** Creations after which a limit was exceeded; one creation over two limits counts twice. */
  readonly limitsExceeded: number;
  readonly nodesBeyondDemand: number;
  readonly violations: readonly Violation[];
  readonly nodesCreated: number;
  readonly nodesStopped: number;
  /** From the acceptance of the creation until the node was gone, or the end of the report. */
  readonly nodeHours: number;
  /** From the acceptance of the creation until the node was Ready (or gone, or the end): the part that no job can use. */
  readonly bootNodeHours: number;
  /** Ready and without a job. */
  readonly idleNodeHours: number;
  readonly scaleUps: number;
  /** Instants at which terminations were accepted. */
  readonly scaleDowns: number;
  readonly mostLiveNodes: number;
}
