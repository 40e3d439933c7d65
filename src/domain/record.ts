import type { BucketKey, Purpose } from "./bucket.ts";
import type { NodeAttributes, Problem, Revision } from "./demand.ts";
import type { DynamicArray } from "./dynamic-array.ts";
import type {
  ArrayName,
  ClusterName,
  Digest,
  Epoch,
  MachineType,
  NodeId,
  Owner,
  RequestId,
  SetName,
  WakeId,
} from "./ids.ts";
import type { Instant, Seconds } from "./units.ts";

/** Version of the stored form. Release N-1 can read version N. A function that finds a newer version does not touch the record. */
export const STATE_VERSION = 1;

/**
 * The manifest of a cluster: all small parts, saved under one ETag. A save under this ETag is the linearisation point of the protocol
 * (architecture.md, Storage). The large parts are {@link Bodies}.
 */
export interface ClusterRecord {
  readonly cluster: ClusterName;
  /** Random. Written when the record is created or restored. */
  readonly epoch: Epoch;
  /** When this epoch began. Absent: an older release wrote the record, so the epoch began long ago. */
  readonly epochAt?: Instant;
  /**
   * If the first observation of this epoch shows nodes, no create is sent before this moment: a create that an earlier state of the record
   * sent may not show yet. Absent: creates need not wait.
   */
  readonly createsFrom?: Instant;
  /** Number of committed decisions: reconciles and autostop grants. */
  readonly plan: number;
  /** Rises when the demand of a set changes. A renewal without a change leaves it. */
  readonly generation: number;
  /** The generation that the last plan took into account. */
  readonly observedGeneration: number;
  /** The last message with demand of each set: its demand, and its report and pools unless a separate one below is in force. */
  readonly sets: SetEntries;
  /**
   * Reports that came without demand. Each is at least as new as the entry of its set in `sets`, and is in force instead of the report
   * there, even after it has lapsed. It is an entry of its own with an empty demand.
   */
  readonly separateReports: SetEntries;
  /** Pools that came without demand, by the same rules. The demand of such an entry contains pools only. */
  readonly separatePools: SetEntries;
  readonly intents: readonly Intent[];
  readonly inFlight: readonly InFlight[];
  readonly backoffs: readonly Backoff[];
  /** Kinds of nodes that get a create request of their own until CycleCloud has accepted it once. Absent: none. */
  readonly alone?: readonly CreateKind[];
  /** When the last observation of CycleCloud began. */
  readonly lookedAt?: Instant;
  /** How soon the next observation may begin. Absent: there was none yet, or an older release made the last one. */
  readonly looks?: ObservationTokens;
  /** A plan waits to be saved. Until then no instance begins a mark or a grant. Absent: none waits. */
  readonly planBy?: Instant;
  /** Endpoints of CycleCloud that are slow or failing. An endpoint that answers within a second is not listed. Absent: none. */
  readonly calls?: Calls;
  /** When the wake message that is under way arrives. */
  readonly wakeAt?: Instant;
  /** The reason for the wake message. `demand` needs no observation once a plan has used the generation; `follow-up` always needs one. */
  readonly wakeFor?: "demand" | "follow-up";
  /** When the next tick is due. Absent: now. */
  readonly nextTickAt?: Instant;
  /** No observation is needed before: at the last plan the cluster was stopped, or empty and without demand. Absent: one each minute. */
  readonly restsUntil?: Instant;
  /** The wake message that ticks if the timer does not. Other wake messages with an id are ignored. Absent: none is under way. */
  readonly pendingWake?: PendingWake;
  /** When the current run of observations began in which most records lack TargetState. Absent: the last observation was not like that. */
  readonly targetStatesLackedSince?: Instant;
  /** The last useful observation, and the end of the scale-down pause after an outage of the autoscaler. */
  readonly lastGoodLookAt?: Instant;
  readonly outage?: Outage;
  /** The last observation that failed. Removed when one succeeds. */
  readonly trouble?: Trouble;
  /** The last few messages that could not be read, newest last. */
  readonly rejections: readonly Rejection[];
  /**
   * A node that is marked as idle waits for the next report of its scheduler. Every message then triggers an observation at once, because
   * reports age quickly.
   */
  readonly awaitsReport?: boolean;
  /** Nodes created and nodes stopped since the record was created. */
  readonly totals: Totals;
  /** Groups that lack nodes. Absent: none. Releases that do not know this field carry it along unread. */
  readonly groupFills?: readonly GroupFill[];
  /** Dynamic node arrays that exist, by name. Absent: none. Releases that do not know this field carry it along unread. */
  readonly dynamicArrays?: readonly DynamicArray[];
  /** The set that owns each pool. Absent: no pool is owned. Releases that do not know this field carry it along unread. */
  readonly poolOwners?: PoolOwners;
  /** Unneeded nodes at the last plan. Absent: none, or an older release wrote the record. */
  readonly unneeded?: Unneeded;
  /** Nodes that were stopped in the last hour because they reported themselves unhealthy. Absent: none. */
  readonly unhealthyStops?: readonly UnhealthyStops[];
  /** Live nodes of ours at the last plan, counted by the key of their stop URL. Absent: no node's key is known. */
  readonly stopKeys?: readonly StopKeyUse[];
  /** Stored bodies that the last loads did not find, each with the moment when it was first missed. Absent: none. */
  readonly missing?: readonly { readonly body: string; readonly since: Instant }[];
  /** The last time that storage lost bodies of this record. Absent: never. */
  readonly lost?: Lost;
}

