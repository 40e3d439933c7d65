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
import { sizeOfConstraints, dependsOnNode, isOfOneNode } from "./constraint-facts.ts";
import { compileAll } from "./match.ts";
import type { NodeView, SharedState } from "../../domain/node-view.ts";
import type { Matcher } from "./judge.ts";

/** Default resources, compiled to be applied to many nodes. */
export interface Defaults {
  /** Those of the configuration, then those that every node has. */
  readonly entries: readonly Entry[];
  /** Whether all nodes of a bucket get the same defaults: no entry tests what belongs to a single node. */
  readonly perBucket: boolean;
  /** By resource, the positions of the entries that read it. */
  readonly readers: ReadonlyMap<string, readonly number[]>;
}

/** The steps that are left for computing defaults. */
export interface StepsLeft {
  left: number;
}

interface Entry extends DefaultResource {
  readonly selects: Matcher;
  /** What it costs to try it once, in steps of a plan. Our own cost nothing. */
  readonly steps: number;
  /** One of our own defaults. Every entry may refer to it, regardless of the order. */
  readonly own: boolean;
}

/** A default that cannot be computed for a node, for users. The resource stays undefined there. */
interface DefaultFault {
  readonly resource: string;
  readonly why: string;
}

/** Compiles defaults. Those of the configuration can redefine our own. (In scalelib they cannot: defect 7.) */
export function compileDefaults(
  configured: readonly DefaultResource[],
  own: readonly DefaultResource[],
): Defaults {
  const ready = (entry: DefaultResource, from: "ours" | "configured"): Entry => ({
    ...entry,
    selects: compileAll(entry.select),
    steps: from === "ours" ? 0 : 1 + sizeOfConstraints(entry.select),
    own: from === "ours",
  });
  const redefined = new Set(configured.map(({ name }) => name));
  const entries = [
    // Our own defaults that are not redefined come first, so that the configuration can use them. Redefined ones fill what is left.
    ...own.filter(({ name }) => !redefined.has(name)).map((entry) => ready(entry, "ours")),
    ...configured.map((entry) => ready(entry, "configured")),
    ...own.filter(({ name }) => redefined.has(name)).map((entry) => ready(entry, "ours")),
  ];
  const perBucket = configured.every(({ select, value }) => !readsNode(select, value));
  return { entries, perBucket, readers: readersOf(entries) };
}

function readersOf(entries: readonly Entry[]): Defaults["readers"] {
  const readers = new Map<string, number[]>();
  entries.forEach(({ select, value }, position) => {
    const names = new Set(select.flatMap(resourcesIn));
    if ("resource" in value) names.add(value.resource);
    for (const name of names) {
      const known = readers.get(name);
      if (known === undefined) readers.set(name, [position]);
      else known.push(position);
    }
  });
  return readers;
}

/** The resources of the node that a constraint reads. */
function resourcesIn(constraint: Constraint): readonly string[] {
  switch (constraint.kind) {
    case "and":
    case "or":
    case "xor":
      return constraint.of.flatMap(resourcesIn);
    case "not":
      return resourcesIn(constraint.of);
    default:
      return "resource" in constraint ? [constraint.resource] : [];
  }
}

const NOTHING_SHARED: SharedState = { left: new Map(), values: new Map() };

/**
 * The resources of a node with the defaults added. A resource that has a value keeps it, and the first default that provides one wins.
 * After each entry all earlier ones are tried again, because an entry may select by a resource that a later one defines (scalelib.md 4).
 * Only those are that read what has been defined since: the others would give the same again. Ends when no steps are left
 * (docs/decisions.md, "What a plan reads of the configuration is counted in its steps").
 */
export function applyDefaults(
  { entries, readers }: Defaults,
  view: NodeView,
  steps: StepsLeft = { left: Number.POSITIVE_INFINITY },
): { readonly resources: Resources; readonly faults: readonly DefaultFault[] } {
  const resources: Record<string, ResourceValue> = { ...view.available };
  const faults = new Map<string, DefaultFault>();
  const seen: NodeView = { ...view, available: resources };
  const due = new Uint8Array(entries.length);
  let first = 0;
  for (let registered = 1; registered <= entries.length && steps.left >= 0; registered += 1) {
    due[registered - 1] = 1;
    let next = registered;
    for (let position = first; position < registered; position += 1) {
      const entry = entries[position];
      if (due[position] === 0 || entry === undefined) continue;
      due[position] = 0;
      const before = resources[entry.name];
      if (before !== undefined && before !== null) continue;
      steps.left -= entry.steps;
      if (entry.selects(seen, NOTHING_SHARED).kind === "refused") continue;
      const value = evaluate(entry, seen, entries);
      if (typeof value === "object" && value !== null && "fault" in value) {
        faults.set(entry.name, { resource: entry.name, why: value.fault });
      } else if (value !== undefined && value !== before) {
        resources[entry.name] = value;
        for (const reader of readers.get(entry.name) ?? []) {
          due[reader] = 1;
          if (reader <= position && reader < next) next = reader;
        }
      }
    }
    first = next;
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

/** A resource of the node, or its value by our own default, so that a redefinition can use the original. */
function resourceOf(name: string, view: NodeView, entries: readonly Entry[]): ResourceValue | undefined {
  const found = view.available[name];
  if (found !== undefined) return found;
  const own = entries.find((entry) => entry.own && entry.name === name);
  const value = own === undefined ? undefined : valueOf(own.value, view, []);
  return typeof value === "object" && value !== null && "fault" in value ? undefined : value;
}

/** Applies a modifier. Undefined if the operation has no meaning for this value (a size on a plain number, a division by a size). */
function modify(value: number | Size, { operation, by }: Modifier): number | Size | undefined {
  if (by === "nonsense") return undefined;
  if (!isSize(value)) return typeof by === "number" ? calculate(value, operation, by) : undefined;
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

function calculate(value: number, operation: Modifier["operation"], by: number): number {
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

/** The resources that all nodes of a bucket share, with the one that they do not share: ccnodeid. */
export function withNodeId(resources: Resources, nodeId: string | null): Resources {
  return resources["ccnodeid"] === null && nodeId !== null ? { ...resources, ccnodeid: nodeId } : resources;
}
