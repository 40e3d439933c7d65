import type { ConfigChange, ConfigVersion } from "../domain/config-version.ts";
import type { RequestedNode, Snapshot } from "../domain/cluster.ts";
import type { NodeAttributes, SchedulerNode, SetDemand } from "../domain/demand.ts";
import type { FinishedSet } from "../domain/finished-set.ts";
import type {
  ArrayName,
  ClusterName,
  Digest,
  Epoch,
  NodeId,
  Owner,
  RequestId,
  SetName,
} from "../domain/ids.ts";
import type { KeptPlan, KeptPlanRow } from "../domain/kept-plan.ts";
import type { Plan } from "../domain/plan.ts";
import type { Policy } from "../domain/policy.ts";
import type { MissingBodies } from "../domain/missing-bodies.ts";
import type { Questions } from "../domain/questions.ts";
import type { VirtualFleet } from "../domain/virtual-fleet.ts";
import type { Endpoint } from "../domain/calls.ts";
import type { Ledger } from "../domain/ledger.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { BucketKey } from "../domain/bucket.ts";
import type { GrantedSet } from "../domain/intent.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { Instant, Milliseconds, Seconds } from "../domain/units.ts";

/**
 * The ports that the use cases need. Adapters throw only {@link PortError}, and only app/ catches it. Expected outcomes (a conflict, a
 * refusal) are values. Every method of a port that returns a promise may throw "unreachable", "throttled", "denied" and "unexpected";
 * exceptions are given there.
 */
export type PortErrorKind =
  /** No answer: connection refused or cut, or timeout. The effect may have happened. */
  | "unreachable"
  /** 429 or 503: the server asks to wait. */
  | "throttled"
  /** 401 or 403: our credentials are refused. Certainly no effect. */
  | "denied"
  /** Any other unusable answer: 5xx, malformed, too large. The effect may have happened. */
  | "unexpected"
  /** A newer release wrote the record, so this release must not touch it. Only from a store. Certainly no effect. */
  | "newer-state";

export class PortError extends Error {
  readonly kind: PortErrorKind;
  /** The operation that failed: "GET /clusters/demo/status". Never contains a secret. */
  readonly operation: string;
  /** The HTTP status, if there was one. */
  readonly status: number | undefined;

  constructor(kind: PortErrorKind, operation: string, message: string, status?: number) {
    super(`${operation}: ${message}`);
    this.name = "PortError";
    this.kind = kind;
    this.operation = operation;
    this.status = status;
  }
}

/**
 * The clock of the product. In Azure the instance's clock, corrected to that of the storage service. Locally a scaled or virtual one.
 * Throws nothing.
 */
export interface Clock {
  /** Seconds of this clock per real second. Absent: 1, or the clock stands still until it is set. */
  readonly speed?: number;
  now(): Instant;
  /** Resolves after this many milliseconds of this clock, or as soon as `signal` aborts: a sleep without a waiting caller ends. */
  sleep(milliseconds: Milliseconds, signal?: AbortSignal): Promise<void>;
}

export interface Entropy {
  epoch(): Epoch;
  owner(): Owner;
  /** A number in [0, 1) for jitter. */
  fraction(): number;
}

/** An opaque version of a stored record, as one load or save saw it. */
export interface RecordVersion {
  readonly etag: string;
}

export interface LoadedRecord<V extends RecordVersion = RecordVersion> {
  readonly record: ClusterRecord;
  readonly version: V;
}

/** Parts of the bodies that a save replaces. An absent part stays as stored. */
export interface BodyChanges {
  /** Bodies of demands whose digest the stored record does not have yet. Other bodies named by the record are kept. */
  readonly demands?: ReadonlyMap<Digest, SetDemand>;
  readonly reports?: ReadonlyMap<Digest, readonly SchedulerNode[]>;
  readonly seen?: Snapshot;
  readonly ledger?: Ledger;
  readonly questions?: Questions;
  readonly plan?: Plan;
  readonly virtual?: VirtualFleet;
  readonly finished?: FinishedChange;
  /** Lost bodies that the record no longer names. */
  readonly forget?: Pick<MissingBodies, "seen" | "ledger" | "questions" | "plan">;
}