export interface PendingWake {
  readonly id: WakeId;
  /** The earliest time of its arrival. */
  readonly at: Instant;
}

/** For each set the pools that it named first, each as the digest of its name. Names may be long, and every renewal writes this field. */
export type PoolOwners = readonly { readonly set: SetName; readonly pools: readonly Digest[] }[];

export interface Lost {
  readonly at: Instant;
  readonly bodies: number;
  /** Sets whose demand was lost. They have lapsed. */
  readonly sets: readonly SetName[];
  /** True if the snapshot or the other stored facts about nodes were lost. */
  readonly nodes: boolean;
}

/** Stops of one array that were granted within a few minutes. A few entries cover an hour, however many nodes stop. */
export interface UnhealthyStops {
  readonly array: ArrayName;
  /** When the last of them was granted. */
  readonly at: Instant;
  readonly count: number;
}

/** Live nodes of ours that carry a stop URL of one key. */
export interface StopKeyUse {
  /** Absent: not known. An older release made the nodes, the answer to their create was lost, or there was no stop URL. */
  readonly keyId?: string;
  readonly nodes: number;
}

/** The proof that calls of a node must carry. It holds for one VM: another instance of the same node begins without it. */
export interface NodeBinding {
  /** Digest of the token that the node chose (decide/stops/node-token.ts). The token itself is never stored. */
  readonly token: Digest;
  readonly instanceId: string;
}

/** The token bucket of observations at `at`, which equals `lookedAt`. The rules are in decide/pace/observation-times.ts. */
export interface ObservationTokens {
  readonly tokens: number;
  readonly at: Instant;
  /** When the observations began that have not ended, oldest first. Absent: none is under way. */
  readonly underWay?: readonly Instant[];
}

/** The kinds of calls to CycleCloud. Each may be slow or fail independently. `nodes` lists the nodes of one create request. */
export type Endpoint = "status" | "nodes" | "operations" | "create" | "start" | "terminate";

export type Calls = Readonly<Partial<Record<Endpoint, EndpointCalls>>>;

/** The recent speed and failures of one endpoint. */
export interface EndpointCalls {
  /** Expected duration of a call. It rises at once, and falls by half with each quicker call. */
  readonly seconds: Seconds;
  /** When the last call ended. */
  readonly at: Instant;
  /** Absent: the last call succeeded. */
  readonly failure?: { readonly since: Instant; readonly message: string };
}

