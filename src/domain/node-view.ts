import type { NodeProperty } from "./constraint.ts";
import type { Resources, ResourceValue, Scalar } from "./resources.ts";

/** A node, or the node that a bucket would make, as constraints and default resources see it. */
export interface NodeView {
  readonly properties: NodeProperties;
  /** What is left of each resource; of a new node that is all. */
  readonly available: Resources;
  /** CycleCloud's id; null: there is no such node yet. */
  readonly nodeId: string | null;
  /** Members of its Configuration that are no objects themselves. */
  readonly configuration: Readonly<Record<string, Scalar>>;
  /** Names of the jobs that are on it. */
  readonly jobs: ReadonlySet<string>;
  /** Seconds since the bucket last lacked capacity; absent: never, or it is a node that exists. */
  readonly capacityFailureSeconds?: number;
}

export type NodeProperties = Readonly<Record<NodeProperty, ResourceValue>>;

/** What is left in the pools that jobs share, and the values of shared marks, by name. */
export interface SharedState {
  readonly left: ReadonlyMap<string, number>;
  readonly values: ReadonlyMap<string, Scalar>;
}
