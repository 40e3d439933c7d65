import type { BucketKey } from "../../domain/bucket.ts";
import type { RequestedNode, Snapshot } from "../../domain/cluster.ts";
import type { NodeAttributes } from "../../domain/demand.ts";
import type { ArrayName, ClusterName, NodeId, RequestId } from "../../domain/ids.ts";
import type { GrantedSet } from "../../domain/intent.ts";
import type { Instant } from "../../domain/units.ts";

/**
 * The `Configuration` that one status gives for the nodes of each array. It may hold secrets: it is passed only to creates of the same run,
 * and is never stored, logged or shown.
 */
export interface ArrayTemplates {
  /** Undefined if the status had no such array, or none with a Configuration. */
  configurationOf(array: ArrayName): NodeAttributes | undefined;
}

export interface CreateRequest {
  readonly requestId: RequestId;
  /** At least one. */
  readonly sets: readonly RequestedSet[];
  /** From a status that the sender has just read, so that nodes get the current settings of their array. */
  readonly templates: ArrayTemplates;
}

export interface RequestedSet {
  readonly bucket: BucketKey;
  readonly count: number;
  /** The name of the nodes, with "%d" for their number. Absent: named after their node array. */
  readonly nameFormat?: string;
  readonly attributes?: NodeAttributes;
}

export type CreateOutcome =
  /** 202: the result for each set, in the order of the request. */
  | { readonly kind: "accepted"; readonly sets: readonly GrantedSet[] }
  /** 409: a repeated id or invalid input. The answer alone does not show which (wire A.6). */
  | { readonly kind: "conflict"; readonly message?: string }
  /** Another 4xx about the request itself: certainly no effect for any set. */
  | { readonly kind: "refused"; readonly message: string };

export type ManagementOutcome =
  | {
      readonly kind: "accepted";
      /** One entry per node that matched. A node without an entry did not exist (wire A.7). */
      readonly nodes: ReadonlyMap<NodeId, { readonly ok: boolean; readonly error?: string }>;
    }
  | { readonly kind: "conflict"; readonly message?: string }
  | { readonly kind: "refused"; readonly message: string };

export type StatusOutcome =
  | { readonly kind: "snapshot"; readonly snapshot: Snapshot; readonly templates: ArrayTemplates }
  /** 404: accepted only after two observations a tick apart agree. */
  | { readonly kind: "not-found"; readonly fromCycleCloud: boolean; readonly message: string };

/**
 * Asked in the turn in which a change is written to its connection. False: it is not written, and the call throws a PortError that says so
 * (docs/protocol.md, Creates). Absent: it always is.
 */
export type InTime = () => boolean;

/** One CycleCloud server as one cluster sees it (cyclecloud-wire.md A). Reads may be retried inside, changes never are. */
export interface CycleCloud {
  /** One call: status with nodes, so that both are of one moment. `at` of the snapshot is `now`. */
  status(cluster: ClusterName, now: Instant): Promise<StatusOutcome>;
  /** Nodes of a request that still exist. Undefined if CycleCloud does not know the request. */
  nodesOfRequest(cluster: ClusterName, id: RequestId): Promise<readonly RequestedNode[] | undefined>;
  /** Whether CycleCloud knows the request id. Documented for creates only (cyclecloud-wire.md A.9). */
  knowsRequest(cluster: ClusterName, id: RequestId): Promise<boolean>;
  create(cluster: ClusterName, request: CreateRequest, inTime?: InTime): Promise<CreateOutcome>;
  /** Starts deallocated nodes, by their ids. */
  start(
    cluster: ClusterName,
    id: RequestId,
    nodes: readonly NodeId[],
    inTime?: InTime,
  ): Promise<ManagementOutcome>;
  terminate(
    cluster: ClusterName,
    id: RequestId,
    nodes: readonly NodeId[],
    inTime?: InTime,
  ): Promise<ManagementOutcome>;
  /** Switches nodes off and keeps their disks. */
  deallocate(
    cluster: ClusterName,
    id: RequestId,
    nodes: readonly NodeId[],
    inTime?: InTime,
  ): Promise<ManagementOutcome>;
}
