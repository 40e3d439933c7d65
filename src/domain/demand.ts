import type { Constraint } from "./constraint.ts";
import type { ArrayName, ClusterName, Digest, MachineType, PlacementGroup, SetName } from "./ids.ts";
import type { Resources, Scalar } from "./resources.ts";
import { compareText } from "./text.ts";
import type { Bytes, Instant, Seconds } from "./units.ts";

/**
 * One thing that a request set asks for, in the single form that the core uses. wire/ translates every message into it. Targets are totals,
 * not increments (cyclecloud-wire.md C.2). A job gives its whole need, queued and running iterations together (docs/demand.md).
 */
export type Demand = TargetDemand | GroupDemand | JobDemand;

interface Common {
  /** Unique within its set. Shown to users. */
  readonly id: string;
  /** Higher priorities are placed first. Equal priorities are placed in the order of `position`. */
  readonly priority: number;
  /** Position in its message. */
  readonly position: number;
  /** Where it ends before its set does: a later message named other node arrays alone. Absent: with its set. */
  readonly until?: Instant;
}

/** "This array shall have this many nodes (or cores) in total": a lower bound, never a reason to stop a node. */
export interface TargetDemand extends Common {
  readonly kind: "target";
  readonly array: ArrayName;
  readonly amount: { readonly unit: "nodes" | "cores"; readonly count: number };
  /** VM sizes that may be created, preferred first. Absent: any bucket of the array. */
  readonly machineTypes?: readonly MachineType[];
  /** Node attributes to send with each create, merged deep (cyclecloud-wire.md A.6). */
  readonly attributes?: NodeAttributes;
  /** Present if `array` is a dynamic array: the array in which its nodes are created. */
  readonly extends?: ArrayName;
  /** Idle nodes of the array that were made with other attributes are replaced. Absent: they stay until they are stopped. */
  readonly replaceWhenIdle?: true;
  /** Exactly these nodes. `amount` is then their number. Absent: any nodes of the array. */
  readonly named?: NamedNodes;
}

/** The nodes that a target names (docs/protocol.md, Named nodes). */
export interface NamedNodes {
  /** Each once, in the order of the message. */
  readonly names: readonly string[];
  /** The placement group of new nodes. Absent: none. */
  readonly group?: PlacementGroup;
  /** The moment of the resume that the names wait for, in milliseconds by the scheduler's clock. It is only compared. Absent: not said. */
  readonly since?: number;
  /** One job needs all of them at once, so that none is created without the others. Absent: each is of use by itself. */
  readonly together?: true;
  /** Names that it may not have, because a set under another rule for senders holds them. Absent: none. A message has none. */
  readonly heldByOthers?: readonly string[];
}

/** "This array shall have this many groups, each with this many nodes (or cores) in a placement group of its own." */
export interface GroupDemand extends Common {
  readonly kind: "groups";
  readonly array: ArrayName;
  readonly groups: number;
  readonly size: { readonly unit: "nodes" | "cores"; readonly count: number };
  readonly machineTypes?: readonly MachineType[];
  readonly attributes?: NodeAttributes;
  readonly extends?: ArrayName;
}

/** A job: a number of identical slots (iterations), or of whole-node tasks if `nodeCount` is given. */
export interface JobDemand extends Common {
  readonly kind: "job";
  readonly name: string;
  readonly user?: string;
  /** The resources that each slot takes from its node, and the conditions on that node. All must hold. */
  readonly constraints: readonly Constraint[];
  /** All slots, queued and running. 0 asks for nothing. */
  readonly iterations: number;
  /** Spread the slots over exactly this many nodes, `iterations` on each. Absent: pack them. */
  readonly nodeCount?: number;
  /** All slots in one bucket and one placement group, or none at all. */
  readonly colocated: boolean;
  /** Slots that already run, by host. They are placed on their host first and are never moved. */
  readonly placed: readonly PlacedSlots[];
  /** The nodes of a gang may be in different buckets. */
  readonly span?: true;
  /** Fewer than `nodeCount` nodes are acceptable, as many as possible, in any buckets: scalelib's packing strategy "pack". */
  readonly partial?: true;
  /** Notes of the scheduler's driver, for users to read. No decision depends on them. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Whether nodes that may be evicted are acceptable. Absent: not specified. */
  readonly spot?: "never" | "allow" | "only";
}

/** Slots of a job that run on a host already. */
export interface PlacedSlots {
  readonly hostname: string;
  readonly iterations: number;
}

