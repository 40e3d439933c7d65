import type { Constraint, NodeProperty } from "./constraint.ts";
import type { ResourceValue } from "./resources.ts";
import type { Size, SizeUnit } from "./size.ts";

/** "Nodes like this have a resource of this name": a line of default_resources (scalelib.md 4). */
export interface DefaultResource {
  /** For which nodes; all must hold, none: for all nodes. */
  readonly select: readonly Constraint[];
  readonly name: string;
  readonly value: DefaultValue;
  readonly modifier?: Modifier;
}

export type DefaultValue =
  | { readonly kind: "literal"; readonly value: ResourceValue }
  | { readonly kind: "property"; readonly property: NodeProperty }
  /** The node's memory, in this unit. */
  | { readonly kind: "memory"; readonly unit: SizeUnit }
  | { readonly kind: "node-id" }
  /** Another resource of the node; missing: empty text. */
  | { readonly kind: "resource"; readonly resource: string }
  /** The bare number of another resource, which is a size. */
  | { readonly kind: "resource-number"; readonly resource: string }
  /** A member of the node's Configuration, which is no object itself; missing: empty text. */
  | { readonly kind: "configuration"; readonly key: string };

/** The keys of a node's Configuration that lines of default_resources name. Nothing else may read one. */
export function configurationKeys(resources: readonly DefaultResource[] = []): ReadonlySet<string> {
  return new Set(resources.flatMap(({ value }) => (value.kind === "configuration" ? [value.key] : [])));
}

export interface Modifier {
  readonly operation: "add" | "subtract" | "multiply" | "divide" | "divide_floor";
  /** A size that was written as text works on sizes, in adding, subtracting and multiplying; any other text on nothing. */
  readonly by: number | Size | "nonsense";
}

const always = (name: string, value: DefaultValue): DefaultResource => ({ select: [], name, value });

/** The library's own ten, which every node has unless something else says otherwise. */
export const LIBRARY_DEFAULTS: readonly DefaultResource[] = [
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
];

/** Those and ours: jobs may say "mem" without any configuration. */
export const OWN_DEFAULTS: readonly DefaultResource[] = [
  ...LIBRARY_DEFAULTS,
  always("mem", { kind: "property", property: "memory" }),
];
