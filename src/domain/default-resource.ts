import type { Constraint, NodeProperty } from "./constraint.ts";
import type { ResourceValue } from "./resources.ts";
import type { Size, SizeUnit } from "./size.ts";

/** "Nodes like this have a resource of this name": a line of default_resources (scalelib.md 4). */
export interface DefaultResource {
  /** The nodes that get it: all constraints must hold. An empty list selects all nodes. */
  readonly select: readonly Constraint[];
  readonly name: string;
  readonly value: DefaultValue;
  readonly modifier?: Modifier;
}

/** The source of the value of a default resource. */
export type DefaultValue =
  | { readonly kind: "literal"; readonly value: ResourceValue }
  | { readonly kind: "property"; readonly property: NodeProperty }
  /** The node's memory, in this unit. */
  | { readonly kind: "memory"; readonly unit: SizeUnit }
  | { readonly kind: "node-id" }
  /** Another resource of the node. Empty text if missing. */
  | { readonly kind: "resource"; readonly resource: string }
  /** The bare number of another resource, which is a size. */
  | { readonly kind: "resource-number"; readonly resource: string }
  /** A plain value in the node's Configuration. Empty text if missing. */
  | { readonly kind: "configuration"; readonly key: string };

/** The keys of a node's Configuration that default_resources names. No other code may read them. */
export function configurationKeys(resources: readonly DefaultResource[] = []): ReadonlySet<string> {
  return new Set(resources.flatMap(({ value }) => (value.kind === "configuration" ? [value.key] : [])));
}

/** An operation on the value. */
export interface Modifier {
  readonly operation: "add" | "subtract" | "multiply" | "divide" | "divide_floor";
  /** A size that was written as text can be added to, subtracted from and multiplied with sizes. Other text has no effect. */
  readonly by: number | Size | "nonsense";
}

const always = (name: string, value: DefaultValue): DefaultResource => ({ select: [], name, value });

/**
 * The ten defaults of the library, which every node has unless another source overrides them, and "mem" of our own, so that jobs may use it
 * without any configuration.
 */
export const OWN_DEFAULTS: readonly DefaultResource[] = [
  always("ncpus", { kind: "property", property: "vcpu_count" }),
  always("pcpus", { kind: "property", property: "pcpu_count" }),
  always("ngpus", { kind: "property", property: "gpu_count" }),
  always("memb", { kind: "memory", unit: "b" }),
  always("memkb", { kind: "memory", unit: "k" }),
  always("memmb", { kind: "memory", unit: "m" }),
  always("memgb", { kind: "memory", unit: "g" }),
  always("memtb", { kind: "memory", unit: "t" }),
  always("nodearray", { kind: "property", property: "nodearray" }),
  always("ccnodeid", { kind: "node-id" }),
  always("mem", { kind: "property", property: "memory" }),
];
