import type { RequestSetUpdate } from "./demand.ts";
import type { ArrayName, MachineType } from "./ids.ts";
import type { Policy } from "./policy.ts";
import type { LimitKind } from "./limit.ts";

/** The limits that CycleCloud sets. Our own caps are part of the configuration. */
export const CHANGEABLE_LIMITS = [
  "cluster",
  "nodearray",
  "family-quota",
  "regional-quota",
  "regional-spot-quota",
  "bucket",
  "placement-group",
] as const satisfies readonly LimitKind[];

/** "If this limit were larger by this amount", or "if it were this large". */
export interface LimitChange {
  readonly kind: (typeof CHANGEABLE_LIMITS)[number];
  /** The name of the limit in the cluster answer: the array, family, region or bucket. Empty for the cluster. */
  readonly name: string;
  readonly unit: "nodes" | "cores";
  readonly change: { readonly more: number } | { readonly max: number };
}

/** "If CycleCloud offered this bucket without our refusal", or "if it did not offer it". */
export interface BucketChange {
  readonly array: ArrayName;
  readonly machineType: MachineType;
  readonly enabled: boolean;
}

/** Changed inputs of a plan. */
export interface WhatIf {
  readonly policy: Policy;
  /** Each replaces the demand of its set. */
  readonly updates: readonly RequestSetUpdate[];
  readonly limits: readonly LimitChange[];
  readonly buckets: readonly BucketChange[];
}
