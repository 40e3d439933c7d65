import type { Bodies } from "../../domain/bodies.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { Aside } from "../../domain/request-sets.ts";
import type { SchedulerNode, SetDemand } from "../../domain/demand.ts";
import type { FinishedSet, MissingBodies, ClusterRecord, Endpoint } from "../../domain/record.ts";
import type { ClusterName, Digest, SetName } from "../../domain/ids.ts";
import type { Plan } from "../../domain/plan.ts";
import type { Questions } from "../../domain/questions.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { Bytes, Instant } from "../../domain/units.ts";
import type { VirtualFleet } from "../../domain/virtual-fleet.ts";
import type { ConfigChange, ConfigVersion } from "../../domain/config-version.ts";
import type { NodeLife } from "../../domain/node-life.ts";
import type { KeptPlan, KeptPlanRow } from "../../domain/kept-plan.ts";

/** An opaque version of a stored record, as one load or save saw it. */
export interface RecordVersion {
  readonly etag: string;
  /**
   * The configuration in force: the digest of its document (docs/protocol.md, Configuration). A change of the configuration writes it too,
   * which changes the ETag. Absent: the record is new.
   */
  readonly configuration?: Digest;
}

export interface LoadedRecord<V extends RecordVersion = RecordVersion> {
  readonly record: ClusterRecord;
  readonly version: V;
}

/** What a save replaces beside the manifest. An absent part stays as stored. */
export interface BodyChanges {
  /** The configuration under which the save was decided. */
  readonly configuration?: Digest;
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
   * The manifest alone. Undefined if there is no record yet. Also throws PortError "other-state" if its state version is not ours.
   */
  load(cluster: ClusterName): Promise<LoadedRecord<V> | undefined>;
  /** The remembered parts of those of the sets that have left the record. Reads only the bodies in which they would be. */
  finished(loaded: LoadedRecord<V>, sets: readonly SetName[]): Promise<ReadonlyMap<SetName, FinishedSet>>;
  /**
   * The bodies of a loaded record, without those of the sets of `aside`. Undefined if one is missing because the record has changed: load
   * again.
   */
  bodies(loaded: LoadedRecord<V>, aside?: Aside): Promise<Bodies | undefined>;
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

/** The compressed size of a document, and its limit. */
interface DocumentTooLarge {
  readonly kind: "too-large";
  readonly bytes: Bytes;
  readonly limit: number;
}

/** Small documents beside the records: the configuration of each cluster. */
export interface Documents {
  read(cluster: ClusterName): Promise<{ readonly text: string; readonly etag: string } | undefined>;
  /**
   * `too-large`: more than the store keeps in one document; nothing is changed. `change` is recorded together with the document. Once it is
   * saved, the cluster's record names it as the configuration in force, whatever the record's ETag is, and no commit that was decided before
   * can be saved any more (docs/protocol.md, Configuration).
   */
  write(
    cluster: ClusterName,
    text: string,
    etag: string | undefined,
    change?: ConfigChange,
  ): Promise<"saved" | "conflict" | DocumentTooLarge>;
  /** The versions of the document, newest first, including the one in force. Bounded. */
  versions(cluster: ClusterName): Promise<readonly ConfigVersion[]>;
}

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
  /** Nodes with a VM by the array that they count for, and what they cost per hour. Absent: none, or an older release wrote the row. */
  readonly arrays?: readonly {
    /** Absent: all others together. */
    readonly name?: string | undefined;
    readonly nodes: number;
    readonly idle: number;
    /** Absent: there were no prices. */
    readonly pricePerHour?: number | undefined;
    readonly idlePricePerHour?: number | undefined;
  }[];
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

/** Which kept nodes to read. */
export interface LivesAsked {
  /** Keys behind this one. Absent: from the node that went last. */
  readonly after?: string;
  /** Nodes that went at this moment or later. */
  readonly from: Instant;
  readonly limit: number;
}

/** Nodes that have gone, kept 30 days (docs/protocol.md, History of nodes). */
export interface NodeHistory {
  /** Keeps nodes that have gone. A node with the same key (`lifeKey`) is replaced, so that two instances may keep the same ones. */
  keep(cluster: ClusterName, gone: readonly NodeLife[]): Promise<void>;
  /** In the order of their keys: the node that went last first. */
  read(cluster: ClusterName, asked: LivesAsked): Promise<readonly NodeLife[]>;
  /** The node with this NodeId, else the last one that had the name, hostname or instance id. The names are compared as hosts are. */
  find(cluster: ClusterName, name: string): Promise<NodeLife | undefined>;
  /**
   * Removes nodes that went before `before` and, if `most` is given, those beyond the last `most`: some hundreds per call. Returns their number.
   */
  prune(cluster: ClusterName, before: Instant, most?: number): Promise<number>;
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
