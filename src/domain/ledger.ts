import type { Purpose } from "./bucket.ts";
import type { ArrayName, Digest, MachineType, NodeId, PlacementGroup, RequestId, SetName } from "./ids.ts";
import type { Instant, Milliseconds, Seconds } from "./units.ts";
import type { Node } from "./cluster.ts";
import { plusSeconds } from "./units.ts";

/** The stored facts about each node. CycleCloud exposes no creation time and reuses names (architecture.md, The node ledger). */
export type Ledger = ReadonlyMap<NodeId, LedgerNode>;

/** The stored facts about one node. */
export interface LedgerNode {
  readonly nodeId: NodeId;
  /** As last observed. */
  readonly name: string;
  readonly array: ArrayName;
  readonly hostname?: string;
  readonly instanceId?: string;
  readonly requestId?: RequestId;
  /** When that request was planned. Absent: no request of ours made it, or an older release matched it. */
  readonly asked?: NodeAsked;
  readonly purpose: Purpose;
  /** Digest of the attributes that it was created with; the stored name is old. Absent: only those of its array, or unknown. */
  readonly look?: Digest;
  readonly firstSeenAt: Instant;
  /**
   * How many open create sets were older than this node's own when the node was first matched to it. Of nodes that were first observed
   * together, those with the lower number are used first. Absent: 0.
   */
  readonly askedAfter?: number;
  readonly firstReadyAt?: Instant;
  /** The first observation that showed it no longer up. Absent: it is Ready, never was Ready, failed, or is no longer wanted. */
  readonly leftReadyAt?: Instant;
  /** Since when it has been down. Absent: the last observation shows another status, or it never was Ready. */
  readonly down?: Down;
  /** When a plan last decided to end it because it was down. The bounds of such stops count these. Absent: none did. */
  readonly endedAt?: Instant;
  /** When another tool wanted it again after it had been stopped. Absent: none did since it was Ready. */
  readonly startedAgainAt?: Instant;
  /** The first of the last observations, without a gap, that do not show whether the node is wanted. Absent: the last one shows it. */
  readonly unclearSince?: Instant;
  readonly lastNeededAt?: Instant;
  /** The first plan that needed it. Absent: none did, or an older release noted it. */
  readonly firstNeeded?: FirstNeeded;
  readonly busyness: Busyness;
  readonly draining?: Draining;
  /** The key of its stop URL, from the create request, else from its Configuration. Absent: not known. */
  readonly keyId?: string;
  /** Absent: no call of the node has carried a token of its own yet. */
  readonly bound?: NodeBinding;
  /** Its clock, by its questions. Absent: none had a time. */
  readonly clock?: NodeClock;
  /**
   * Demands that recent plans placed here, of sets that do not report this host while another set does. Only a few are kept. Absent: none.
   */
  readonly plannedBeside?: readonly PlannedBeside[];
  /** The sets whose demand was put here when the node was first seen. Absent: there are no rules for senders, or it is not known. */
  readonly askedBy?: readonly SetName[];
  /** Other sets whose demand plans have put here since, without tasks that ran here already. Absent: none. */
  readonly plannedFor?: readonly SetName[];
  /** Foreign claims of jobs on it, one for each sender, by the first set of it that claimed (decide/senders/foreign-claims.ts). Absent: none. */
  readonly claims?: readonly { readonly set: SetName; readonly since: Instant }[];
  /** Deallocated in the last believed observation. */
  readonly deallocated?: true;
  /** Its time as a deallocated node. Absent: it is not deallocated. */
  readonly kept?: KeptOff;
  /** For how long it was deallocated before it was started again, all times together. Absent: it never was. */
  readonly offSeconds?: Seconds;
  /** Progress of its start. Absent: no start was requested since it was deallocated, or it never was deallocated. */
  readonly start?: NodeStart;
  /**
   * The first believed observation that lacked it. The entry is kept for an hour, so that a late question of the node is granted. It is
   * kept longer while a report gives the host resources, so that the host is not mistaken for one that was never ours.
   */
  readonly goneAt?: Instant;
  /** What it was in the last observation that showed it. Absent: it is not gone, or that observation is lost. */
  readonly was?: NodeMachine;
}

/** The plan that asked for a node. */
export interface NodeAsked {
  readonly at: Instant;
  /** Its number. Absent: an older release made the request. */
  readonly plan?: number;
}

/** The first plan that needed a node, and the first few request sets whose demand was put on it then. */
interface FirstNeeded {
  readonly at: Instant;
  readonly sets: readonly SetName[];
}

/** Where a node is and what its hour costs follow from this. */
export interface NodeMachine {
  /** Absent: CycleCloud did not say. */
  readonly machineType?: MachineType;
  readonly placementGroup?: PlacementGroup;
  readonly region?: string;
  readonly spot?: true;
}

