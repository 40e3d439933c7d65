import type { BucketKey, Purpose } from "./bucket.ts";
import type { DynamicArray } from "./dynamic-array.ts";
import type {
  ArrayName,
  ClusterName,
  Digest,
  Epoch,
  ProcessId,
  SetName,
  WakeId,
  NodeId,
  RequestId,
} from "./ids.ts";
import type { CreateKind, Intent } from "./intent.ts";
import type { Bytes } from "./units.ts";
import type { Held, PoolOwners, SetEntry } from "./request-sets.ts";
import type { Lost, Outage, Rejection, ReconcileFailure } from "./troubles.ts";
import type { HeldNames } from "./held-names.ts";
import type { Instant, Seconds } from "./units.ts";
import type { Unneeded } from "./unneeded.ts";
import type { RequestedNode, Snapshot } from "./cluster.ts";

/**
 * Version of the stored form. A function that finds another one does not touch the record. From 0.1.0 on each release reads what the release
 * before it wrote, and writes what that one reads (docs/operations.md, Upgrade and rollback).
 */
export const STATE_VERSION = 2;

/**
 * The manifest of a cluster: all small parts, saved under one ETag. A save under this ETag is the linearisation point of the protocol
 * (architecture.md, Storage). The large parts are {@link Bodies}.
 */
export interface ClusterRecord extends Held {
  readonly cluster: ClusterName;
  /** Random. Written when the record is created or restored. */
  readonly epoch: Epoch;
  /** When this epoch began. */
  readonly epochAt: Instant;
  /**
   * If the first observation of this epoch shows nodes, creates wait until this moment. An earlier state of the record may have sent
   * creates whose nodes CycleCloud does not show yet. Absent: creates need not wait.
   */
  readonly createsFrom?: Instant;
  /** Number of committed decisions: reconciles and autostop grants. */
  readonly plan: number;
  /** Counts changes of demand. A renewal without a change does not count. */
  readonly generation: number;
  /** The generation that the last plan took into account. */
  readonly observedGeneration: number;
  readonly intents: readonly Intent[];
  readonly inFlight: readonly InFlight[];
  readonly backoffs: readonly Backoff[];
  /** Kinds of nodes that get a create request of their own until CycleCloud has accepted it once. Absent: none. */
  readonly alone?: readonly CreateKind[];
  /** When the last observation of CycleCloud began. */
  readonly lookedAt?: Instant;
  /** How soon the next observation may begin. Absent: there was none yet. */
  readonly looks?: ObservationTokens;
  /** Absent: none has, or there are no rules of senders. */
  readonly changed?: ChangedDemand;
  /** A plan waits to be saved. Before this moment no instance begins a mark or a grant, or changes the configuration. Absent: no plan waits. */
  readonly planBy?: Instant;
  /** The plan before was not saved in the usual time: `planBy` is of the longer one. */
  readonly planSlow?: true;
  /** The configuration of the last plan. Absent: none was made. */
  readonly plannedUnder?: Digest;
  /** Endpoints of CycleCloud that are slow or failing. An endpoint that answers within a second is not listed. Absent: none. */
  readonly calls?: Calls;
  /**
   * CycleCloud stood still. By this moment it has done what it held, and shows it. What began earlier proves nothing by what it lacks.
   * Absent: it never did.
   */
  readonly provesFrom?: Instant;
  /** When the wake message that is under way arrives. */
  readonly wakeAt?: Instant;
  /** The reason for the wake message. `demand` needs no observation once a plan has used the generation; `follow-up` always needs one. */
  readonly wakeFor?: "demand" | "follow-up";
  /** When the next tick is due. Absent: now. */
  readonly nextTickAt?: Instant;
  /**
   * No observation is needed before this moment, because at the last plan the cluster was stopped, or empty and without demand. Absent: one
   * each minute.
   */
  readonly restsUntil?: Instant;
  /** The wake message that ticks if the timer does not. Other wake messages with an id are ignored. Absent: none is under way. */
  readonly pendingWake?: PendingWake;
  /** When the current run of observations began in which most records lack TargetState. Absent: the last observation was not like that. */
  readonly targetStatesLackedSince?: Instant;
  /** When the last believed observation began. Absent: there was none yet. */
  readonly lastGoodLookAt?: Instant;
  /** The outage of the autoscaler for which scale-down pauses. Absent: scale-down does not pause. */
  readonly outage?: Outage;
  /** Why the last observation or plan failed. Absent: it succeeded. */
  readonly trouble?: ReconcileFailure;
  /** The last few messages that could not be read, newest last. */
  readonly rejections: readonly Rejection[];
  /**
   * A node that is marked as idle waits for the next report of its scheduler. Every message then triggers an observation at once, because
   * a report is good for a short time only.
   */
  readonly awaitsReport?: boolean;
  readonly totals: Totals;
  /** Groups that lack nodes. Absent: none. */
  readonly groupFills?: readonly GroupFill[];
  /** Dynamic node arrays that exist, by name. Absent: none. */
  readonly dynamicArrays?: readonly DynamicArray[];
  /** What is remembered of names that targets ask for. Absent: no target does. */
  readonly names?: readonly HeldNames[];
  /** Names of create requests without effect, which go in smaller requests. Absent: none. */
  readonly narrowed?: readonly NarrowedNames[];
  /** The set that owns each pool. Absent: no pool is owned. */
  readonly poolOwners?: PoolOwners;
  /** Unneeded nodes at the last plan. Absent: none. */
  readonly unneeded?: Unneeded;
  /** Nodes that were stopped in the last hour because they reported themselves unhealthy. Absent: none. */
  readonly unhealthyStops?: readonly UnhealthyStops[];
  /** Waves of nodes that are down. Absent: none. */
  readonly waves?: readonly Wave[];
  /** Orders of operators to end nodes that were down at that moment. Absent: none in force. */
  readonly endDown?: readonly EndDown[];
  /** Buckets whose nodes went down soon after they were Ready. Absent: none. */
  readonly shortLives?: readonly ShortLives[];
  /** Live nodes of ours at the last plan, counted by the key of their stop URL. Absent: no node's key is known. */
  readonly stopKeys?: readonly StopKeyUse[];
  /** Demand that cost a plan more than it may spend. Absent: none. */
  readonly dear?: DearDemand;
  /** The heaps that planned this cluster, each size once, with the last time. Absent: no plan was made. */
  readonly heaps?: readonly { readonly bytes: Bytes; readonly at: Instant }[];
  /** Processes that observe this cluster and plan. Absent: none. */
  readonly planning?: readonly Planning[];
  /** Processes that died over a plan of this record, in a row, and when the last of them was noticed. Absent: none. */
  readonly deaths?: { readonly count: number; readonly at: Instant };
  /** Stored bodies that the last loads did not find, each with the moment when it was first missed. Absent: none. */
  readonly missing?: readonly { readonly body: string; readonly since: Instant }[];
  /** The last time that storage lost bodies of this record. Absent: never. */
  readonly lost?: Lost;
}