/** Nodes that are up and not needed, and whose busy state is unknown. They are not stopped, and they cost money. */
export interface Unneeded {
  readonly nodes: number;
  /** The earliest moment since which one of them has not been needed, approximately. */
  readonly since: Instant;
  /** The most frequent VM sizes among them. */
  readonly sizes: readonly UnneededSize[];
  /** Absent: the price of none of them is known. */
  readonly cost?: UnneededCost;
}

export interface UnneededSize {
  readonly array: ArrayName;
  readonly machineType: MachineType;
  readonly nodes: number;
}

export interface UnneededCost {
  readonly perHour: number;
  readonly currency: string;
  /** Nodes whose price is unknown. They are not in the sum. */
  readonly unpriced: number;
}

/**
 * A group that a demand counts on and that lacks nodes. Stored here and not derived from the ledger for two reasons. The time since when
 * nodes are lacking differs between a group that was complete once and one that never was, and no ledger entry holds it. And a group that
 * was given up must stay so when a process ends. Only plans change it.
 */
export interface GroupFill {
  readonly bucket: BucketKey;
  /** The array with the group size, as "execute:16n". */
  readonly key: string;
  /** The first plan that found nodes lacking. Removed once all nodes are up. */
  readonly since: Instant;
  /** The group was not complete in time. From then on no group owns its nodes, until its bucket's turn comes again. */
  readonly givenUpAt?: Instant;
}

export interface Totals {
  readonly created: number;
  readonly terminated: number;
  /** Deallocated nodes that were started. Absent: none. */
  readonly started?: number;
}

export type SetEntries = ReadonlyMap<SetName, SetEntry>;

/** The parts of a record that hold the senders' messages. */
export type Held = Pick<ClusterRecord, "sets" | "separateReports" | "separatePools">;

/** All entries of all sets, of all three parts. */
export function entriesOf({ sets, separateReports, separatePools }: Held): readonly SetEntry[] {
  return [...sets.values(), ...separateReports.values(), ...separatePools.values()];
}

/** By set, the entry whose report is in force. A lapsed entry has no report. */
export function reportsOf({ sets, separateReports }: Held): SetEntries {
  return separateReports.size === 0 ? sets : new Map([...sets, ...separateReports]);
}

/** By set, the entry whose demand has the pools in force. */
export function poolsOf({ sets, separatePools }: Held): SetEntries {
  return separatePools.size === 0 ? sets : new Map([...sets, ...separatePools]);
}

/** Whether two records hold identical entries (by reference), and so name the same bodies. */
export function holdSame(a: Held, b: Held): boolean {
  return a.sets === b.sets && a.separateReports === b.separateReports && a.separatePools === b.separatePools;
}

/** One request set in the manifest. Its demand and report are bodies. A lapsed or emptied set keeps its revision for a day. */
export interface SetEntry {
  readonly revision: Revision;
  readonly intervalSeconds: Seconds;
  readonly sentAt: Instant;
  readonly acceptedAt: Instant;
  readonly expiresAt: Instant;
  /** Digest of the demand. A change raises `generation`. */
  readonly digest: Digest;
  /** False once lapsed or deleted. Its body is then no longer kept. */
  readonly live: boolean;
  /** The set was deleted: its sender asks for nothing. Absent: it is in force, or was not renewed. */
  readonly ended?: true;
  /** The scheduler's report that came with it, if any. */
  readonly report?: Digest;
  /** The size of its bodies. Absent: the set is not in force, or an older release accepted it. */
  readonly size?: HeldSize;
}

/** How much one message of a set uses of the bounds of its cluster. */
export interface HeldSize {
  readonly jobs: number;
  /** Of its bodies as JSON, before compression. */
  readonly bytes: number;
}

/** The stored facts about each node. CycleCloud exposes no creation time and reuses names (architecture.md, The node ledger). */
export type Ledger = ReadonlyMap<NodeId, LedgerNode>;