/** Attributes that are passed to CycleCloud unchanged. Opaque to us. */
export type NodeAttributes = Readonly<Record<string, unknown>>;

/** A demand together with its request set: the input of the allocator. */
export interface RankedDemand {
  readonly set: SetName;
  readonly demand: Demand;
}

/** A job that could not be read. Only this job is refused; the others of its message count. */
export interface RejectedJob {
  readonly name: string;
  readonly problems: readonly Problem[];
}

/** One error in an input: where it is, what was found, what was expected. */
export interface Problem {
  readonly path: string;
  readonly found: string;
  readonly expected: string;
  /** The known key that is most similar to an unknown one. */
  readonly didYouMean?: string;
}

/** The body of a request set: all that its digest covers. */
export interface SetDemand {
  readonly demands: readonly Demand[];
  readonly pools: readonly Pool[];
  /** The first jobs that could not be read, with their errors. */
  readonly rejectedJobs: readonly RejectedJob[];
  /** Number of further jobs that could not be read. Absent: none. */
  readonly moreRejectedJobs?: number;
}

/** A licence or quota that the cluster's jobs share, or a mark that they test. */
export interface Pool {
  readonly name: string;
  readonly total: number;
  readonly used: number;
  /** The value of a mark. Nothing can be taken from a mark, so its total is 0. */
  readonly value?: Scalar;
}

/** One host as a scheduler reports it. */
export interface SchedulerNode {
  readonly hostname: string;
  /** Jobs on the host. Empty: no job runs there. */
  readonly jobs: readonly string[];
  /** Why its node must not be stopped. Absent: it may be. */
  readonly keep?: string;
  readonly state?: string;
  /** The host's total resources. Never empty. Absent: the scheduler does not report them. */
  readonly resources?: Resources;
  /** The resources that are free now. Never empty. Absent: the scheduler does not report them. */
  readonly available?: Resources;
}

/** Decides which of two messages of one set is newer. Compared by `value`, then by `tieBreak` (architecture.md, Revisions). */
export interface Revision {
  /** Milliseconds since 1970: the explicit revision, the second of insertion into the queue, or the HTTP clock. */
  readonly value: number;
  /** The message id. Empty for explicit revisions. */
  readonly tieBreak: string;
}

/** Orders revisions: by value, then by tie-break. Negative if `a` is older. */
export function compareRevisions(a: Revision, b: Revision): number {
  return a.value - b.value || compareText(a.tieBreak, b.tieBreak);
}

/** How far an explicit revision may be ahead of our clock (architecture.md, Revisions). */
export const REVISION_LEEWAY_SECONDS: Seconds = 300;

/** A demand message after parsing: checked, translated, with absolute times. */
export type RequestSetUpdate = WholeUpdate | PartialUpdate;

interface Envelope {
  readonly cluster: ClusterName;
  readonly set: SetName;
  readonly revision: Revision;
  readonly intervalSeconds: Seconds;
  /** The interval that the message asked for, if that was more than is allowed. Absent: it was not. */
  readonly askedIntervalSeconds?: Seconds;
  /** When it was put into the queue or arrived over HTTP. */
  readonly sentAt: Instant;
  /** When its sender began to read its scheduler. What it reports is as old as that. Absent: as old as the message. */
  readonly readAt?: Instant;
  /** The senders' clocks run at another speed than ours, so its revision is no time of ours. Absent: they run at the same. */
  readonly untimed?: true;
  readonly expiresAt: Instant;
  /** What the set asks for beside the node arrays that are named stays until it expires. Absent: it ends. */
  readonly others?: "stay";
}

/** A message with `nodearrays` or `jobs`. It replaces all three parts of the set: a part that it leaves out becomes empty. */
export interface WholeUpdate extends Envelope {
  /** Digest of the demand's canonical text. Equal digests mean equal demand. */
  readonly digest: Digest;
  readonly demand: SetDemand;
  /** Of the demand as JSON, before compression. */
  readonly bytes: Bytes;
  /** The set ends at once, as with DELETE: only its revision is kept. Absent: it is in force until it expires. */
  readonly ends?: true;
  /** Absent: this scheduler does not report hosts. */
  readonly schedulerNodes?: readonly SchedulerNode[];
}

/** A message with neither. It replaces the parts that it contains, at least one, and leaves the set's demand unchanged. */
export interface PartialUpdate extends Envelope {
  readonly demand?: undefined;
  readonly schedulerNodes?: readonly SchedulerNode[];
  readonly pools?: readonly Pool[];
}
