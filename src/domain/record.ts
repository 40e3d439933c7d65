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
import type { Instant } from "./units.ts";

/** Version of the stored form. Version N is readable by release N-1; a function that meets a newer one leaves it alone. */
export const STATE_VERSION = 1;

/**
 * The manifest of a cluster: everything small, saved under one ETag, which is the linearisation point of the protocol (architecture.md,
 * Storage). The large parts are {@link Bodies}.
 */
export interface ClusterRecord {
  readonly cluster: ClusterName;
  /** Random; written when the record is born or restored. */
  readonly epoch: Epoch;
  /** When this epoch began; absent: an older release wrote the record, so long ago. */
  readonly epochAt?: Instant;
  /**
   * If the first look of this epoch shows nodes, nothing is created before: a create that an earlier state of the record has sent may not
   * show yet. Absent: creates need not wait.
   */
  readonly createsFrom?: Instant;
  /** Counts committed decisions: reconciles and autostop grants. */
  readonly plan: number;
  /** Moves when the demand of a set changes; a mere renewal does not move it. */
  readonly generation: number;
  /** The generation that the last plan took into account. */
  readonly observedGeneration: number;
  /** What the last message with demand said of each set: its demand, and its report and pools unless those below are in force. */
  readonly sets: SetEntries;
  /**
   * Reports that came without demand, none older than what `sets` holds of their set: each is in force instead of the report there, also
   * once it has lapsed. An entry of its own, whose demand is empty.
   */
  readonly separateReports: SetEntries;
  /** Pools that came without demand, by the same rules: an entry whose demand has nothing but pools. */
  readonly separatePools: SetEntries;
  readonly intents: readonly Intent[];
  readonly inFlight: readonly InFlight[];
  readonly backoffs: readonly Backoff[];
  /** What is asked for in a request of its own until CycleCloud has accepted it once; absent: nothing. */
  readonly alone?: readonly CreateKind[];
  /** When the last look at CycleCloud began. */
  readonly lookedAt?: Instant;
  /** How soon the next look may begin. Absent: an older release has looked last, or nobody has. */
  readonly looks?: LookTokens;
  /** A plan waits to be saved: until then nobody begins a mark or a grant. Absent: none waits. */
  readonly planBy?: Instant;
  /** Endpoints of CycleCloud that are slow, or that fail; absent: none. An endpoint that answers within a second is not listed. */
  readonly calls?: Calls;
  /** A wake message is under way for this moment. */
  readonly wakeAt?: Instant;
  /** Why: `demand` needs no look once a plan has observed the generation, `follow-up` always does. */
  readonly wakeFor?: "demand" | "follow-up";
  /** When the next tick is due; absent: now. */
  readonly nextTickAt?: Instant;
  /** Nobody needs to look before: the cluster was stopped, or empty without demand, at the last plan. Absent: it is looked at each minute. */
  readonly restsUntil?: Instant;
  /** The wake message that ticks if the timer does not. Any other with an id has nothing to do. Absent: none is under way. */
  readonly pendingWake?: PendingWake;
  /** The first of an unbroken line of looks whose records mostly lack TargetState; absent: the last look was none. */
  readonly targetStatesLackedSince?: Instant;
  /** The last look that told us something, and the end of the rest that follows an outage of ours. */
  readonly lastGoodLookAt?: Instant;
  readonly outage?: Outage;
  /** The last look that failed, until one succeeds. */
  readonly trouble?: Trouble;
  /** Messages that could not be read, newest last, a few. */
  readonly rejections: readonly Rejection[];
  /** A node marked as idle waits for its scheduler's next report: every message is looked at at once then, as reports age quickly. */
  readonly awaitsReport?: boolean;
  /** Nodes asked for and nodes stopped since the record was born. */
  readonly totals: Totals;
  /** Groups that are not whole; absent: none. A release that knows none carries them along unread. */
  readonly groupFills?: readonly GroupFill[];
  /** Dynamic node arrays that exist, by name; absent: none. A release that knows none carries them along unread. */
  readonly dynamicArrays?: readonly DynamicArray[];
  /** Which set each pool belongs to; absent: there is none. A release that knows none carries them along unread. */
  readonly poolOwners?: PoolOwners;
  /** As the last plan saw them; absent: none, or the record of an older release. */
  readonly unneeded?: Unneeded;
  /** Nodes that went in the last hour as unhealthy on their own word alone; absent: none. */
  readonly unhealthyStops?: readonly UnhealthyStops[];
  /** How many live nodes of ours carry a stop URL of which key, as the last plan saw them; absent: no key is known of any node. */
  readonly stopKeys?: readonly StopKeyUse[];
  /** Stored bodies that the last loads did not find, each with the moment when it was first missed; absent: none. */
  readonly missing?: readonly { readonly body: string; readonly since: Instant }[];
  /** The last time that storage lost some of what the record named; absent: never. */
  readonly lost?: Lost;
}

