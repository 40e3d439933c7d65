import type { AllocationPolicy } from "./allocation.ts";
import type { CapRules, SenderRules } from "./sender-rules.ts";
import type { SizeTable } from "./catalogue.ts";
import type { DefaultResource } from "./default-resource.ts";
import type { ExclusiveRules } from "./exclusive.ts";
import type { ArrayName, Digest, PlacementGroup } from "./ids.ts";
import type { ModeRules } from "./mode.ts";
import { actsOn } from "./mode.ts";
import type { PriceTable } from "./price.ts";
import { sameData } from "./same-data.ts";
import type { TimeoutRules } from "./timeouts.ts";
import type { Seconds } from "./units.ts";

/**
 * Bounds for calls to a CycleCloud server. They come from the registry and are in no configuration document. How far we trust its answers
 * depends on them.
 */
export interface CallBounds {
  /** Time limit of a call. A request that has not reached CycleCloud by then never does. 1 to 90, default 60. */
  readonly callLimitSeconds: Seconds;
  /** Maximum age of the data in CycleCloud's answers. 0 to 300, default 30. */
  readonly lagSeconds: Seconds;
  /** Maximum number of create requests at a time. Before 8.4.1 CycleCloud mishandled more than one (cyclecloud-wire.md A.6). Default 1. */
  readonly parallelCreates: number;
}

/** The bounds without an entry in the registry. */
export const DEFAULT_CALL_BOUNDS: CallBounds = { callLimitSeconds: 60, lagSeconds: 30, parallelCreates: 1 };
/** Maximum of `callLimitSeconds`. */
export const LONGEST_CALL_LIMIT_SECONDS: Seconds = 90;
/** Maximum of `lagSeconds`. */
export const LONGEST_LAG_SECONDS: Seconds = 300;
/** Maximum of `parallelCreates`. */
export const MOST_PARALLEL_CREATES = 8;

/** The configuration of one cluster, after parsing. All durations in seconds. */
export interface Policy extends TimeoutRules, CallBounds, ModeRules, ExclusiveRules {
  /** Interval of the timer's observations: 60, fixed by its schedule. Autostop trusts a snapshot for two intervals. */
  readonly snapshotIntervalSeconds: Seconds;
  /** Maximum validity of demand. A lapsed set keeps its revision for the same time. Default 86,400. */
  readonly maxExpirationSeconds: Seconds;
  /** Accepted nodes that no observation has shown for this long no longer count as coming. Default 900. */
  readonly inFlightGraceSeconds: Seconds;
  /** A group that lacks nodes is filled for this long. Then its nodes are released and the next VM size is tried. Default 600. */
  readonly groupFillTimeoutSeconds: Seconds;
  /** The only arrays that are ours. Absent: every array with autoscaling enabled. CycleCloud never forgets an array (wire A.3). */
  readonly nodearrays?: readonly ArrayName[];
  /** Arrays in which only targets that name their nodes create any. Absent: none. */
  readonly namedArrays?: readonly ArrayName[];
  /** scalelib's default_resources. Absent: only those that every node has. */
  readonly defaultResources?: readonly DefaultResource[];
  /** The user's own data about VM sizes. They override all other sources. */
  readonly vmSizes?: SizeTable;
  /** Which nodes are used first. Default `existing-first`. */
  readonly preference: AllocationPolicy["preference"];
  /** Which bucket gets new nodes: default `priority`. */
  readonly among: AllocationPolicy["among"];
  /** Whether mixes of sizes are looked for. Absent: on. */
  readonly mixes?: AllocationPolicy["mixes"];
  /** Placement groups that are used by name. Absent: none. */
  readonly placementGroups?: ConfiguredGroups;
  /** Caps on request sets and users. Absent: only the limits of the cluster. */
  readonly caps?: CapRules;
  /** Permissions of request sets. Absent: everything, with the documented node attributes. */
  readonly senders?: SenderRules;
  /** Prices of nodes. Absent: unknown. */
  readonly prices?: PriceTable;
  /** Plans that changed something can be explained for this long. Default 604,800: 7 days. */
  readonly planHistorySeconds: Seconds;
  /** Budget for placing the demand of one plan, in steps. Absent: see decide/constraints/budget.ts. Not configurable. */
  readonly planSteps?: number;
  /** The `$schema` of the document, for editors. It changes nothing here. */
  readonly schema?: string;
  /** Descriptions of app settings that send data over the network unprotected. From the settings, in no document. */
  readonly insecure?: readonly string[];
  /** Digest of the stored document from which this was read. In no document. Absent: it was not read from the store. */
  readonly document?: Digest;
  /** What a newer release refuses in this document, and what mends it. Of the stored document, in none. Absent: nothing. */
  readonly refused?: readonly string[];
}

/** The same policy, changed so that no array is acted on. */
export function observing({ modeIsDefault: _said, ...policy }: Policy): Policy {
  return { ...policy, mode: "observe", arrayModes: new Map() };
}

/** Whether a change does nothing else than to turn node arrays to observe. What the app settings say of a policy does not count. */
export function onlyObserves(before: Policy, next: Policy): boolean {
  const rest = ({ mode: _mode, arrayModes: _modes, modeIsDefault: _said, ...policy }: Policy) => ({
    ...policy,
    ...DEFAULT_CALL_BOUNDS,
    insecure: undefined,
    document: undefined,
    refused: undefined,
  });
  const acting = (array: ArrayName): boolean => actsOn(next, array) && !actsOn(before, array);
  if (next.mode === "act" && before.mode !== "act") return false;
  const named = [...before.arrayModes.keys(), ...next.arrayModes.keys()];
  return !named.some(acting) && sameData(rest(before), rest(next));
}

/** Upper bound of the validity of demand, whatever a configuration says. */
export const LONGEST_EXPIRATION_SECONDS: Seconds = 86_400;

/** The configuration of a cluster without a document. */
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

/** The key whose groups every array has (scalelib.md 7). */
export const EVERY_ARRAY = "default";

/** Placement groups that the configuration names, by array. {@link EVERY_ARRAY} has those of all arrays. */
export type ConfiguredGroups = ReadonlyMap<string, readonly PlacementGroup[]>;

/** The groups of an array's buckets: those of all arrays, then its own, without duplicates (scalelib.md 7). */
export function groupsOfArray(groups: ConfiguredGroups, array: ArrayName): readonly PlacementGroup[] {
  return [...new Set([...(groups.get(EVERY_ARRAY) ?? []), ...(groups.get(array) ?? [])])];
}
