import type { Constraint } from "./constraint.ts";
import type { ArrayName, ClusterName, Digest, MachineType, SetName } from "./ids.ts";
import type { Resources, Scalar } from "./resources.ts";
import { compareText } from "./text.ts";
import type { Instant } from "./units.ts";

/**
 * What a request set asks for, in the one form that the core knows; wire/ lowers every message to it. Targets are totals, not increments
 * (cyclecloud-wire.md C.2); jobs give their whole need, queued and running iterations together (docs/demand.md).
 */
export type Demand = TargetDemand | GroupDemand | JobDemand;

interface Common {
  /** Unique within its set; shown to users. */
  readonly id: string;
  /** Higher goes first where capacity is scarce; equal priorities go by `position`. */
  readonly priority: number;
  /** Position in the message that brought it. */
  readonly position: number;
}

/** "This array shall have so many nodes (or cores) in all": a floor, never a reason to stop anything. */
export interface TargetDemand extends Common {
  readonly kind: "target";
  readonly array: ArrayName;
  readonly amount: { readonly unit: "nodes" | "cores"; readonly count: number };
  /** VM sizes that may be created, preferred first; absent: any bucket of the array. */
  readonly machineTypes?: readonly MachineType[];
  /** Node attributes to send with each create, merged deep (cyclecloud-wire.md A.6). */
  readonly attributes?: NodeAttributes;
  /** Present: `array` is a dynamic one, and its nodes are created in this. */
  readonly extends?: ArrayName;
}

/** "This array shall have so many groups, each of so many nodes (or cores) together in a placement group of its own." */
export interface GroupDemand extends Common {
  readonly kind: "groups";
  readonly array: ArrayName;
  readonly groups: number;
  readonly size: { readonly unit: "nodes" | "cores"; readonly count: number };
  readonly machineTypes?: readonly MachineType[];
  readonly attributes?: NodeAttributes;
  readonly extends?: ArrayName;
}

/** A job: so many identical slots (iterations), or so many whole-node tasks when `nodeCount` is given. */
export interface JobDemand extends Common {
  readonly kind: "job";
  readonly name: string;
  readonly user?: string;
  /** What each slot takes from its node, and which nodes will do: all must hold. */
  readonly constraints: readonly Constraint[];
  /** All slots, queued and running; 0 is nothing. */
  readonly iterations: number;
  /** Spread the slots over exactly so many nodes, `iterations` on each; absent: pack. */
  readonly nodeCount?: number;
  /** All slots in one bucket and one placement group, or none. */
  readonly colocated: boolean;
  /** Slots that already run, by host; they occupy their host first and are never moved. */
  readonly placed: readonly PlacedSlots[];
  /** The nodes of a gang need not be of one bucket. */
  readonly span?: true;
  /** Of `nodeCount` nodes as many as can be had will do, in any buckets: scalelib's packing strategy "pack". */
  readonly partial?: true;
  /** What its scheduler's driver notes of it, for people to read; nothing is decided by it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Whether nodes that may be evicted will do; absent: nothing was said. */
  readonly spot?: "never" | "allow" | "only";
}

export interface PlacedSlots {
  readonly hostname: string;
  readonly iterations: number;
}

/** Attributes passed through to CycleCloud as they are; unknown to us, so opaque. */
export type NodeAttributes = Readonly<Record<string, unknown>>;

/** A demand with the set that asked for it: what the allocator sees. */
export interface RankedDemand {
  readonly set: SetName;
  readonly demand: Demand;
}

/** A job that could not be read: refused by itself, the others stand. */
export interface RejectedJob {
  readonly name: string;
  readonly problems: readonly Problem[];
}

/** One thing wrong with an input: where, what was there, what should have been. */
export interface Problem {
  readonly path: string;
  readonly found: string;
  readonly expected: string;
  /** The known key nearest to an unknown one. */
  readonly didYouMean?: string;
}

/** The body of a request set: everything that its digest covers. */
export interface SetDemand {
  readonly demands: readonly Demand[];
  readonly pools: readonly Pool[];
  /** The first ones, with what is wrong with them. */
  readonly rejectedJobs: readonly RejectedJob[];
  /** How many more jobs could not be read; absent: none. */
  readonly moreRejectedJobs?: number;
}

/** A licence or quota shared by the cluster's jobs, or a mark that they look at. */
export interface Pool {
  readonly name: string;
  readonly total: number;
  readonly used: number;
  /** A mark's value; a mark has nothing to take, so its total is 0. */
  readonly value?: Scalar;
}

/** What a scheduler knows of one of its hosts. */
export interface SchedulerNode {
  readonly hostname: string;
  /** Jobs on the host; empty: it runs none. */
  readonly jobs: readonly string[];
  readonly state?: string;
  /** What the host has in all. Never empty; absent: the scheduler does not say. */
  readonly resources?: Resources;
  /** What is left of that now, with all that runs there subtracted. Never empty; absent: the scheduler does not say. */
  readonly available?: Resources;
}

/** Which of two messages of one set is the newer. Compared by `value`, then by `tieBreak` (architecture.md, Revisions). */
export interface Revision {
  /** Milliseconds since 1970: explicit, or the queue's insertion second, or the HTTP clock. */
  readonly value: number;
  /** The message id; empty for explicit revisions. */
  readonly tieBreak: string;
}

/** Orders revisions: by value, then by tie-break. Negative if `a` is older. */
export function compareRevisions(a: Revision, b: Revision): number {
  return a.value - b.value || compareText(a.tieBreak, b.tieBreak);
}

/** How far an explicit revision may be ahead of our clock (architecture.md, Revisions). */
export const REVISION_LEEWAY_SECONDS = 300;

/** A demand message after the door: checked, lowered, with its absolute times. */
export type RequestSetUpdate = WholeUpdate | PartialUpdate;

interface Envelope {
  readonly cluster: ClusterName;
  readonly set: SetName;
  readonly revision: Revision;
  readonly intervalSeconds: number;
  /** What the message asked for, where that was more than is allowed; absent: it was not. */
  readonly askedIntervalSeconds?: number;
  /** When it was put into the queue or arrived over HTTP. */
  readonly sentAt: Instant;
  readonly expiresAt: Instant;
}

/** A message with `nodearrays` or `jobs`: it states all three parts of the set, and a part that it leaves out as none. */
export interface WholeUpdate extends Envelope {
  /** Digest of the demand's canonical text; equal digests ask for the same. */
  readonly digest: Digest;
  readonly demand: SetDemand;
  /** Of the demand as JSON, before it is packed. */
  readonly bytes: number;
  /** The set is over at once, as DELETE says: only its revision is kept. Absent: it is in force until it expires. */
  readonly ends?: true;
  /** Absent: this scheduler does not report hosts. */
  readonly schedulerNodes?: readonly SchedulerNode[];
}

/** A message with neither: it changes the parts that it has, at least one, and leaves the set's demand as it is. */
export interface PartialUpdate extends Envelope {
  readonly demand?: undefined;
  readonly schedulerNodes?: readonly SchedulerNode[];
  readonly pools?: readonly Pool[];
}
