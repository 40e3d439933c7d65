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
import type { Endpoint, Ledger } from "../domain/record.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { BucketKey } from "../domain/bucket.ts";
import type { ClusterRecord, GrantedSet } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";

/**
 * What the use cases need of the world. Adapters throw {@link PortError} and nothing else; only app/ catches it. Expected outcomes
 * (a conflict, a refusal) are values.
 */
export type PortErrorKind =
  /** No answer: connection refused or cut, timeout. The effect may have happened. */
  | "unreachable"
  /** 429 or 503: asked to wait. */
  | "throttled"
  /** 401 or 403: our credentials are not accepted. Certainly no effect. */
  | "denied"
  /** Any other answer that makes no sense: 5xx, malformed, too large. The effect may have happened. */
  | "unexpected"
  /** A newer release has written the record: this one must leave it alone. Only a store says so. Certainly no effect. */
  | "newer-state";

export class PortError extends Error {
  readonly kind: PortErrorKind;
  /** What was being done: "GET /clusters/demo/status". Never holds a secret. */
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

/** The one clock. In Azure the instance's clock corrected to the storage service's; locally a scaled or virtual one. */
export interface Clock {
  /** How many of its seconds pass in a real one; absent: 1, or it stands still until it is set. */
  readonly speed?: number;
  now(): Instant;
  /** Resolves after so many milliseconds of this clock, or as soon as `signal` aborts: a sleep that nobody waits for any more is ended. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
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

/** Parts of the bodies that a save replaces; what is absent stays as stored. */
export interface BodyChanges {
  /** Bodies of demands whose digest the stored record does not hold yet. Others named by the record are kept. */
  readonly demands?: ReadonlyMap<Digest, SetDemand>;
  readonly reports?: ReadonlyMap<Digest, readonly SchedulerNode[]>;
  readonly seen?: Snapshot;
  readonly ledger?: Ledger;
  readonly questions?: Questions;
  readonly plan?: Plan;
  readonly virtual?: VirtualFleet;
  readonly finished?: FinishedChange;
  /** Bodies that the record names no more, as they are lost. */
  readonly forget?: Pick<MissingBodies, "seen" | "ledger" | "questions" | "plan">;
}

/** Sets that leave the record with this save and are remembered. */
export interface FinishedChange {
  readonly sets: ReadonlyMap<SetName, FinishedSet>;
  /** Of those there already, which are still to be remembered. */
  readonly isKept: (set: FinishedSet) => boolean;
}

/**
 * One record per cluster, compare-and-set (architecture.md, Storage). A body that the record no longer names (a digest that no live
 * set has) is garbage; `collect` removes it when it is older than an hour.
 */
export interface RecordStore<V extends RecordVersion = RecordVersion> {
  /** The manifest alone; undefined: no such record yet. Throws PortError kind "newer-state" if its state version is newer than ours. */
  load(cluster: ClusterName): Promise<LoadedRecord<V> | undefined>;
  /** What is remembered of those of the sets that have left the record. Reads only the bodies in which they would be. */
  finished(loaded: LoadedRecord<V>, sets: readonly SetName[]): Promise<ReadonlyMap<SetName, FinishedSet>>;
  /** The bodies of a loaded record; undefined: one is missing because the record has moved on, load again. */
  bodies(loaded: LoadedRecord<V>): Promise<Bodies | undefined>;
  /** Which of the bodies of a loaded record are not in storage, whatever this process remembers of them; undefined: none is missing. */
  missing(loaded: LoadedRecord<V>): Promise<MissingBodies | undefined>;
  /**
   * Writes the bodies that a save of the same would write, and nothing else, so that such a save finds them written; also one whose record
   * differs, and whatever was saved meanwhile. It may take seconds, and needs no turn.
   */
  stage(record: ClusterRecord, changes: BodyChanges, previous: LoadedRecord<V> | undefined): Promise<void>;
  /**
   * Saves if the stored version is still `previous` (undefined: if there is none). Writes bodies first, then the manifest. `if-staged`:
   * where bodies of a plan would have to be written first, nothing is done, and they are to be staged.
   */
  save(
    record: ClusterRecord,
    changes: BodyChanges,
    previous: LoadedRecord<V> | undefined,
    how?: "write" | "if-staged",
  ): Promise<Saved<V>>;
  /**
   * Removes unreferenced bodies written over an hour before `now`, in transactions that include the cluster row; for about 20 s at most.
   * `begin` (the default) starts a pass over all bodies, or goes on with one; `go-on` costs nothing where no pass is unfinished. Returns
   * how many rows were removed.
   */
  collect(cluster: ClusterName, now: Instant, how?: "begin" | "go-on"): Promise<number>;
}

export type Saved<V extends RecordVersion = RecordVersion> =
  | { readonly kind: "saved"; readonly loaded: LoadedRecord<V> }
  /** Nothing is saved: the stored version is another one; or, with `unstaged`, bodies are to be staged first. */
  | { readonly kind: "conflict"; readonly unstaged?: true };

/** One row of history: the cluster's counts at a tick. */
export interface HistoryRow {
  readonly at: Instant;
  readonly plan: number;
  readonly nodes: Readonly<Record<string, number>>;
  readonly inFlight: number;
  readonly liveSets: number;
  /** Nodes asked for and nodes stopped since the record was born: the difference of two rows is what came between them. */
  readonly created: number;
  readonly terminated: number;
  /** Deallocated nodes started; absent: none. */
  readonly started?: number;
  /** Demands of the last plan that are not wholly placed. */
  readonly unmet: number;
  /** The last plan only showed what it would do; absent: it acted, or an older release wrote the row. */
  readonly mode?: "observe";
  /** Nodes of the last plan in observed node arrays: what it would create, start and stop. */
  readonly withheld?: { readonly create: number; readonly start: number; readonly stop: number };
  readonly trouble?: string;
  /** Ready nodes that nothing needs and that nobody calls busy; absent: an older release wrote the row. */
  readonly idle?: number;
  /** What all nodes cost an hour, and what the idle ones do; absent: there were no prices. */
  readonly pricePerHour?: number;
  readonly idlePricePerHour?: number;
  readonly currency?: string;
  /** Nodes whose price was not known; absent: none. */
  readonly unpricedNodes?: number;
  /** Seconds that a call takes, of each endpoint of CycleCloud that takes a second or more; absent: none does. */
  readonly callSeconds?: Readonly<Partial<Record<Endpoint, number>>>;
}

/** Counts per cluster and tick, kept 30 days. */
export interface History {
  /** Appending the same moment again replaces it. */
  append(cluster: ClusterName, row: HistoryRow): Promise<void>;
  /** Newest first, at most `limit`. */
  read(cluster: ClusterName, from: Instant, to: Instant, limit: number): Promise<readonly HistoryRow[]>;
  /** Removes rows before `before`; at most a few hundred a call. Returns how many. */
  prune(cluster: ClusterName, before: Instant): Promise<number>;
}

/** Plans that changed something, so that they can be explained while they are kept. */
export interface PlanArchive {
  /** A plan of the same number is replaced. What is too large for a row is kept in part: see {@link lesserPlans}. */
  keep(cluster: ClusterName, kept: KeptPlan): Promise<void>;
  /** Undefined: it changed nothing, or is not kept any more. */
  read(cluster: ClusterName, number: number): Promise<KeptPlan | undefined>;
  /** Kept plans by number from `from` to `to`, upwards, the first `limit`. */
  list(cluster: ClusterName, from: number, to: number, limit: number): Promise<readonly KeptPlanRow[]>;
  /** Removes plans made before `before`; at most a few hundred a call. Returns how many. */
  prune(cluster: ClusterName, before: Instant): Promise<number>;
}

/** What a document takes compressed, and what it may take at most. */
export interface DocumentTooLarge {
  readonly kind: "too-large";
  readonly bytes: number;
  readonly limit: number;
}

/** Small documents beside the records: a cluster's configuration. */
export interface Documents {
  read(cluster: ClusterName): Promise<{ readonly text: string; readonly etag: string } | undefined>;
  /** `too-large`: more than the store keeps in one document; nothing is changed. `change`: what is recorded of it, with the document. */
  write(
    cluster: ClusterName,
    text: string,
    etag: string | undefined,
    change?: ConfigChange,
  ): Promise<"saved" | "conflict" | DocumentTooLarge>;
  /** The states that the document had, newest first, the one in force among them; bounded. */
  versions(cluster: ClusterName): Promise<readonly ConfigVersion[]>;
}

/** A wake message that was asked for by its id, and when it came through the queue. */
export interface WakeSeen {
  readonly id: string;
  readonly at: Instant;
}

/**
 * When the triggers last ran, shared by all instances: Azure gives each trigger instances of its own, so that no process can tell of
 * another's. It proves that the platform calls us, whatever the call found to do.
 */
export interface TriggerLog {
  noteTimer(at: Instant): Promise<void>;
  /** Replaces the last one of the cluster. */
  noteWake(cluster: ClusterName, wake: WakeSeen): Promise<void>;
  /** Undefined: the timer has never run. */
  timerAt(): Promise<Instant | undefined>;
  /** Undefined: no wake message with an id has come through. */
  lastWake(cluster: ClusterName): Promise<WakeSeen | undefined>;
}

/** "Credentials refused at T", shared by all instances: five failures within a minute lock a CycleCloud account (wire B). */
export interface CredentialBreaker {
  refusedAt(credential: string): Promise<Instant | undefined>;
  note(credential: string, at: Instant): Promise<void>;
  clear(credential: string): Promise<void>;
}

/**
 * What the node arrays of one status say in `Configuration` for their nodes. It may hold secrets: it is handed on to creates of the same run
 * and to nothing else, and is never stored, logged or shown.
 */
export interface ArrayTemplates {
  /** Undefined: the status had no such array, or none with a Configuration. */
  configurationOf(array: ArrayName): NodeAttributes | undefined;
}

export interface CreateRequest {
  readonly requestId: RequestId;
  /** At least one. */
  readonly sets: readonly RequestedSet[];
  /** Of a status that the sender has just read: what is sent with nodes stands on what their array says now. */
  readonly templates: ArrayTemplates;
}

export interface RequestedSet {
  readonly bucket: BucketKey;
  readonly count: number;
  /** How the nodes are called, "%d" standing for their number; absent: after their node array. */
  readonly nameFormat?: string;
  readonly attributes?: NodeAttributes;
}

export type CreateOutcome =
  /** 202: what comes of each set, in the order of the request. */
  | { readonly kind: "accepted"; readonly sets: readonly GrantedSet[] }
  /** 409: a repeated id or invalid input; alone it does not tell which (wire A.6). */
  | { readonly kind: "conflict"; readonly message?: string }
  /** Another 4xx: certainly no effect, of any set. */
  | { readonly kind: "refused"; readonly message: string };

export type ManagementOutcome =
  | {
      readonly kind: "accepted";
      /** One entry per node matched; a node that is absent did not exist (wire A.7). */
      readonly nodes: ReadonlyMap<NodeId, { readonly ok: boolean; readonly error?: string }>;
    }
  | { readonly kind: "conflict"; readonly message?: string }
  | { readonly kind: "refused"; readonly message: string };

export type StatusOutcome =
  | { readonly kind: "snapshot"; readonly snapshot: Snapshot; readonly templates: ArrayTemplates }
  /** 404: believed only when two looks a tick apart agree. */
  | { readonly kind: "not-found"; readonly fromCycleCloud: boolean; readonly message: string };

/** One CycleCloud server as one cluster sees it (cyclecloud-wire.md A). Reads may be retried inside; changes never are. */
export interface CycleCloud {
  /** One call: status with nodes, so that both are of one moment. `at` of the snapshot is `now`. */
  status(cluster: ClusterName, now: Instant): Promise<StatusOutcome>;
  /** Nodes of a request that have not gone; undefined: CycleCloud says that it knows no such request. */
  nodesOfRequest(cluster: ClusterName, id: RequestId): Promise<readonly RequestedNode[] | undefined>;
  /** Whether CycleCloud knows the request id. Documented for creates only (cyclecloud-wire.md A.9). */
  knowsRequest(cluster: ClusterName, id: RequestId): Promise<boolean>;
  create(cluster: ClusterName, request: CreateRequest): Promise<CreateOutcome>;
  /** Asks for deallocated nodes to come up again, by their ids. */
  start(cluster: ClusterName, id: RequestId, nodes: readonly NodeId[]): Promise<ManagementOutcome>;
  terminate(cluster: ClusterName, id: RequestId, nodes: readonly NodeId[]): Promise<ManagementOutcome>;
}

/** The demand queue from our side: wake messages, and what is put aside. */
export interface DemandQueue {
  /**
   * One message that only asks for a reconcile of the cluster, not before `at`. The app notes that one with an `id` came through. The id of a
   * {@link WakeId} is the loop's own: such a message is a tick, if the record waits for it.
   */
  wake(cluster: ClusterName, at: Instant, id?: string): Promise<void>;
  /** Puts a message aside in `demand-rejected`. */
  reject(message: RejectedMessage): Promise<void>;
  /** What lies in `demand-rejected`: how many, and the oldest few. */
  rejected(): Promise<{ readonly count: number; readonly oldest: readonly RejectedMessage[] }>;
  /** What lies in `demand-poison`, where the host puts what failed too often. */
  poison(): Promise<PoisonQueue>;
  /** Up to `most` messages of `demand-poison`, oldest first. Nobody else gets them for two minutes; then those that are left come again. */
  takePoison(most: number): Promise<readonly PoisonMessage[]>;
  /** Removes a message of `demand-poison` that was taken. It is no error if it is gone. */
  dropPoison(message: PoisonMessage): Promise<void>;
  /** Puts a text back into the demand queue: a poison message tried once more, or one that a newer release wrote. */
  resend(text: string, delaySeconds: number): Promise<void>;
}

export interface PoisonQueue {
  /** About how many, those that are being handled included. */
  readonly count: number;
  /** When the oldest of those that nobody is handling was put there, to the second; absent: there is none. */
  readonly oldestAt?: Instant;
}

export interface PoisonMessage {
  /** Of the copy that the host made. */
  readonly messageId: string;
  readonly text: string;
  /** How often it was taken, this time included. */
  readonly taken: number;
  /** What the queue wants to see when the message is removed. */
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
  /** The message as it came, cut so that the whole stays below the queue's 64 KiB. */
  readonly text: string;
}

/** Structured log: an event name and fields, never sentences, never secrets. */
export interface Log {
  (event: string, fields: Readonly<Record<string, unknown>>): void;
}

/** A cluster of the registry with its own CycleCloud. */
export interface Site {
  readonly cluster: ClusterName;
  readonly cyclecloud: CycleCloud;
  /** Names the account for the breaker: server and user, no secret. */
  readonly credential: string;
  /** Absent: not known, as in a first look without an app. */
  readonly stopKeys?: StopKeys;
}

/** The ids of the keys of stop URLs, as the app settings have them. */
export interface StopKeys {
  /** The key of the stop URL that creates of this process carry; absent: they carry none. */
  readonly signing?: string;
  /** The calls with a stop URL of any of these keys are answered. */
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
  /** The cluster's configuration document, checked, with defaults; a few seconds old at most. */
  readonly policyOf: (cluster: ClusterName) => Promise<Policy>;
}