export interface PendingWake {
  readonly id: WakeId;
  /** When it comes, or soon after. */
  readonly at: Instant;
}

/** By set the pools that it named first, each by the digest of its name: names may be long, and renewals write this. */
export type PoolOwners = readonly { readonly set: SetName; readonly pools: readonly Digest[] }[];

export interface Lost {
  readonly at: Instant;
  readonly bodies: number;
  /** Sets whose demand was lost: they lapsed. */
  readonly sets: readonly SetName[];
  /** The snapshot, or what was known of the nodes besides, was lost. */
  readonly nodes: boolean;
}

/** Stops of one array that were granted within a few minutes. Few entries cover an hour, however many nodes go. */
export interface UnhealthyStops {
  readonly array: ArrayName;
  /** The last of them. */
  readonly at: Instant;
  readonly count: number;
}

/** Live nodes of ours that carry a stop URL of one key. */
export interface StopKeyUse {
  /** Absent: not known. An older release made the nodes, the answer to their create was lost, or there was no stop URL. */
  readonly keyId?: string;
  readonly nodes: number;
}

/** What the calls of a node must carry. It holds for one VM: another instance of the same node begins without it. */
export interface NodeBinding {
  /** Of the token that the node chose (decide/stops/node-token.ts). The token itself is never stored. */
  readonly token: Digest;
  readonly instanceId: string;
}

/** The token bucket of looks at `at`, which is `lookedAt`: turn.ts has the rules. */
export interface LookTokens {
  readonly tokens: number;
  readonly at: Instant;
  /** When the looks began that have not ended, oldest first; absent: none is under way. */
  readonly underWay?: readonly Instant[];
}

/** What CycleCloud is called for: each may be slow, or fail, for itself. `nodes` are the nodes of one request. */
export type Endpoint = "status" | "nodes" | "operations" | "create" | "start" | "terminate";

export type Calls = Readonly<Partial<Record<Endpoint, EndpointCalls>>>;

/** What the last calls of one endpoint were like. */
export interface EndpointCalls {
  /** How long a call takes: it rises at once, and falls by half with each quicker call. */
  readonly seconds: number;
  /** The end of the last call. */
  readonly at: Instant;
  /** Absent: the last call succeeded. */
  readonly failure?: { readonly since: Instant; readonly message: string };
}

/** Nodes that are up and not needed, and whose busy state is unknown: they stay, and they cost. */
export interface Unneeded {
  readonly nodes: number;
  /** The first of them has not been needed since about then. */
  readonly since: Instant;
  /** The VM sizes with the most of them. */
  readonly sizes: readonly UnneededSize[];
  /** Absent: no price of any of them is known. */
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
  /** Nodes whose price is not known, and not in the sum. */
  readonly unpriced: number;
}

/**
 * A group that a demand counts on and that lacks nodes. It is written here, and not read off the ledger, because a group that was whole
 * once and one that never was lack nodes since different moments, which no entry of a node tells; and because what was given up must
 * stay so when a process dies. It changes with plans only.
 */
export interface GroupFill {
  readonly bucket: BucketKey;
  /** The array with the group size, as "execute:16n". */
  readonly key: string;
  /** The first plan that found it lacking; forgotten once all its nodes are up. */
  readonly since: Instant;
  /** It was not whole in time: its nodes are nobody's from then on, until its bucket's turn comes again. */
  readonly givenUpAt?: Instant;
}

export interface Totals {
  readonly created: number;
  readonly terminated: number;
  /** Deallocated nodes started; absent: none. */
  readonly started?: number;
}

export type SetEntries = ReadonlyMap<SetName, SetEntry>;

/** The parts of a record that hold what senders said. */
export type Held = Pick<ClusterRecord, "sets" | "separateReports" | "separatePools">;

/** All that senders said, whatever part of their sets it is. */
export function entriesOf({ sets, separateReports, separatePools }: Held): readonly SetEntry[] {
  return [...sets.values(), ...separateReports.values(), ...separatePools.values()];
}

/** By set the entry whose report is in force, if any is: a lapsed one has none. */
export function reportsOf({ sets, separateReports }: Held): SetEntries {
  return separateReports.size === 0 ? sets : new Map([...sets, ...separateReports]);
}

