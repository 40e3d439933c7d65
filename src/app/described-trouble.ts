/** A condition that may require an operator's action. */
export interface DescribedTrouble {
  readonly kind:
    | "health"
    | "backing-off"
    | "node-failed"
    | "node-down"
    /** CycleCloud no longer lists it. It counts as present for a while. */
    | "node-missing"
    /** CycleCloud has not shown for the whole boot timeout whether it is wanted. */
    | "node-unclear"
    /** Removed in the last hour, but not by the autoscaler. */
    | "nodes-removed"
    | "nodes-not-needed"
    /** Made by other tools, of no use, and never stopped by us. */
    | "nodes-not-ours"
    /** They call themselves unhealthy, and are not stopped. */
    | "nodes-unhealthy"
    /** Calls for them lacked their own token. */
    | "node-token"
    /** Live nodes carry a stop URL of a key that is missing from the app settings. */
    | "stop-key-missing"
    | "start-refused"
    /** CycleCloud lists nodes of it, but not the node array. */
    | "nodearray-missing"
    /** A message came from a sender whose clock was ahead. */
    | "revision-ahead"
    /** The app settings allow unprotected network traffic. */
    | "insecure"
    /** Demand that is too expensive to plan. */
    | "left-out"
    | "job-rejected"
    | "message-rejected";
  readonly text: string;
  /** Number of identical troubles. */
  readonly count: number;
}
