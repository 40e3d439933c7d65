import type { AllocationPolicy } from "./allocation.ts";
import type { CapRules } from "./cap-rules.ts";
import type { SizeTable } from "./catalogue.ts";
import type { ConfiguredGroups } from "./configured-groups.ts";
import type { DefaultResource } from "./default-resource.ts";
import type { ExclusiveRules } from "./exclusive.ts";
import type { ArrayName } from "./ids.ts";
import type { ModeRules } from "./mode.ts";
import type { PriceTable } from "./price.ts";
import type { SenderRules } from "./sender-rules.ts";
import type { TimeoutRules } from "./timeouts.ts";

/** What is known of a CycleCloud server: of the registry, and in no document. What we believe of its answers rests on this. */
export interface CallBounds {
  /** An answer is waited for so long; a request that has not reached CycleCloud by then never does. 1 to 90, default 60. */
  readonly callLimitSeconds: number;
  /** What CycleCloud shows may be so old when it answers. 0 to 300, default 30. */
  readonly lagSeconds: number;
  /** This many create requests are sent at a time. Before 8.4.1 CycleCloud mishandled more than one (cyclecloud-wire.md A.6). Default 1. */
  readonly parallelCreates: number;
}

export const DEFAULT_CALL_BOUNDS: CallBounds = { callLimitSeconds: 60, lagSeconds: 30, parallelCreates: 1 };
export const LONGEST_CALL_LIMIT_SECONDS = 90;
export const LONGEST_LAG_SECONDS = 300;
export const MOST_PARALLEL_CREATES = 8;

/** How a cluster is to be run: its configuration document after the door. All durations in seconds. */
export interface Policy extends TimeoutRules, CallBounds, ModeRules, ExclusiveRules {
  /** How often the timer looks: 60, by its schedule, so no configuration can change it. Autostop believes a snapshot for two of these. */
  readonly snapshotIntervalSeconds: number;
  /** No demand may stay valid longer than this; also how long a lapsed set keeps its revision. Default 86,400. */
  readonly maxExpirationSeconds: number;
  /** Accepted nodes that no look has shown after so long no longer count as coming. Default 900. */
  readonly inFlightGraceSeconds: number;
  /** A group that lacks nodes is filled for so long; then its nodes are released, and the next VM size is tried. Default 600. */
  readonly groupFillTimeoutSeconds: number;
  /** Only these arrays are ours; absent: every array with autoscaling enabled. CycleCloud never forgets an array (wire A.3). */
  readonly nodearrays?: readonly ArrayName[];
  /** scalelib's default_resources; absent: only what every node has anyway. */
  readonly defaultResources?: readonly DefaultResource[];
  /** The user's own figures of VM sizes: what they say is so. */
  readonly vmSizes?: SizeTable;
  /** What is used first: default `existing-first`. */
  readonly preference: AllocationPolicy["preference"];
  /** Which bucket gets new nodes: default `priority`. */
  readonly among: AllocationPolicy["among"];
  /** Placement groups that are used by name; absent: none. */
  readonly placementGroups?: ConfiguredGroups;
  /** What request sets and users may hold; absent: whatever the cluster has. */
  readonly caps?: CapRules;
  /** What request sets may do; absent: everything, with the documented node attributes. */
  readonly senders?: SenderRules;
  /** What nodes cost; absent: nothing is known. */
  readonly prices?: PriceTable;
  /** Plans that changed something can be explained for so long. Default 604,800: 7 days. */
  readonly planHistorySeconds: number;
  /** What placing the demand of one plan may cost, in steps; absent: as decide/constraints/budget.ts says. No configuration changes it. */
  readonly planSteps?: number;
  /** The `$schema` of the document: editors check it by that. It changes nothing here. */
  readonly schema?: string;
  /** What the app settings let go over the network unprotected, in words; of the settings, and in no document. */
  readonly insecure?: readonly string[];
}

/** The same policy with nothing acting, whatever it said. */
export function observing({ modeIsDefault: _said, ...policy }: Policy): Policy {
  return { ...policy, mode: "observe", arrayModes: new Map() };
}

/** No demand may stay valid longer, whatever a configuration says. */
export const LONGEST_EXPIRATION_SECONDS = 86_400;

export const DEFAULT_POLICY: Policy = {
  ...DEFAULT_CALL_BOUNDS,
  idleTimeoutSeconds: 300,
  bootTimeoutSeconds: 3600,
  snapshotIntervalSeconds: 60,
  maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
  inFlightGraceSeconds: 900,
  groupFillTimeoutSeconds: 600,
  preference: "existing-first",
  among: "priority",
  planHistorySeconds: 604_800,
  mode: "act",
  arrayModes: new Map(),
};