/** Names of one create request that was refused, or had no effect. */
export interface NarrowedNames {
  /** As a host list. */
  readonly names: string;
  /** At most this many of them go in one request. */
  readonly together: number;
}

/** Demand that made a plan take long, and until when no plan spends much on it. */
export interface DearDemand {
  /** Sets of which a plan left something out because it cost too much. */
  readonly sets: readonly SetName[];
  /** A set of each sender that spent most of the steps of a plan: all sets of these senders rest. Absent: none did. */
  readonly allOf?: readonly SetName[];
  /** When the rest began. */
  readonly since: Instant;
  readonly until: Instant;
}

/** A process that has begun an observation, and has not ended it. */
export interface Planning {
  readonly process: ProcessId;
  readonly at: Instant;
  /** The plan is one without the sets that came last. Absent: with all sets. */
  readonly some?: true;
}

/** A wake message of the loop that is under way. */
export interface PendingWake {
  readonly id: WakeId;
  /** The earliest time of its arrival. */
  readonly at: Instant;
}

/** Stops of one array that were granted within a few minutes. So an hour has few entries, even if many nodes stop. */
export interface UnhealthyStops {
  readonly array: ArrayName;
  /** When the last of them was granted. */
  readonly at: Instant;
  readonly count: number;
}

/** Many nodes are down at once, so each of them waits longer (docs/protocol.md, Nodes that are down). */
export interface Wave {
  /** Absent: all node arrays together. */
  readonly array?: ArrayName;
  readonly since: Instant;
  /** Since when few enough are down. Absent: still too many. */
  readonly calmSince?: Instant;
}

/** An operator's order to end the nodes of an array that were down at `at`. */
export interface EndDown {
  readonly array: ArrayName;
  readonly at: Instant;
  readonly until: Instant;
}

/** Nodes of one bucket that went down soon after they were Ready, one after the other. */
export interface ShortLives {
  readonly bucket: BucketKey;
  /** Absent: nodes of no dynamic array. */
  readonly dynamic?: ArrayName;
  /** When the first of them went down. */
  readonly since: Instant;
  readonly count: number;
}

/** Live nodes of ours whose stop URL has the same key. */
export interface StopKeyUse {
  /** Absent: not known. The answer to their create was lost, or there was no stop URL. */
  readonly keyId?: string;
  readonly nodes: number;
}

/** Numbers of nodes created, stopped and started since the record was created. */
interface Totals {
  readonly created: number;
  readonly terminated: number;
  /** Deallocated nodes that were started. Absent: none. */
  readonly started?: number;
}

/** A pause of a bucket that refused a request, granted too few nodes, or whose nodes failed. No request goes to it before `until`. */
export interface Backoff {
  readonly bucket: BucketKey;
  /**
   * Only nodes of this dynamic array wait: a refusal or failed boot of its nodes says little about others. Absent: all nodes of the bucket
   * wait.
   */
  readonly dynamic?: ArrayName;
  readonly until: Instant;
  /** Length of this pause. The next refusal doubles it. */
  readonly seconds: Seconds;
  readonly cause: "refused" | "fell-short" | "boot-failed" | "unhealthy" | "went-down";
  readonly message: string;
}

