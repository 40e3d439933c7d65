/**
 * A demand message as its sender writes it: the public contract (docs/demand.md) as types, for our clients. The readers in this folder
 * accept any input and trust none of it.
 */
export interface DemandMessage {
  readonly version: 1;
  readonly cluster: string;
  /** One independent writer of demand. Default "standard". */
  readonly requestSet?: string;
  /** Milliseconds since 1970. The highest revision wins. Recommended: without it the queue's clock decides, to the second. */
  readonly revision?: number;
  /** Seconds that the demand stays valid without a renewal. Default 300. */
  readonly expirationInterval?: number;
  /** Milliseconds since 1970: when the sender began to read its scheduler. A report that is 30 s old proves no host idle. */
  readonly readAt?: number;
  /** Without `nodearrays` and `jobs` the set's demand stays unchanged. Empty lists ask for nothing. */
  readonly nodearrays?: NodearrayMessage | readonly NodearrayMessage[];
  readonly jobs?: JobMessage | readonly JobMessage[];
  /** Absent beside `nodearrays` or `jobs`: the set reports no hosts. */
  readonly schedulerNodes?: readonly SchedulerNodeMessage[];
  /** Absent beside `nodearrays` or `jobs`: the set has no pools. */
  readonly pools?: readonly PoolMessage[];
  /** Beside `nodearrays` alone: the set's demand for other node arrays, and its jobs, stay until they expire. Absent: they end. */
  readonly others?: "stay";
}

/** A message from a file, which only the app's reader checks. Only its destination is known. */
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

/** A target: exactly one of the Target... keys or NodeNames, and with TargetGroupCount one of the Group... keys. Other keys are node attributes. */
export interface NodearrayMessage {
  readonly Name: string;
  readonly TargetCount?: number;
  readonly TargetCoreCount?: number;
  readonly TargetGroupCount?: number;
  readonly GroupCoreCount?: number;
  readonly GroupInstanceCount?: number;
  readonly MachineType?: string | readonly string[];
  readonly Configuration?: Readonly<Record<string, unknown>>;
  /** A dynamic node array that the cluster's template does not have. With `Extends`. */
  readonly Dynamic?: boolean;
  /** The node array in which the nodes of a dynamic one are created. They have its attributes, except those that are given here. */
  readonly Extends?: string;
  /** Exactly these nodes, instead of a Target... key: a list of names, or a text such as "htc-[1-3,7]". */
  readonly NodeNames?: string | readonly string[];
  /** With NodeNames: the placement group of new nodes. */
  readonly PlacementGroup?: string;
  /** With NodeNames: the moment of the resume that the names wait for, in milliseconds since 1970. */
  readonly Since?: number;
  /** With NodeNames: one job needs all of them at once, so none is created without the others. */
  readonly Together?: boolean;
  /** Idle nodes of the array that were made with other attributes are replaced, some at a time. */
  readonly "replace-when-idle"?: boolean;
  readonly [attribute: string]: unknown;
}

/** A job with its whole need, queued and running. */
export interface JobMessage {
  readonly name: string;
  readonly user?: string;
  /** Higher priorities are placed first when capacity is scarce. Default 0. */
  readonly priority?: number;
  /** All slots. With a node-count, slots on each of the nodes. Default 1. */
  readonly iterations?: number;
  /** From scalelib: the slots that do not run yet. With this key, or `metadata`, `iterations` are ignored beside a node-count. */
  readonly "iterations-remaining"?: number;
  readonly "node-count"?: number;
  readonly constraints?: ConstraintMessage | readonly ConstraintMessage[];
  /** All slots in one bucket and one placement group, or none at all. */
  readonly colocated?: boolean;
  /** The job's nodes run no other job. */
  readonly exclusive?: boolean;
  /** With a node-count: all nodes or none (scatter), or as in scalelib as many as possible with a slot on each (pack). */
  readonly "packing-strategy"?: "pack" | "scatter";
  /** Hosts of slots that already run: each mention of a host is one slot. */
  readonly "executing-hostnames"?: readonly string[];
  readonly placed?: readonly { readonly hostname: string; readonly iterations: number }[];
  /** With a node-count: its nodes may be in different buckets. */
  readonly span?: boolean;
  /**
   * Whether nodes that may be evicted are acceptable. Absent: yes. If price decides, only if its constraints name its node arrays or test
   * node.spot.
   */
  readonly spot?: "never" | "allow" | "only";
  /** Seconds. Checked, but has no effect yet. */
  readonly walltime?: number;
  /**
   * From scalelib: notes of its driver about the job. Shown, without effect on placement. At most 4096 characters of JSON, 8 levels deep.
   */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** scalelib's constraint JSON, as far as constraint.ts supports it. */
type ConstraintMessage = Readonly<Record<string, unknown>>;

/** One host as the scheduler reports it. Without jobs it runs none. */
export interface SchedulerNodeMessage {
  readonly hostname: string;
  readonly jobs?: readonly string[];
  readonly jobIds?: readonly string[];
  readonly state?: string;
  /** Why its node must not be stopped, as long as this report counts. */
  readonly keep?: string;
  readonly resources?: Readonly<Record<string, unknown>>;
  readonly available?: Readonly<Record<string, unknown>>;
}

export type PoolMessage =
  | { readonly name: string; readonly total: number; readonly used: number }
  /** A mark, which jobs test by its value. */
  | { readonly name: string; readonly value: string | number | boolean | null };
