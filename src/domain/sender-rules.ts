/** The permissions of the request sets of one rule. */
export interface SenderRule {
  /** Names of request sets, or shell patterns for them. */
  readonly requestSets: readonly string[];
  /** False: their messages are refused, and their stored data count only for busy hosts. */
  readonly write: boolean;
  /** A higher priority is lowered to this. Absent: no limit. */
  readonly maxPriority?: number;
  /** Their caps together. Absent: see `CapRules`. */
  readonly caps?: Ceiling;
  /** Their part of what the rules have of the bounds of the cluster, compared with the other rules. Absent: 1. */
  readonly share?: number;
  /** Whether their reports of hosts count. */
  readonly hosts: boolean;
  /** The pools that they may own. */
  readonly pools: Owned;
  /** The dynamic node arrays that they may define. Using a defined one needs no permission. */
  readonly dynamicArrays: Owned;
  /** The node arrays in which their targets may name nodes. Absent: all that no rule lists. */
  readonly nodeNames?: Owned;
  /** Node attributes that they may set in addition to the documented ones, as paths: `KeepAlive`, `Configuration.cyclecloud.mounts`. */
  readonly attributes: readonly string[];
  /** Keys of `Configuration` that they may set where CycleCloud has no settings of its own. Absent: every key. */
  readonly configuration?: ConfigurationKeys;
}

/** Keys of `Configuration` for all node arrays, and those of arrays with their own: paths below `Configuration`. */
export interface ConfigurationKeys {
  /** Absent: every key. */
  readonly every?: readonly string[];
  /** By the name of a node array. It counts for the dynamic arrays that extend it, too. */
  readonly byArray?: ReadonlyMap<string, readonly string[]>;
}

/**
 * What a rule may own: names and shell patterns, which then belong to no rule that does not list them, too; all that no rule lists (true); or
 * nothing.
 */
export type Owned = boolean | readonly string[];

/** The first rule that names a request set applies. A set without a rule may do everything, with the documented attributes. */
export type SenderRules = readonly SenderRule[];

/** No section `senders`. */
export const NO_SENDER_RULES: SenderRules = [];

/** Stands for every node attribute in a rule. */
export const EVERY_ATTRIBUTE = "*";

/**
 * Parts of `Configuration` that decide what a node is and runs: settings of CycleCloud and its agent, and the Chef roles and recipes of the
 * node (cyclecloud-wire.md C.2). Only documented settings may be set there, and what a rule lists in `attributes`.
 */
export const GUARDED_SETTINGS: readonly string[] = [
  "Configuration.autoscale",
  "Configuration.cyclecloud",
  "Configuration.run_list",
];

/** The section and key that a refusal names. */
export const ALLOW_ATTRIBUTES = "senders[].attributes";

/** The name that stands for all that are not named. */
export const EACH_OTHER = "*";

/** A maximum number of nodes, of cores, or both. At least one is present. */
export interface Ceiling {
  readonly nodes?: number;
  readonly cores?: number;
}

/**
 * Caps on request sets and users, by name. {@link EACH_OTHER} caps each other user separately, but all other request sets together, because
 * a sender may invent names of sets.
 */
export interface CapRules {
  readonly requestSets: ReadonlyMap<string, Ceiling>;
  readonly users: ReadonlyMap<string, Ceiling>;
}