/** By set the entry in whose demand the pools in force are. */
export function poolsOf({ sets, separatePools }: Held): SetEntries {
  return separatePools.size === 0 ? sets : new Map([...sets, ...separatePools]);
}

/** Whether two records hold the very same entries: then they name the same bodies. */
export function holdSame(a: Held, b: Held): boolean {
  return a.sets === b.sets && a.separateReports === b.separateReports && a.separatePools === b.separatePools;
}

/** One request set in the manifest; its demand and report are bodies. A lapsed or emptied set keeps its revision for a day. */
export interface SetEntry {
  readonly revision: Revision;
  readonly intervalSeconds: number;
  readonly sentAt: Instant;
  readonly acceptedAt: Instant;
  readonly expiresAt: Instant;
  /** Digest of the demand; moves `generation`. */
  readonly digest: Digest;
  /** False once lapsed or deleted: the body is no longer kept. */
  readonly live: boolean;
  /** It was deleted: its sender says that it asks for nothing. Absent: it is in force, or was not renewed. */
  readonly ended?: true;
  /** The scheduler's report that came with it, if any. */
  readonly report?: Digest;
  /** What its bodies hold; absent: it is not in force, or an older release accepted it. */
  readonly size?: HeldSize;
}

/** What one message of a set takes of the bounds of its cluster. */
export interface HeldSize {
  readonly jobs: number;
  /** Of its bodies as JSON, before they are packed. */
  readonly bytes: number;
}

/** What we remember of each node, as CycleCloud exposes no creation time and reuses names (architecture.md, The node ledger). */
export type Ledger = ReadonlyMap<NodeId, LedgerNode>;

export interface LedgerNode {
  readonly nodeId: NodeId;
  /** As last seen. */
  readonly name: string;
  readonly array: ArrayName;
  readonly hostname?: string;
  readonly instanceId?: string;
  readonly requestId?: RequestId;
  readonly purpose: Purpose;
  /** Digest of the attributes that it was created with; absent: its array's alone, or not known. */
  readonly look?: Digest;
  readonly firstSeenAt: Instant;
  /** Of the requests that were open when it was first known of which it is: so many were asked for before; absent: none. */
  readonly askedAfter?: number;
  readonly firstReadyAt?: Instant;
  /** The first look that showed it up no more, after it was Ready; absent: it is Ready, never was, failed, or is not wanted any more. */
  readonly leftReadyAt?: Instant;
  /** The first of an unbroken line of looks that do not say whether it is wanted; absent: the last one says it. */
  readonly unclearSince?: Instant;
  readonly lastNeededAt?: Instant;
  readonly busyness: Busyness;
  readonly draining?: Draining;
  /** The key of its stop URL, from the create that made it, else from its Configuration; absent: not known. */
  readonly keyId?: string;
  /** Absent: no call of it has carried a token of its own. */
  readonly bound?: NodeBinding;
  /** Demand that the last plans put here, of sets that do not report this host while another set does; absent: none. A few are kept. */
  readonly plannedBeside?: readonly PlannedBeside[];
  /** Shown Deallocated by the last believed look. */
  readonly deallocated?: true;
  /** How far its way out of Deallocated has come; absent: nobody has asked for it since it was deallocated, or it never was. */
  readonly start?: NodeStart;
  /**
   * Absent from a believed look since; kept an hour so that a node that asks again is told yes, and longer while a report gives its host
   * resources, so that the host is not taken for one that was never ours.
   */
  readonly goneAt?: Instant;
}

/** A demand of a request set, by the name that plans have for it. */
export interface PlannedBeside {
  readonly set: SetName;
  readonly demand: string;
}

/** Unknown is a third value: idle time never runs while it holds. */
export interface Busyness {
  readonly state: "busy" | "idle" | "unknown";
  readonly since: Instant;
}

/** Marked to be stopped. Committed before the node is looked at once more, and before any terminate (architecture.md, Stopping). */
export interface Draining {
  readonly since: Instant;
  readonly by: "callback" | "unhealthy" | "idle" | "boot-timeout" | "failed" | "stuck";
  /** The plan that marked it. */
  readonly plan: number;
  /** Terminate requests accepted so far, and when the last was. */
  readonly attempts: number;
  readonly sentAt?: Instant;
}