export interface LedgerNode {
  readonly nodeId: NodeId;
  /** As last observed. */
  readonly name: string;
  readonly array: ArrayName;
  readonly hostname?: string;
  readonly instanceId?: string;
  readonly requestId?: RequestId;
  readonly purpose: Purpose;
  /** Digest of the attributes that it was created with. Absent: only those of its array, or unknown. */
  readonly look?: Digest;
  readonly firstSeenAt: Instant;
  /** How many open create sets were older than this node's own when the node was first matched to it. Absent: 0. */
  readonly askedAfter?: number;
  readonly firstReadyAt?: Instant;
  /**
   * The first observation that showed it no longer up after it was Ready. Absent: it is Ready, never was, failed, or is no longer wanted.
   */
  readonly leftReadyAt?: Instant;
  /** When the current run of observations began that do not show whether the node is wanted. Absent: the last one shows it. */
  readonly unclearSince?: Instant;
  readonly lastNeededAt?: Instant;
  readonly busyness: Busyness;
  readonly draining?: Draining;
  /** The key of its stop URL, from the create that made it, else from its Configuration. Absent: not known. */
  readonly keyId?: string;
  /** Absent: no call of the node has carried a token of its own yet. */
  readonly bound?: NodeBinding;
  /**
   * Demands that recent plans placed here, of sets that do not report this host while another set does. Only a few are kept. Absent: none.
   */
  readonly plannedBeside?: readonly PlannedBeside[];
  /** Deallocated in the last accepted observation. */
  readonly deallocated?: true;
  /** Progress of its start. Absent: no start was requested since it was deallocated, or it never was deallocated. */
  readonly start?: NodeStart;
  /**
   * When an accepted observation first lacked it. The entry is kept for an hour, so that a late question of the node is answered with yes.
   * It is kept longer while a report gives the host resources, so that the host is not mistaken for one that was never ours.
   */
  readonly goneAt?: Instant;
}

/** A demand of a request set, by its name in plans. */
export interface PlannedBeside {
  readonly set: SetName;
  readonly demand: string;
}

/** Unknown is a third value: idle time does not run while it holds. */
export interface Busyness {
  readonly state: "busy" | "idle" | "unknown";
  readonly since: Instant;
}

/**
 * The node is marked to be stopped. Committed before the node is observed once more, and before any terminate (architecture.md, Stopping).
 */
export interface Draining {
  readonly since: Instant;
  readonly by: "callback" | "unhealthy" | "idle" | "boot-timeout" | "failed" | "stuck";
  /** The plan that marked it. */
  readonly plan: number;
  /** Terminate requests accepted so far, and when the last one was. */
  readonly attempts: number;
  readonly sentAt?: Instant;
}

/** The start of a deallocated node. Committed with the intent, before the request is sent. */
export interface NodeStart {
  /**
   * - `unsure`: sent or about to be sent; the answer is not known.
   * - `accepted`: CycleCloud accepted it, and no observation has shown it yet.
   * - `shown`: an observation showed the node on its way up.
   * - `refused`: it was refused or had no effect. No new start for a while.
   */
  readonly state: "unsure" | "accepted" | "shown" | "refused";
  /** When the start was requested or refused. The boot timeout counts from here. */
  readonly since: Instant;
  /** When the plan that wanted it was committed. Absent: at `since`. */
  readonly plannedAt?: Instant;
  /** If refused: no new start before this. */
  readonly until?: Instant;
  /** Why the start was, or may have been, refused. */
  readonly message?: string;
}

/** One effect on CycleCloud that is committed to storage and not yet confirmed. */
export interface Intent {
  readonly id: RequestId;
  readonly owner: Owner;
  readonly committedAt: Instant;
  /** Until then only the owner may send it. */
  readonly leaseUntil: Instant;
  /** No instance sends it after this. */
  readonly notAfter: Instant;
  /**
   * A question that begins at this time or later and is answered with "no" is certain: by then each send has arrived and its effect shows.
   * Absent in records of an older release: a while after `notAfter`.
   */
  readonly certainFrom?: Instant;
  readonly effect: Effect;
  /** Earlier sends of this id. `never`: certainly not sent. `maybe`: possibly sent. `once-refused`: our only send was answered with 409. */
  readonly sent: "never" | "maybe" | "once-refused";
  /** When CycleCloud, asked for this id, first did not know it since the last send. */
  readonly absentSince?: Instant;
  /** CycleCloud's message with a 409, kept until it is known whether it means a refusal. */
  readonly refusal?: string;
}

