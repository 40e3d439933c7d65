import type { NodeProperty } from "./constraint.ts";
import type { Resources, ResourceValue, Scalar } from "./resources.ts";
import type { Seconds } from "./units.ts";

/** A node, or a new node of a bucket, as constraints and default resources see it. */
export interface NodeView {
  readonly properties: NodeProperties;
  /** The free amount of each resource. For a new node the total. */
  readonly available: Resources;
  /** The total of each resource, which choices compare. Absent: nothing is taken. */
  readonly totals?: Resources;
  /** CycleCloud's id. Null if the node does not exist yet. */
  readonly nodeId: string | null;
  /** Plain values in its Configuration. */
  readonly configuration: Readonly<Record<string, Scalar>>;
  /** Names of the jobs that are on it. */
  readonly jobs: ReadonlySet<string>;
  /** Seconds since the bucket last lacked capacity. Absent: never, or the node exists. */
  readonly capacityFailureSeconds?: Seconds;
}

/** The properties that constraints may name, by name. */
export type NodeProperties = Readonly<Record<NodeProperty, ResourceValue>>;

/** The free amounts in the pools that jobs share, and the values of shared marks, by name. */
export interface SharedState {
  readonly left: ReadonlyMap<string, number>;
  readonly values: ReadonlyMap<string, Scalar>;
}