/** The kinds of calls to CycleCloud. Each may be slow or fail independently of the others. `nodes` lists the nodes of one create request. */
export type Endpoint = "status" | "nodes" | "operations" | "create" | "start" | "terminate";

/** The recent speed and failures of CycleCloud's endpoints. An endpoint that answers within a second is not listed. */
export type Calls = Readonly<Partial<Record<Endpoint, EndpointCalls>>>;

/** The recent speed and failures of one endpoint. */
export interface EndpointCalls {
  /** Expected duration of a call. A slower call sets it. A quicker one sets the mean of both. */
  readonly seconds: Seconds;
  /** When the last call ended. */
  readonly at: Instant;
  /** How long the last nine answers took, oldest first. An answer of a second or less before the first listed one is not known. Absent: none. */
  readonly answers?: readonly Seconds[];
  /** Absent: the last call succeeded. */
  readonly failure?: { readonly since: Instant; readonly message: string };
}

/** The token bucket of observations at the moment `at`, which equals `lookedAt` (decide/pace/observation-times.ts). */
export interface ObservationTokens {
  readonly tokens: number;
  readonly at: Instant;
  /** The observations under way, each as the moment when it began, oldest first. Absent: none is under way. */
  readonly underWay?: readonly Instant[];
  /** A set of the sender whose changed demand the last observation was for. Absent: there was none, or there are no rules of senders. */
  readonly servedLast?: SetName;
}

/** Demand that has changed since the last observation began. */
interface ChangedDemand {
  /** A set whose demand it is: of a sender that the last observation was not for, if there is one. */
  readonly set: SetName;
  readonly isOfAnother: boolean;
}

/**
 * The last message of each part of a request set that has lapsed or was deleted, and that has left the record. A later message of the set
 * must not be older.
 */
export interface FinishedSet {
  readonly demand?: FinishedPart;
  /** The report that came without demand, as in the record. */
  readonly report?: FinishedPart;
  readonly pools?: FinishedPart;
}

/** The last message of one part of a finished set. */
export type FinishedPart = Pick<SetEntry, "revision" | "intervalSeconds" | "acceptedAt" | "expiresAt">;

/**
 * A group that a demand needs and that lacks nodes. Only plans change it. It is stored because the ledger does not say two things: since
 * when nodes are lacking (the ages of the nodes do not show that one of a complete group was lost), and whether the group was given up.
 */
export interface GroupFill {
  readonly bucket: BucketKey;
  /** The array with the group size, as "execute:16n". */
  readonly key: string;
  /** When a plan first found nodes lacking. The entry is removed once all nodes are up. */
  readonly since: Instant;
  /**
   * When the group was given up because it was not complete in time. Its nodes belong to no group until a plan tries its bucket again.
   * Absent: not given up.
   */
  readonly givenUpAt?: Instant;
}

/**
 * One set of a create request that CycleCloud accepted. Its nodes are in flight until an observation shows them: see {@link stillInFlight}.
 */
export interface InFlight {
  readonly requestId: RequestId;
  readonly bucket: BucketKey;
  readonly purpose: Purpose;
  /** Digest of the attributes that were sent; the stored name is old. Absent: none. */
  readonly look?: Digest;
  /** The key of the stop URL that was sent. Absent: none was sent, or its key is not known. */
  readonly keyId?: string;
  /** Whether these attributes make them spot nodes. Absent: they do not. */
  readonly spot?: boolean;
  readonly added: number;
  /** The answer was lost. `added` is the number requested, and CycleCloud may have granted less. Absent: `added` comes from the answer. */
  readonly unconfirmed?: ListGrowth;
  /** All nodes of this set that an observation has shown, also those that are gone. */
  readonly seen: readonly NodeId[];
  readonly since: Instant;
  /** When the plan that wanted it was committed. Absent: at `since`. */
  readonly plannedAt?: Instant;
  /** The number of that plan. Absent: an older release made the request. */
  readonly plan?: number;
  /**
   * When it last was given nodes without the list of the request's nodes. Until a list that was asked for later is read, the request stays, because
   * only the list shows that its nodes are ours. Absent: none, or it was read.
   */
  readonly presumedAt?: Instant;
}

/** Growth of the list of a request's nodes, over all of its sets. */
interface ListGrowth {
  /** The largest number of nodes listed so far. */
  readonly listed: number;
  /** When the list that first had this number was asked for. */
  readonly since: Instant;
}

/** Number of nodes of an in-flight set that no observation has shown yet. */
export function stillInFlight(entry: InFlight): number {
  return Math.max(0, entry.added - entry.seen.length);
}

/** The contents of bodies that storage does not have. */
export interface MissingBodies {
  readonly ids: readonly string[];
  readonly seen: boolean;
  readonly ledger: boolean;
  readonly questions: boolean;
  readonly plan: boolean;
  /** Demands and reports. */
  readonly digests: ReadonlySet<Digest>;
}

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
