import type { Scalar } from "./resources.ts";
import type { Size } from "./size.ts";

/**
 * The constraint language (scalelib.md 9) as data. A job has a list of these and all must hold of each node that takes a slot of
 * it; a default resource has one that says for which nodes it is meant. wire/ reads the JSON, decide/constraints/match.ts says what each kind means.
 */
export type Constraint =
  /** Each slot takes so much. A plain number asked of a size counts in that size's own unit. */
  | { readonly kind: "amount"; readonly resource: string; readonly amount: number | Size }
  /** The resource has one of these values, preferred first; texts are shell patterns. Nothing is taken. */
  | { readonly kind: "resource-choice"; readonly resource: string; readonly choices: readonly Scalar[] }
  | {
      readonly kind: "property-choice";
      readonly property: NodeProperty;
      readonly choices: readonly Scalar[];
    }
  /** `job`: one slot of the job a node, and nobody else; `task`: the job's slots may share nodes with each other, with nobody else. */
  | { readonly kind: "exclusive"; readonly scope: "job" | "task"; readonly wanted: boolean }
  | { readonly kind: "in-a-placement-group"; readonly wanted: boolean }
  | { readonly kind: "and" | "or" | "xor"; readonly of: readonly Constraint[] }
  | { readonly kind: "not"; readonly of: Constraint }
  | { readonly kind: "never"; readonly message: string }
  /** Each slot takes so much of a pool that the cluster's jobs share; `once`: the job does, however many slots it has (`bucket-order` only). */
  | { readonly kind: "pool"; readonly pool: string; readonly amount: number; readonly once?: true }
  /** A shared mark has this value. */
  | { readonly kind: "pool-value"; readonly pool: string; readonly value: Scalar }
  | SharedConsumable
  | CapacityFailureBackoff;

/** scalelib's way to say `pool`: the pools stand in the constraint itself. One name and source is one pool, whoever says it. */
export interface SharedConsumable {
  readonly kind: "shared-consumable";
  readonly resource: string;
  readonly pools: readonly {
    readonly source: string;
    readonly initial: number;
    readonly current: number;
  }[];
  /** Taken from each of them by each slot. */
  readonly amount: number;
}

/** No new nodes in a bucket whose last capacity failure is more recent. */
export interface CapacityFailureBackoff {
  readonly kind: "capacity-failure-backoff";
  /** Absent: no duration was given, so it refuses nothing. */
  readonly seconds?: number;
  /** As it was written, to write it back. */
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
