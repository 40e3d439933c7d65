import type { DemandHistory } from "./demand-history.ts";
import type { Tally, Violate } from "./verdict.ts";
import type { WatchedNodes } from "./watched-nodes.ts";
import type { Lasting } from "./weather.ts";

/** What a run may have at most, and the rules that differ between runs. */
export interface Limits {
  readonly nodesPerArray: number;
  /** Maximum number of nodes in total, including those that are terminating. */
  readonly quotaNodes: number;
  /**
   * Jobs use the buckets of an array in turn, those in placement groups first. A new node of an earlier bucket is then preferred to an idle
   * node of a later one, as in scalelib (`bucket-order`).
   */
  readonly bucketOrder: boolean;
  /** In weather that lasts, a node counts as present until CycleCloud has accepted its stop or the node is given up. */
  readonly lasting?: Lasting;
}

/** What the judges of creates and stops look at, and where they report. */
export interface Evidence {
  readonly limits: Limits;
  readonly now: () => number;
  readonly nodes: WatchedNodes;
  readonly demand: DemandHistory;
  /** By request id: when the shared store first held the intent. */
  readonly commits: ReadonlyMap<string, number>;
  readonly counts: Tally;
  readonly violate: Violate;
}