/** What is known of the start of a deallocated node. Committed with the intent, before it is sent. */
export interface NodeStart {
  /**
   * `unsure`: sent, or about to be, and no answer known. `accepted`: CycleCloud said yes, and no look has shown it yet. `shown`: a look
   * showed it on its way up. `refused`: it was refused, or nothing came of it: it rests for a while.
   */
  readonly state: "unsure" | "accepted" | "shown" | "refused";
  /** When it was asked for, or refused; the boot timeout counts from there. */
  readonly since: Instant;
  /** When the plan that wanted it was committed; absent: at `since`. */
  readonly plannedAt?: Instant;
  /** Refused: it rests until then. */
  readonly until?: Instant;
  /** Why it was, or may have been, refused. */
  readonly message?: string;
}

/** One effect on CycleCloud that has been committed to storage and is not yet confirmed. */
export interface Intent {
  readonly id: RequestId;
  readonly owner: Owner;
  readonly committedAt: Instant;
  /** Until then only the owner may send it. */
  readonly leaseUntil: Instant;
  /** Nobody sends it after this. */
  readonly notAfter: Instant;
  /**
   * "No" to a question that begins then or later is certain: by then each send has arrived, and what came of it shows. Absent in records
   * of an older release: a while after `notAfter`.
   */
  readonly certainFrom?: Instant;
  readonly effect: Effect;
  /** What is known of earlier sends of this id. `never`: certainly not sent; `once-refused`: our only send was answered 409. */
  readonly sent: "never" | "maybe" | "once-refused";
  /** When CycleCloud was first asked for this id and knew nothing of it, since the last send. */
  readonly absentSince?: Instant;
  /** CycleCloud's words with a 409, kept until it is known whether they mean a refusal. */
  readonly refusal?: string;
}

export type Effect = CreateEffect | StartEffect | TerminateEffect;

/** One create request. What tells its sets apart when their nodes are listed is in create-requests.ts. */
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

/** What CycleCloud granted of one set: `added` may be less than its count, even 0, with CycleCloud's words why. */
export interface GrantedSet {
  readonly added: number;
  readonly message?: string;
}

/** What may make CycleCloud refuse a set: sets that agree in this stand and fall together. */
export interface CreateKind {
  readonly array: ArrayName;
  readonly machineType: MachineType;
  /** Of nodes of a dynamic node array: `array` is the one that it extends. */
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

/** Nodes of one set of a request that CycleCloud accepted and no look has shown yet: `added` minus those ever seen. */
export interface InFlight {
  readonly requestId: RequestId;
  readonly bucket: BucketKey;
  readonly purpose: Purpose;
  /** Digest of the attributes that were sent; absent: none. */
  readonly look?: Digest;
  /** The key of the stop URL that was sent; absent: none was sent, or it is not known which. */
  readonly keyId?: string;
  /** Whether they are spot nodes, as these attributes say; absent: they do not, or an older release sent them. */
  readonly spot?: boolean;
  readonly added: number;
  /** The answer was lost: `added` is what was asked for, and CycleCloud may have granted less. Absent: the answer said `added`. */
  readonly unconfirmed?: ListGrowth;
  /** NodeIds of this set that a status has ever shown. */
  readonly seen: readonly NodeId[];
  readonly since: Instant;
  /** When the plan that wanted it was committed; absent: at `since`. */
  readonly plannedAt?: Instant;
}

/** How the list of a request's nodes has grown, over all of its sets. */
export interface ListGrowth {
  /** The most nodes that it has had. */
  readonly listed: number;
  /** When the question began that first found that many. */
  readonly since: Instant;
}

/** How many nodes of an in-flight set are still to show up. */
export function stillInFlight(entry: InFlight): number {
  return Math.max(0, entry.added - entry.seen.length);
}

/** A bucket that refused, gave nothing or did not boot: nothing is sent to it until then. */
export interface Backoff {
  readonly bucket: BucketKey;
  /** Only nodes of this dynamic array rest: what it asks for was refused or did not boot, which says little of others. Absent: all do. */
  readonly dynamic?: ArrayName;
  readonly until: Instant;
  /** Length of this pause; the next refusal doubles it. */
  readonly seconds: number;
  readonly cause: "refused" | "fell-short" | "boot-failed" | "unhealthy";
  readonly message: string;
}

/** Our own absence: scale-down rests until every set that was live has been pushed again, or `until`. */
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
    /** The app itself failed at a plan. */
    | "failed";
  readonly message: string;
}

/** A message that was put aside: what the state page shows of it. */
export interface Rejection {
  readonly at: Instant;
  readonly messageId: string;
  readonly set?: string;
  readonly problems: readonly Problem[];
}
