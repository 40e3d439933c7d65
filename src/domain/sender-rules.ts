import type { Ceiling } from "./cap-rules.ts";

/** What the request sets of one rule may do. */
export interface SenderRule {
  /** Names of request sets, or shell patterns for them. */
  readonly requestSets: readonly string[];
  /** False: their messages are refused, and what is stored of them counts for nothing but busy hosts. */
  readonly write: boolean;
  /** A higher priority is lowered to this; absent: none is. */
  readonly maxPriority?: number;
  /** What they may hold together; absent: see `CapRules`. */
  readonly caps?: Ceiling;
  /** Whether their reports of hosts count. */
  readonly hosts: boolean;
  readonly pools: boolean;
  /** Whether they may define dynamic node arrays. Asking for one that is defined needs no permission. */
  readonly dynamicArrays: boolean;
  /** Node attributes that they may set beside the documented ones, as paths: `KeepAlive`, `Configuration.cyclecloud.mounts`. */
  readonly attributes: readonly string[];
}

/** The first rule that names a request set counts for it. A set that no rule names may do everything, with the documented attributes. */
export type SenderRules = readonly SenderRule[];

/** No section `senders`. */
export const NO_SENDER_RULES: SenderRules = [];

/** Stands for every node attribute in a rule. */
export const EVERY_ATTRIBUTE = "*";

/** The section and key that a refusal names. */
export const ALLOW_ATTRIBUTES = "senders[].attributes";
