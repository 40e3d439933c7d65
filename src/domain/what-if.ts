import type { RequestSetUpdate } from "./demand.ts";
import type { ArrayName, MachineType } from "./ids.ts";
import type { Policy } from "./policy.ts";
import type { LimitKind } from "./reason.ts";

/** The limits that CycleCloud sets; our own caps are part of the configuration. */
export const CHANGEABLE_LIMITS = [
  "cluster",
  "nodearray",
  "family-quota",
  "regional-quota",
  "regional-spot-quota",
  "bucket",
  "placement-group",
] as const satisfies readonly LimitKind[];

/** "If this limit were so much larger", or "if it were so large". */
export interface LimitChange {
  readonly kind: (typeof CHANGEABLE_LIMITS)[number];
  /** As a limit of the cluster answer is named: the array, family, region or bucket; empty for the cluster. */
  readonly name: string;
  readonly unit: "nodes" | "cores";
  readonly change: { readonly more: number } | { readonly max: number };
}

/** "If CycleCloud offered this bucket, and nothing kept us from it", or "if it did not". */
export interface BucketChange {
  readonly array: ArrayName;
  readonly machineType: MachineType;
  readonly enabled: boolean;
}

/** Inputs of a plan that are other than they are. */
export interface WhatIf {
  readonly policy: Policy;
  /** Each replaces what its set asks for. */
  readonly updates: readonly RequestSetUpdate[];
  readonly limits: readonly LimitChange[];
  readonly buckets: readonly BucketChange[];
}