/** A node that is deallocated (docs/nodes.md, Deallocated nodes). */
export interface KeptOff {
  /** The first of the observations without a gap that show it like this. */
  readonly since: Instant;
  /** Why we had it deallocated. Absent: another tool did. */
  readonly by?: Draining["by"];
}

/** A node that was Ready, is still wanted, and is shown as shut down or failed (docs/nodes.md, Nodes that are down). */
export interface Down {
  /** `off`: shown as Off or Terminated. `failed`: shown as Failed or Unavailable, so its VM may run. */
  readonly how: "off" | "failed";
  /** The first of the observations without a gap that show it like this. */
  readonly since: Instant;
  /** When its clock began again, because a wave ended. Absent: at `since`. */
  readonly clockFrom?: Instant;
  /** How many observations its clock has counted. It stops at {@link OBSERVATIONS_DOWN}. */
  readonly observations: number;
}

/** A node is down if at least this number of observations show it. */
export const OBSERVATIONS_DOWN = 3;

/** The proof that calls of a node must carry. It belongs to one VM: another VM of the same node begins without it. */
/** How far a node's clock is behind ours, by the times in its questions. */
export interface NodeClock {
  /** When the question arrived with which the next one is compared. */
  readonly arrivedAt: Instant;
  /** How much later than its own time that was. Negative: the node's clock is ahead. */
  readonly behindMs: Milliseconds;
  /** On this two questions agreed that arrived at least 30 s apart, or four if it is over 20 s above `leastMs`. Absent: none did yet. */
  readonly knownMs?: Milliseconds;
  /** The smallest difference so far, and none above 0 that four questions did not prove. Absent: `behindMs`, or 0 if that is less. */
  readonly leastMs?: Milliseconds;
  /** How many questions in a row say that it is behind. Absent: one at most. */
  readonly agreed?: number;
}

export interface NodeBinding {
  /** Digest of the token that the node chose (decide/autostop/stop-survey.ts). The token itself is never stored. */
  readonly token: Digest;
  readonly instanceId: string;
}

/** A demand of a request set, by its name in plans. */
export interface PlannedBeside {
  readonly set: SetName;
  readonly demand: string;
}

/** Whether jobs run on a node. Idle time does not run while the state is unknown. */
export interface Busyness {
  readonly state: "busy" | "idle" | "unknown";
  readonly since: Instant;
}

/**
 * The node is marked to be stopped. Committed before the node is observed once more, and before any terminate (architecture.md, Stopping).
 */
export interface Draining {
  readonly since: Instant;
  readonly by:
    | "callback"
    | "unhealthy"
    | "idle"
    | "boot-timeout"
    | "failed"
    | "stuck"
    | "down"
    /** It has been deallocated for its `deallocatedTimeout`. */
    | "deallocated-timeout"
    /** It is deallocated and holds quota that demand needs. */
    | "quota";
  /** The plan that marked it. */
  readonly plan: number;
  /** Number of terminate requests that CycleCloud has accepted for it. */
  readonly attempts: number;
  /** When the last of them was accepted. Absent: none was. */
  readonly sentAt?: Instant;
  /** CycleCloud was asked to deallocate it. Absent: none was accepted, or it was asked to terminate it. */
  readonly act?: "deallocate";
}

/** The start of a deallocated node. Committed with the intent, before the request is sent. */
export interface NodeStart {
  /**
   * - `unsure`: sent or about to be sent; the answer is not known.
   * - `accepted`: CycleCloud accepted it, and no observation has shown it yet.
   * - `shown`: an observation showed the node on its way up.
   * - `refused`: it was refused or had no effect. No new start before `until`.
   */
  readonly state: "unsure" | "accepted" | "shown" | "refused";
  /** When the start was requested or refused. The boot timeout counts from here. */
  readonly since: Instant;
  /** When an observation that shows the node on its way up had arrived. An observation that began earlier may show an older state. */
  readonly shownAt?: Instant;
  /** When the plan that wanted it was committed. Absent: at `since`. */
  readonly plannedAt?: Instant;
  /** No new start before this moment. Absent: it was not refused. */
  readonly until?: Instant;
  /** We had it deallocated before. Absent: another tool did. */
  readonly stopped?: true;
  /** Why the start was, or may have been, refused. Absent: there is no sign of a refusal. */
  readonly message?: string;
}

/** A node that was Ready for this long has lasted: its image does not power it off. */
export const LASTS_SECONDS: Seconds = 1800;

/** When the node had been Ready for long enough. Undefined if it has not. */
export function lastedAt(
  { phase }: Pick<Node, "phase">,
  { firstReadyAt, leftReadyAt }: Pick<LedgerNode, "firstReadyAt" | "leftReadyAt">,
  now: Instant,
): Instant | undefined {
  if (firstReadyAt === undefined) return undefined;
  const at = plusSeconds(firstReadyAt, LASTS_SECONDS);
  const until = phase === "ready" ? now : leftReadyAt;
  return until !== undefined && at <= until ? at : undefined;
}
