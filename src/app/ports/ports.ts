import type { ClusterName, Epoch, Owner } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { DemandQueue } from "./demand-queue.ts";
import type { Documents, History, NodeHistory, PlanArchive, RecordStore } from "./record-store.ts";
import type { Instant, Milliseconds } from "../../domain/units.ts";
import type { CycleCloud } from "./cyclecloud.ts";

/**
 * The checked configuration of a cluster, with defaults. `recent`, the default: at most 15 s old. `now`: the document is read now. `with-mode`:
 * the same, and where the document gives no mode for the cluster, the mode of the app setting is written into it first.
 */
export type PolicyReader = (cluster: ClusterName, how?: "recent" | "now" | "with-mode") => Promise<Policy>;

/** All that the use cases need from outside. src/compose provides it. They throw PortError and nothing else. */
export interface Ports {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly store: RecordStore;
  readonly history: History;
  readonly plans: PlanArchive;
  readonly nodeHistory: NodeHistory;
  readonly documents: Documents;
  readonly breaker: CredentialBreaker;
  readonly triggers: TriggerLog;
  readonly queue: DemandQueue;
  readonly sites: ReadonlyMap<ClusterName, Site>;
  readonly log: Log;
  readonly policyOf: PolicyReader;
}

/** Structured log: an event name and fields. Never sentences, never secrets. */
export interface Log {
  (event: string, fields: Readonly<Record<string, unknown>>): void;
}

/** When credentials were last refused, shared by all instances. Five failures within a minute lock a CycleCloud account (wire B). */
export interface CredentialBreaker {
  refusedAt(credential: string): Promise<Instant | undefined>;
  note(credential: string, at: Instant): Promise<void>;
  clear(credential: string): Promise<void>;
}

/** Randomness. All values come from the platform's generator, or from a seed in tests. Throws nothing. */
export interface Entropy {
  /** An epoch that no record has had. */
  epoch(): Epoch;
  /** An owner of intents that no other run has. */
  owner(): Owner;
  /** A number in [0, 1) for jitter. */
  fraction(): number;
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
