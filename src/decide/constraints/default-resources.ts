import type { Constraint } from "../../domain/constraint.ts";
import type { DefaultResource, DefaultValue, Modifier } from "../../domain/default-resource.ts";
import type { Resources, ResourceValue } from "../../domain/resources.ts";
import type { Size } from "../../domain/size.ts";
import {
  addSize,
  convertSize,
  divideSize,
  divideSizeFloor,
  isSize,
  multiplySize,
  subtractSize,
} from "../../domain/size.ts";
import { dependsOnNode, isOfOneNode } from "./depends-on-node.ts";
import { compileAll } from "./match.ts";
import type { NodeView, SharedState } from "../../domain/node-view.ts";
import type { Matcher } from "./judgement.ts";

/** Default resources made ready to be applied to many nodes. */
export interface Defaults {
  /** The configuration's, then those that every node has. */
  readonly entries: readonly Entry[];
  /** Whether all nodes of a bucket get the same: no entry looks at what a single node is called or does. */
  readonly perBucket: boolean;
}

interface Entry extends DefaultResource {
  readonly selects: Matcher;
  /** Of the product's own, which any entry may refer to, wherever it stands. */
  readonly own: boolean;
}

/** A default that cannot be had of a node, for people; the resource stays undefined there. */
export interface DefaultFault {
  readonly resource: string;
  readonly why: string;
}

/** The configuration's defaults come first, so that they can redefine our own (in the library they cannot: defect 7). */
export function compileDefaults(
  configured: readonly DefaultResource[],
  own: readonly DefaultResource[],
): Defaults {
  const ready = (entry: DefaultResource, isOwn: boolean): Entry => ({
    ...entry,
    selects: compileAll(entry.select),
    own: isOwn,
  });
  const redefined = new Set(configured.map(({ name }) => name));
  return {
    entries: [
      // What nobody redefines comes before all, so that the configuration can build on it, and once more at the end to fill what is left.
      ...own.filter(({ name }) => !redefined.has(name)).map((entry) => ready(entry, true)),
      ...configured.map((entry) => ready(entry, false)),
      ...own.filter(({ name }) => redefined.has(name)).map((entry) => ready(entry, true)),
    ],
    perBucket: configured.every(({ select, value }) => !readsNode(select, value)),
  };
}

const NOTHING_SHARED: SharedState = { left: new Map(), values: new Map() };

/**
 * The node's resources with the defaults added. A name that has a value keeps it, and the first default that gives it one wins. Each entry
 * that joins has all before it tried again, as one may select by a resource that a later one defines (scalelib.md 4).
 */
export function applyDefaults(
  defaults: Defaults,
  view: NodeView,
): { readonly resources: Resources; readonly faults: readonly DefaultFault[] } {
  const resources: Record<string, ResourceValue> = { ...view.available };
  const faults = new Map<string, DefaultFault>();
  const seen: NodeView = { ...view, available: resources };
  const { entries } = defaults;
  for (let registered = 1; registered <= entries.length; registered += 1) {
    for (const entry of entries.slice(0, registered)) {
      if (resources[entry.name] !== undefined && resources[entry.name] !== null) continue;
      if (entry.selects(seen, NOTHING_SHARED).kind === "refused") continue;
      const value = evaluate(entry, seen, entries);
      if (typeof value === "object" && value !== null && "fault" in value)
        faults.set(entry.name, { resource: entry.name, why: value.fault });
      else if (value !== undefined) resources[entry.name] = value;
    }
  }
  return { resources, faults: [...faults.values()] };
}

type Evaluated = ResourceValue | undefined | { readonly fault: string };

function evaluate(entry: DefaultResource, view: NodeView, entries: readonly Entry[]): Evaluated {
  const value = valueOf(entry.value, view, entries);
  if (entry.modifier === undefined || value === null || value === undefined) return value;
  if (typeof value === "object" && "fault" in value) return value;
  if (typeof value === "string") return { fault: `${entry.modifier.operation} on the text "${value}"` };
  return modify(typeof value === "boolean" ? Number(value) : value, entry.modifier);
}

function valueOf(value: DefaultValue, view: NodeView, entries: readonly Entry[]): Evaluated {
  switch (value.kind) {
    case "literal":
      return value.value;
    case "property":
      return view.properties[value.property];
    case "memory": {
      const { memory } = view.properties;
      return isSize(memory) ? convertSize(memory, value.unit) : memory;
    }
    case "node-id":
      return view.nodeId;
    case "resource":
      return resourceOf(value.resource, view, entries) ?? "";
    case "resource-number": {
      const found = resourceOf(value.resource, view, entries);
      return isSize(found) ? found.amount : { fault: `${value.resource} is no size` };
    }
    case "configuration":
      return view.configuration[value.key] ?? "";
  }
}

/** A resource of the node, or what it would be by our own default: so that a redefinition can build on the original. */
function resourceOf(name: string, view: NodeView, entries: readonly Entry[]): ResourceValue | undefined {
  const found = view.available[name];
  if (found !== undefined) return found;
  const own = entries.find((entry) => entry.own && entry.name === name);
  const value = own === undefined ? undefined : valueOf(own.value, view, []);
  return typeof value === "object" && value !== null && "fault" in value ? undefined : value;
}

/** Undefined: the operation makes no sense on this value (a size on a plain number, a division by a size). */
function modify(value: number | Size, { operation, by }: Modifier): number | Size | undefined {
  if (by === "nonsense") return undefined;
  if (!isSize(value)) return typeof by === "number" ? reckon(value, operation, by) : undefined;
  switch (operation) {
    case "add":
      return addSize(value, by);
    case "subtract":
      return subtractSize(value, by);
    case "multiply":
      return typeof by === "number" || by.unit === "b" ? multiplySize(value, by) : undefined;
    case "divide":
      return typeof by === "number" ? divideSize(value, by) : undefined;
    case "divide_floor":
      return typeof by === "number" ? divideSizeFloor(value, by) : undefined;
  }
}

function reckon(value: number, operation: Modifier["operation"], by: number): number {
  switch (operation) {
    case "add":
      return value + by;
    case "subtract":
      return value - by;
    case "multiply":
      return value * by;
    case "divide":
      return value / by;
    case "divide_floor":
      return Math.floor(value / by);
  }
}

function readsNode(select: readonly Constraint[], value: DefaultValue): boolean {
  if (value.kind === "property" && isOfOneNode(value.property)) return true;
  return value.kind === "configuration" || select.some(dependsOnNode);
}

/** Resources that nodes of a place share, with the one that they cannot share: ccnodeid. */
export function withNodeId(resources: Resources, nodeId: string | null): Resources {
  return resources["ccnodeid"] === null && nodeId !== null ? { ...resources, ccnodeid: nodeId } : resources;
}