/** Sets that leave the record with this save and are remembered. */
export interface FinishedChange {
  readonly sets: ReadonlyMap<SetName, FinishedSet>;
  /** True for sets already there that are still to be remembered. */
  readonly isKept: (set: FinishedSet) => boolean;
}

/**
 * One record per cluster, with compare-and-set (architecture.md, Storage). A body that the record no longer names (a digest of no live set)
 * is garbage. `collect` removes it when it is older than an hour.
 */
export interface RecordStore<V extends RecordVersion = RecordVersion> {
  /**
   * The manifest alone. Undefined if there is no record yet. Also throws PortError "newer-state" if its state version is newer than ours.
   */
  load(cluster: ClusterName): Promise<LoadedRecord<V> | undefined>;
  /** The remembered parts of those of the sets that have left the record. Reads only the bodies in which they would be. */
  finished(loaded: LoadedRecord<V>, sets: readonly SetName[]): Promise<ReadonlyMap<SetName, FinishedSet>>;
  /** The bodies of a loaded record. Undefined if one is missing because the record has changed: load again. */
  bodies(loaded: LoadedRecord<V>): Promise<Bodies | undefined>;
  /** The bodies of a loaded record that storage lacks, whatever this process has cached. Undefined if none is missing. */
  missing(loaded: LoadedRecord<V>): Promise<MissingBodies | undefined>;
  /**
   * Writes the bodies that a save with the same arguments would write, and nothing else, so that this save finds them written. Also useful
   * for a save of a different record, whatever was saved meanwhile. May take seconds, and needs no turn.
   */
  stage(record: ClusterRecord, changes: BodyChanges, previous: LoadedRecord<V> | undefined): Promise<void>;
  /**
   * Saves if the stored version is still `previous` (undefined: if there is none). Writes bodies first, then the manifest. `if-staged`: if
   * bodies of a plan would have to be written first, saves nothing, and the caller must stage them.
   */
  save(
    record: ClusterRecord,
    changes: BodyChanges,
    previous: LoadedRecord<V> | undefined,
    how?: "write" | "if-staged",
  ): Promise<Saved<V>>;
  /**
   * Removes unreferenced bodies written over an hour before `now`, in transactions that include the cluster row, for at most about 20 s.
   * `begin` (the default) starts or continues a pass over all bodies. `go-on` only continues one, and costs nothing without one. Returns
   * the number of rows removed.
   */
  collect(cluster: ClusterName, now: Instant, how?: "begin" | "go-on"): Promise<number>;
}

export type Saved<V extends RecordVersion = RecordVersion> =
  | { readonly kind: "saved"; readonly loaded: LoadedRecord<V> }
  /** Nothing was saved: the stored version is another one. With `unstaged`: bodies must be staged first. */
  | { readonly kind: "conflict"; readonly unstaged?: true };

/** One row of history: the cluster's counts at a tick. */
export interface HistoryRow {
  readonly at: Instant;
  readonly plan: number;
  readonly nodes: Readonly<Record<string, number>>;
  readonly inFlight: number;
  readonly liveSets: number;
  /** Nodes created and stopped since the record was created. The difference of two rows is the number between them. */
  readonly created: number;
  readonly terminated: number;
  /** Deallocated nodes that were started. Absent: none. */
  readonly started?: number;
  /** Demands of the last plan that are not completely placed. */
  readonly unmet: number;
  /** The last plan only showed what it would do. Absent: it acted, or an older release wrote the row. */
  readonly mode?: "observe";
  /** What the last plan would create, start and stop in observed node arrays, in nodes. */
  readonly withheld?: { readonly create: number; readonly start: number; readonly stop: number };
  readonly trouble?: string;
  /** Ready nodes that no demand needs and that are not known to be busy. Absent: an older release wrote the row. */
  readonly idle?: number;
  /** Hourly price of all nodes, and of the idle ones. Absent: there were no prices. */
  readonly pricePerHour?: number;
  readonly idlePricePerHour?: number;
  readonly currency?: string;
  /** Nodes whose price was unknown. Absent: none. */
  readonly unpricedNodes?: number;
  /** Duration of a call in seconds, for each endpoint of CycleCloud that takes a second or more. Absent: none does. */
  readonly callSeconds?: Readonly<Partial<Record<Endpoint, number>>>;
}

