import type { RequestId } from "./ids.ts";
import type { RequestedNode, Snapshot } from "./cluster.ts";
import type { ClusterRecord } from "./record.ts";
import type { Instant } from "./units.ts";

/** One observation of CycleCloud: the status, and the nodes of the requests that are still open. */
export interface Observation {
  readonly snapshot: Snapshot;
  /** The status took so long that CycleCloud may have stood still. It says nothing about nodes that are down. Absent: it was quick. */
  readonly slow?: true;
  /** Requests whose nodes could not be listed in time are missing here. */
  readonly requestNodes: ReadonlyMap<RequestId, RequestNodes>;
}

/** The answer to one question for a request's nodes. */
export interface RequestNodes {
  /** When the question began. The answer may be as old as that. */
  readonly askedAt: Instant;
  readonly nodes: readonly RequestedNode[];
}

/** Whether what began at this moment proves nothing by what it lacks, because CycleCloud stood still (docs/protocol.md, Standstills). */
export function isEarly({ provesFrom }: Pick<ClusterRecord, "provesFrom">, began: Instant): boolean {
  return provesFrom !== undefined && began < provesFrom;
}
