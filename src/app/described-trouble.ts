/** Something that an operator may have to do something about. */
export interface DescribedTrouble {
  readonly kind:
    | "health"
    | "backing-off"
    | "node-failed"
    | "node-down"
    /** CycleCloud lists it no more; it counts as there for a while. */
    | "node-missing"
    /** CycleCloud has not said for the whole boot timeout whether it is wanted. */
    | "node-unclear"
    /** Removed in the last hour, and not by us. */
    | "nodes-removed"
    | "nodes-not-needed"
    /** Made by other tools, of no use, and never stopped by us. */
    | "nodes-not-ours"
    /** They call themselves unhealthy, and are not stopped. */
    | "nodes-unhealthy"
    /** Calls for them did not carry the token of their own. */
    | "node-token"
    /** Live nodes carry a stop URL of a key that the app settings do not have. */
    | "stop-key-missing"
    | "start-refused"
    /** CycleCloud lists nodes of it, but not the node array. */
    | "nodearray-missing"
    /** A message came from a sender whose clock was ahead. */
    | "revision-ahead"
    /** The app settings let something go over the network unprotected. */
    | "insecure"
    /** Demand that costs too much to be planned. */
    | "left-out"
    | "job-rejected"
    | "message-rejected";
  readonly text: string;
  /** So many alike. */
  readonly count: number;
}