/** Counts per cluster and tick, kept 30 days. */
export interface History {
  /** A row with the same moment is replaced. */
  append(cluster: ClusterName, row: HistoryRow): Promise<void>;
  /** Newest first, at most `limit`. */
  read(cluster: ClusterName, from: Instant, to: Instant, limit: number): Promise<readonly HistoryRow[]>;
  /** Removes rows before `before`, at most a few hundred per call. Returns their number. */
  prune(cluster: ClusterName, before: Instant): Promise<number>;
}

/** Plans that changed something. They can be explained while they are kept. */
export interface PlanArchive {
  /** Replaces a plan with the same number. A plan that is too large for a row is kept in part: see {@link lesserPlans}. */
  keep(cluster: ClusterName, kept: KeptPlan): Promise<void>;
  /** Undefined if the plan changed nothing, or is no longer kept. */
  read(cluster: ClusterName, number: number): Promise<KeptPlan | undefined>;
  /** Kept plans with numbers from `from` to `to`, ascending, the first `limit`. */
  list(cluster: ClusterName, from: number, to: number, limit: number): Promise<readonly KeptPlanRow[]>;
  /** Removes plans made before `before`, at most a few hundred per call. Returns their number. */
  prune(cluster: ClusterName, before: Instant): Promise<number>;
}

/** The compressed size of a document, and its limit. */
export interface DocumentTooLarge {
  readonly kind: "too-large";
  readonly bytes: number;
  readonly limit: number;
}

/** Small documents beside the records: the configuration of each cluster. */
export interface Documents {
  read(cluster: ClusterName): Promise<{ readonly text: string; readonly etag: string } | undefined>;
  /** `too-large`: more than the store keeps in one document; nothing is changed. `change` is recorded together with the document. */
  write(
    cluster: ClusterName,
    text: string,
    etag: string | undefined,
    change?: ConfigChange,
  ): Promise<"saved" | "conflict" | DocumentTooLarge>;
  /** The versions of the document, newest first, including the one in force. Bounded. */
  versions(cluster: ClusterName): Promise<readonly ConfigVersion[]>;
}

/** A wake message that was requested with an id, and when it came through the queue. */
export interface WakeSeen {
  readonly id: string;
  readonly at: Instant;
}

/**
 * When the triggers last ran, shared by all instances: Azure gives each trigger its own instances, so one process does not know of the
 * others. Proves that the platform calls us, whatever the call found to do.
 */
export interface TriggerLog {
  noteTimer(at: Instant): Promise<void>;
  /** Replaces the last one of the cluster. */
  noteWake(cluster: ClusterName, wake: WakeSeen): Promise<void>;
  /** Undefined if the timer has never run. */
  timerAt(): Promise<Instant | undefined>;
  /** Undefined if no wake message with an id has come through. */
  lastWake(cluster: ClusterName): Promise<WakeSeen | undefined>;
}

/** When credentials were last refused, shared by all instances. Five failures within a minute lock a CycleCloud account (wire B). */
export interface CredentialBreaker {
  refusedAt(credential: string): Promise<Instant | undefined>;
  note(credential: string, at: Instant): Promise<void>;
  clear(credential: string): Promise<void>;
}

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

/** One CycleCloud server as one cluster sees it (cyclecloud-wire.md A). Reads may be retried inside, changes never are. */
export interface CycleCloud {
  /** One call: status with nodes, so that both are of one moment. `at` of the snapshot is `now`. */
  status(cluster: ClusterName, now: Instant): Promise<StatusOutcome>;
  /** Nodes of a request that still exist. Undefined if CycleCloud does not know the request. */
  nodesOfRequest(cluster: ClusterName, id: RequestId): Promise<readonly RequestedNode[] | undefined>;
  /** Whether CycleCloud knows the request id. Documented for creates only (cyclecloud-wire.md A.9). */
  knowsRequest(cluster: ClusterName, id: RequestId): Promise<boolean>;
  create(cluster: ClusterName, request: CreateRequest): Promise<CreateOutcome>;
  /** Starts deallocated nodes, by their ids. */
  start(cluster: ClusterName, id: RequestId, nodes: readonly NodeId[]): Promise<ManagementOutcome>;
  terminate(cluster: ClusterName, id: RequestId, nodes: readonly NodeId[]): Promise<ManagementOutcome>;
}