export type Effect = CreateEffect | StartEffect | TerminateEffect;

/** One create request. create-requests.ts explains how its sets are distinguished when their nodes are listed. */
export interface CreateEffect {
  readonly kind: "create";
  /** At least one. */
  readonly sets: readonly CreateSet[];
}

/** Nodes of one bucket that are created alike: one set of a create request (cyclecloud-wire.md A.6). */
export interface CreateSet {
  readonly bucket: BucketKey;
  readonly count: number;
  readonly purpose: Purpose;
  readonly attributes?: NodeAttributes;
}

/** CycleCloud's answer for one set. `added` may be less than the requested count, even 0; `message` then gives CycleCloud's reason. */
export interface GrantedSet {
  readonly added: number;
  readonly message?: string;
}

/** The properties for which CycleCloud may refuse a set. Sets with the same kind are accepted or refused together. */
export interface CreateKind {
  readonly array: ArrayName;
  readonly machineType: MachineType;
  /** For nodes of a dynamic node array, `array` is the array that it extends. */
  readonly dynamic?: ArrayName;
}

/** Deallocated nodes of one bucket that are to be started. */
export interface StartEffect {
  readonly kind: "start";
  readonly bucket: BucketKey;
  readonly nodes: readonly NodeId[];
}

export interface TerminateEffect {
  readonly kind: "terminate";
  readonly nodes: readonly NodeId[];
}

/**
 * Nodes of one set of a create request that CycleCloud accepted and no observation has shown yet: `added` minus all that were ever seen.
 */
export interface InFlight {
  readonly requestId: RequestId;
  readonly bucket: BucketKey;
  readonly purpose: Purpose;
  /** Digest of the attributes that were sent. Absent: none. */
  readonly look?: Digest;
  /** The key of the stop URL that was sent. Absent: none was sent, or it is unknown which. */
  readonly keyId?: string;
  /** Whether these attributes make them spot nodes. Absent: they do not, or an older release sent them. */
  readonly spot?: boolean;
  readonly added: number;
  /** The answer was lost. `added` is the number requested, and CycleCloud may have granted less. Absent: `added` comes from the answer. */
  readonly unconfirmed?: ListGrowth;
  /** NodeIds of this set that any status has shown. */
  readonly seen: readonly NodeId[];
  readonly since: Instant;
  /** When the plan that wanted it was committed. Absent: at `since`. */
  readonly plannedAt?: Instant;
}

/** Growth of the list of a request's nodes, over all of its sets. */
export interface ListGrowth {
  /** The largest number of nodes listed so far. */
  readonly listed: number;
  /** When the question began that first found this many. */
  readonly since: Instant;
}

/** Number of nodes of an in-flight set that no observation has shown yet. */
export function stillInFlight(entry: InFlight): number {
  return Math.max(0, entry.added - entry.seen.length);
}

/** A bucket that refused a request, granted no nodes or whose nodes did not boot. No request goes to it before `until`. */
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
  readonly cause: "refused" | "fell-short" | "boot-failed" | "unhealthy";
  readonly message: string;
}

/** An outage of the autoscaler. Scale-down pauses until every set that was live has been pushed again, or until `until`. */
export interface Outage {
  readonly from: Instant;
  readonly to: Instant;
  readonly until: Instant;
  readonly awaiting: readonly SetName[];
}

export interface Trouble {
  readonly at: Instant;
  readonly kind:
    | "unreachable"
    | "throttled"
    | "denied"
    | "unexpected"
    | "suspicious"
    | "not-found"
    /** The autoscaler itself failed at a plan. */
    | "failed";
  readonly message: string;
}

/** A message that was put aside, as the state page shows it. */
export interface Rejection {
  readonly at: Instant;
  readonly messageId: string;
  readonly set?: string;
  readonly problems: readonly Problem[];
}
