import type { RequestId } from "./ids.ts";
import type { RequestedNode, Snapshot } from "./cluster.ts";
import type { Instant } from "./units.ts";

/** One look at CycleCloud: the status, and which nodes belong to the requests that are still open. */
export interface Look {
  readonly snapshot: Snapshot;
  /** Requests whose nodes could not be asked for, or not in time, are not here. */
  readonly requestNodes: ReadonlyMap<RequestId, RequestNodes>;
}

/** What a question for a request's nodes has found. */
export interface RequestNodes {
  /** When the question began: what it found may be as old as that. */
  readonly askedAt: Instant;
  readonly nodes: readonly RequestedNode[];
}
