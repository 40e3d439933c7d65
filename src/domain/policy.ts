import type { AllocationPolicy } from "./allocation.ts";
import type { CapRules } from "./cap-rules.ts";
import type { SizeTable } from "./catalogue.ts";
import type { ConfiguredGroups } from "./configured-groups.ts";
import type { DefaultResource } from "./default-resource.ts";
import type { ArrayName } from "./ids.ts";
import type { PriceTable } from "./price.ts";
import type { TimeoutRules } from "./timeouts.ts";

/** How a cluster is to be run: its configuration document after the door. All durations in seconds. */
export interface Policy extends TimeoutRules {
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
  /** What nodes cost; absent: nothing is known. */
  readonly prices?: PriceTable;
  /** Plans that changed something can be explained for so long. Default 604,800: 7 days. */
  readonly planHistorySeconds: number;
  /** False: watch and explain, change nothing. Default true. */
  readonly enabled: boolean;
  /** True: nodes that we have not asked for are never stopped. Only where the app is tried on a cluster that others run; in no document. */
  readonly ownNodesOnly?: true;
}

/** No demand may stay valid longer, whatever a configuration says. */
export const LONGEST_EXPIRATION_SECONDS = 86_400;

export const DEFAULT_POLICY: Policy = {
  idleTimeoutSeconds: 300,
  bootTimeoutSeconds: 3600,
  snapshotIntervalSeconds: 60,
  maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
  inFlightGraceSeconds: 900,
  groupFillTimeoutSeconds: 600,
  preference: "existing-first",
  among: "priority",
  planHistorySeconds: 604_800,
  enabled: true,
};
