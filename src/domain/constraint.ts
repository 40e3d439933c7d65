import type { Scalar } from "./resources.ts";
import type { Size } from "./size.ts";
import type { Seconds } from "./units.ts";

/**
 * The constraint language (scalelib.md 9) as data. A job has a list of constraints, and all must hold on each node that takes a slot of it.
 * A default resource has one that selects its nodes. wire/ parses the JSON; decide/constraints/match.ts defines the meaning of each kind.
 */
export type Constraint =
  /** Each slot takes this amount. A plain number asked of a size counts in that size's unit. */
  | { readonly kind: "amount"; readonly resource: string; readonly amount: number | Size }
  /** The resource has one of these values, preferred first; texts are shell patterns. Nothing is taken. */
  | { readonly kind: "resource-choice"; readonly resource: string; readonly choices: readonly Scalar[] }
  | {
      readonly kind: "property-choice";
      readonly property: NodeProperty;
      readonly choices: readonly Scalar[];
    }
  /** `job`: one slot of the job per node and no other job. `task`: slots of this job may share a node, other jobs may not. */
  | { readonly kind: "exclusive"; readonly scope: "job" | "task"; readonly wanted: boolean }
  | { readonly kind: "in-a-placement-group"; readonly wanted: boolean }
  | { readonly kind: "and" | "or" | "xor"; readonly of: readonly Constraint[] }
  | { readonly kind: "not"; readonly of: Constraint }
  | { readonly kind: "never"; readonly message: string }
  /**
   * Each slot takes this amount of a pool that the cluster's jobs share. `once`: the job takes it once, for any number of slots
   * (`bucket-order` only).
   */
  | { readonly kind: "pool"; readonly pool: string; readonly amount: number; readonly once?: true }
  /** A shared mark has this value. */
  | { readonly kind: "pool-value"; readonly pool: string; readonly value: Scalar }
  | SharedConsumable
  | CapacityFailureBackoff;

/** scalelib's form of `pool`: the constraint itself describes the pools. The same name and source is the same pool in every job. */
export interface SharedConsumable {
  readonly kind: "shared-consumable";
  readonly resource: string;
  readonly pools: readonly {
    readonly source: string;
    readonly initial: number;
    readonly current: number;
  }[];
  /** Taken from each of the pools by each slot. */
  readonly amount: number;
}

/** No new nodes in a bucket whose last capacity failure is more recent than this. */
interface CapacityFailureBackoff {
  readonly kind: "capacity-failure-backoff";
  /** Absent: no duration was given, so nothing is refused. */
  readonly seconds?: Seconds;
  /** As written, so that it can be written back. */
  readonly written: Scalar;
}

/** The properties of a node that a constraint may name as `node.X` (scalelib.md 3, marked Q). */
export const NODE_PROPERTIES = [
  "name",
  "nodearray",
  "bucket_id",
  "vm_size",
  "vm_family",
  "hostname",
  "fqdn",
  "hostname_or_uuid",
  "private_ip",
  "instance_id",
  "location",
  "spot",
  "vcpu_count",
  "pcpu_count",
  "gpu_count",
  "memory",
  "infiniband",
  "state",
  "exists",
  "colocated",
  "placement_group",
  "keep_alive",
  "create_time_unix",
  "last_match_time_unix",
  "delete_time_unix",
  "create_time",
  "last_match_time",
  "delete_time",
  "create_time_remaining",
  "cores_per_socket",
  "version",
] as const;

export type NodeProperty = (typeof NODE_PROPERTIES)[number];

const PROPERTIES: ReadonlySet<string> = new Set(NODE_PROPERTIES);

export function isNodeProperty(name: string): name is NodeProperty {
  return PROPERTIES.has(name);
}
