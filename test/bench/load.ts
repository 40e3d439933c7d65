import type { AllocationPolicy } from "../../src/domain/allocation.ts";

/** One thing to measure: an input for each size, and how it is to be planned. */
export interface Load {
  readonly name: string;
  /** What the sizes count: "jobs", "tasks" or "pods". */
  readonly unit: string;
  readonly sizes: readonly [number, ...number[]];
  readonly policy: AllocationPolicy;
  /** The same input for the same size, always. */
  readonly input: (size: number) => LoadInput;
}

/** All that one run is given, as plain JSON: `JSON.parse` of its text is what planning is compared with. */
export interface LoadInput {
  /** As under `jobs` of a demand message. */
  readonly jobs: readonly JobText[];
  readonly cluster: ClusterText;
}

/** A job of a demand message; only the keys that loads use. */
export interface JobText {
  readonly name: string;
  readonly user?: string;
  readonly iterations?: number;
  readonly "node-count"?: number;
  readonly colocated?: boolean;
  readonly constraints: readonly Readonly<Record<string, unknown>>[];
}

/** A cluster before any plan. */
export interface ClusterText {
  readonly buckets: readonly BucketText[];
  readonly nodes: readonly NodeText[];
}

export interface BucketText {
  readonly array: string;
  readonly machineType: string;
  readonly family: string;
  readonly cores: number;
  /** Amounts as numbers, sizes as "memory::4g", marks as other text. */
  readonly resources: Readonly<Record<string, number | string>>;
  /** Of one node, an hour. */
  readonly price: number;
  readonly maxPlacementGroupSize?: number;
}

export interface NodeText {
  readonly id: string;
  readonly hostname: string;
  /** Which bucket it is of: position in `buckets`. */
  readonly bucket: number;
}

/** Existing nodes first, then new ones of the preferred bucket. */
export const BY_PRIORITY: AllocationPolicy = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "existing-first",
  among: "priority",
};

export const CHEAPEST: AllocationPolicy = { ...BY_PRIORITY, among: "cheapest" };