/** The demand queue from our side: wake messages, and messages that were put aside. */
export interface DemandQueue {
  /**
   * Sends a message that only asks for a reconcile of the cluster, not before `at`. The app notes when one with an `id` comes through. The
   * id of a {@link WakeId} belongs to the loop: such a message is a tick if the record waits for it.
   */
  wake(cluster: ClusterName, at: Instant, id?: string): Promise<void>;
  /** Puts a message aside in `demand-rejected`. */
  reject(message: RejectedMessage): Promise<void>;
  /** The messages in `demand-rejected`: their number, and the oldest few. */
  rejected(): Promise<{ readonly count: number; readonly oldest: readonly RejectedMessage[] }>;
  /** The state of `demand-poison`, where the host puts messages that failed too often. */
  poison(): Promise<PoisonQueue>;
  /**
   * Up to `most` messages of `demand-poison`, oldest first. No other caller gets them for two minutes. After that, messages that are left
   * appear again.
   */
  takePoison(most: number): Promise<readonly PoisonMessage[]>;
  /** Removes a message of `demand-poison` that was taken. No error if it is gone. */
  dropPoison(message: PoisonMessage): Promise<void>;
  /** Puts a text back into the demand queue: a poison message to try once more, or one that a newer release wrote. */
  resend(text: string, delaySeconds: Seconds): Promise<void>;
}

export interface PoisonQueue {
  /** Approximate number of messages, including those in work. */
  readonly count: number;
  /** When the oldest message that is not in work was put there, to the second. Absent: there is none. */
  readonly oldestAt?: Instant;
}

export interface PoisonMessage {
  /** The id of the host's copy. */
  readonly messageId: string;
  readonly text: string;
  /** How often it was taken, including this time. */
  readonly taken: number;
  /** The queue requires this to remove the message. */
  readonly receipt: string;
}

export interface RejectedMessage {
  readonly messageId: string;
  readonly rejectedAt: Instant;
  readonly cluster?: string;
  readonly set?: string;
  readonly problems: readonly {
    readonly path: string;
    readonly found: string;
    readonly expected: string;
    readonly didYouMean?: string;
  }[];
  /** The message as received, cut so that the total stays below the queue's 64 KiB. */
  readonly text: string;
}

/** Structured log: an event name and fields. Never sentences, never secrets. */
export interface Log {
  (event: string, fields: Readonly<Record<string, unknown>>): void;
}

/** A cluster of the registry with its own CycleCloud. */
export interface Site {
  readonly cluster: ClusterName;
  readonly cyclecloud: CycleCloud;
  /** Names the account for the credential breaker: server and user, no secret. */
  readonly credential: string;
  /** Absent: unknown, as in a first check without an app. */
  readonly stopKeys?: StopKeys;
}

/** The key ids of stop URLs in the app settings. */
export interface StopKeys {
  /** The key that signs the stop URLs of this process's creates. Absent: creates carry none. */
  readonly signing?: string;
  /** Calls with a stop URL of one of these keys are answered. */
  readonly accepted: readonly string[];
}

export interface Ports {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly store: RecordStore;
  readonly history: History;
  readonly plans: PlanArchive;
  readonly documents: Documents;
  readonly breaker: CredentialBreaker;
  readonly triggers: TriggerLog;
  readonly queue: DemandQueue;
  readonly sites: ReadonlyMap<ClusterName, Site>;
  readonly log: Log;
  /** The checked configuration of the cluster, with defaults. At most a few seconds old. */
  readonly policyOf: (cluster: ClusterName) => Promise<Policy>;
}
