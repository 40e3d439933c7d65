/**
 * A demand message as its sender writes it: the public contract (docs/demand.md) in types, for clients of ours. The readers in this
 * folder take anything and trust none of it.
 */
export interface DemandMessage {
  readonly version: 1;
  readonly cluster: string;
  /** One independent writer of demand; default "standard". */
  readonly requestSet?: string;
  /** Milliseconds since 1970; the highest counts. Recommended: without it the queue's clock decides, to the second. */
  readonly revision?: number;
  /** Seconds that the demand stays valid without a renewal; default 300. */
  readonly expirationInterval?: number;
  /** Without `nodearrays` and `jobs` the set's demand stays as it is; empty lists ask for nothing. */
  readonly nodearrays?: NodearrayMessage | readonly NodearrayMessage[];
  readonly jobs?: JobMessage | readonly JobMessage[];
  /** With `nodearrays` or `jobs`, absent: the set reports no hosts. */
  readonly schedulerNodes?: readonly SchedulerNodeMessage[];
  /** With `nodearrays` or `jobs`, absent: the set has no pools. */
  readonly pools?: readonly PoolMessage[];
}

/** A message as somebody's file has it, for the app's reader to judge: no more is known of it than where it is to go. */
export interface UncheckedMessage extends Pick<
  DemandMessage,
  "version" | "cluster" | "requestSet" | "revision"
> {
  readonly [member: string]: unknown;
}

/** Asks only for a reconcile of the cluster, not before `at` (milliseconds since 1970). */
export interface WakeMessage {
  readonly version: 1;
  readonly cluster: string;
  readonly wake: true;
  readonly at?: number;
  /** The app notes that a message with this id came through the queue. Ids that begin with "tick-" are its own. */
  readonly id?: string;
}

/** A target: exactly one of the Target... keys, and with TargetGroupCount one of the Group... keys. Other keys are node attributes. */
export interface NodearrayMessage {
  readonly Name: string;
  readonly TargetCount?: number;
  readonly TargetCoreCount?: number;
  readonly TargetGroupCount?: number;
  readonly GroupCoreCount?: number;
  readonly GroupInstanceCount?: number;
  readonly MachineType?: string | readonly string[];
  readonly Configuration?: Readonly<Record<string, unknown>>;
  /** A node array of its own, of which the cluster's template knows nothing; with `Extends`. */
  readonly Dynamic?: boolean;
  /** The node array in which the nodes of a dynamic one are created, and whose attributes they have as far as these say nothing else. */
  readonly Extends?: string;
  readonly [attribute: string]: unknown;
}

/** A job with its whole need, queued and running. */
export interface JobMessage {
  readonly name: string;
  readonly user?: string;
  /** Higher goes first where capacity is scarce; default 0. */
  readonly priority?: number;
  /** All slots; with a node-count, slots on each of the nodes. Default 1. */
  readonly iterations?: number;
  /** Of scalelib: the slots that do not run yet. With this key, or `metadata`, `iterations` are ignored beside a node-count. */
  readonly "iterations-remaining"?: number;
  readonly "node-count"?: number;
  readonly constraints?: ConstraintMessage | readonly ConstraintMessage[];
  /** All slots in one bucket and one placement group, or none. */
  readonly colocated?: boolean;
  /** The job's nodes run nothing else. */
  readonly exclusive?: boolean;
  /** With a node-count: all of the nodes or none (scatter), or, as in scalelib, as many as can be had with a slot on each (pack). */
  readonly "packing-strategy"?: "pack" | "scatter";
  /** Where slots run already: each mention of a host is one slot. */
  readonly "executing-hostnames"?: readonly string[];
  readonly placed?: readonly { readonly hostname: string; readonly iterations: number }[];
  /** With a node-count: its nodes need not be of one bucket. */
  readonly span?: boolean;
  /** Whether nodes that may be evicted will do; absent: yes, but where price decides only if its constraints name its node arrays or speak of node.spot. */
  readonly spot?: "never" | "allow" | "only";
  /** Seconds; checked, and changes nothing yet. */
  readonly walltime?: number;
  /** Of scalelib: what its driver notes of the job. Shown, and changes no placement; at most 4096 characters of JSON, 8 levels deep. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** scalelib's constraint JSON, as far as constraint.ts understands it. */
export type ConstraintMessage = Readonly<Record<string, unknown>>;

/** What the scheduler knows of one of its hosts; without jobs it runs none. */
export interface SchedulerNodeMessage {
  readonly hostname: string;
  readonly jobs?: readonly string[];
  readonly jobIds?: readonly string[];
  readonly state?: string;
  readonly resources?: Readonly<Record<string, unknown>>;
  readonly available?: Readonly<Record<string, unknown>>;
}

export interface PoolMessage {
  readonly name: string;
  readonly total: number;
  readonly used: number;
}
