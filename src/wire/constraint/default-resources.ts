import type { NodeProperty } from "../../domain/constraint.ts";
import { isNodeProperty, NODE_PROPERTIES } from "../../domain/constraint.ts";
import type { DefaultResource, DefaultValue, Modifier } from "../../domain/default-resource.ts";
import { isSize, looksLikeSize, parseSize, sizeJson } from "../../domain/size.ts";
import { readConstraints } from "./constraint.ts";
import { writeConstraint } from "./constraint-json.ts";
import { refuse } from "./constraint-leaves.ts";
import type { Notes } from "../json/problems.ts";
import { nearest, problemAt, problemShowing, unknownKey } from "../json/problem.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

const OPERATIONS = ["add", "subtract", "multiply", "divide", "divide_floor"] as const;
const KEYS = ["select", "name", "value", ...OPERATIONS] as const;

/**
 * Properties that are text on every node, so that no amount can be added to them. Properties that may be null are not listed, because
 * scalelib leaves null unchanged (scalelib.md 4): a node without a placement group, a new node without a host.
 */
const TEXTS: ReadonlySet<NodeProperty> = new Set<NodeProperty>([
  "name",
  "nodearray",
  "bucket_id",
  "vm_size",
  "vm_family",
  "hostname_or_uuid",
  "location",
  "state",
  "version",
]);

/**
 * Reads a configuration's default_resources (scalelib.md 4): a list whose order matters. Python between backquotes, which the library
 * evaluates, is refused: a configuration contains data, not code (defect 54).
 */
export function readDefaultResources(value: unknown, path: string, notes: Notes): readonly DefaultResource[] {
  if (!Array.isArray(value)) {
    notes.problems.add(() => problemAt(path, value, "a list of objects with select, name and value"));
    return [];
  }
  return value.flatMap((item: unknown, index) => {
    const at = `${path}[${index}]`;
    if (isFields(item)) return readEntry(item, at, notes) ?? [];
    notes.problems.add(() => problemAt(at, item, "an object with select, name and value"));
    return [];
  });
}

function readEntry(from: Fields, path: string, notes: Notes): DefaultResource | undefined {
  const before = notes.problems.count;
  for (const key of Object.keys(from)) {
    if (!KEYS.some((known) => known === key)) notes.doubts.add(() => unknownKey(path, key, KEYS));
  }
  const { select, name } = from;
  if (!isFields(select))
    notes.problems.add(() => problemAt(`${path}.select`, select, "an object: for which nodes; {} for all"));
  if (typeof name !== "string" || name === "" || name === "__proto__")
    notes.problems.add(() => problemAt(`${path}.name`, name, "the name of a resource"));
  const selects = isFields(select) ? readConstraints(select, `${path}.select`, notes) : [];
  const value = readValue(from["value"], `${path}.value`, notes);
  const modifier = readModifier(from, path, notes);
  if (modifier !== undefined && value !== undefined)
    checkModified(from["value"], value, modifier, path, notes);
  if (notes.problems.count > before || value === undefined || typeof name !== "string") return undefined;
  const entry = { select: selects, name, value };
  return modifier === undefined ? entry : { ...entry, modifier };
}

function readValue(value: unknown, path: string, notes: Notes): DefaultValue | undefined {
  if (typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value)))
    return { kind: "literal", value };
  if (typeof value !== "string")
    return refuse(notes, path, value, "a number, true, false or a text such as node.vcpu_count");
  if (value.startsWith("`"))
    return refuse(notes, path, value, "data: node.X, node.resources.X, a number or text; code is not run");
  if (value.startsWith("node.")) return readReference(value, path, notes);
  if (!looksLikeSize(value)) return { kind: "literal", value };
  const size = parseSize(value);
  return typeof size === "string"
    ? refuse(notes, path, value, "a size such as memory::4g or size::100G")
    : { kind: "literal", value: size };
}

/** `node.X`, `node.resources.X`, `node.resources.X.value` or `node.software_configuration.X`, whose dots are part of the key. */
function readReference(text: string, path: string, notes: Notes): DefaultValue | undefined {
  const own = text.slice("node.".length);
  const configuration = after(own, "software_configuration.");
  if (configuration !== undefined) return { kind: "configuration", key: configuration };
  const resource = after(own, "resources.");
  if (resource?.endsWith(".value") === true)
    return { kind: "resource-number", resource: resource.slice(0, -".value".length) };
  if (resource !== undefined) return { kind: "resource", resource };
  if (isNodeProperty(own)) return { kind: "property", property: own };
  const near = nearest(own, NODE_PROPERTIES);
  const expected = `node.resources.X, node.software_configuration.X or node. and one of ${NODE_PROPERTIES.join(", ")}`;
  return refuse(notes, path, text, expected, near === undefined ? undefined : `node.${near}`);
}

function after(text: string, prefix: string): string | undefined {
  return text.startsWith(prefix) && text.length > prefix.length ? text.slice(prefix.length) : undefined;
}

function readModifier(from: Fields, path: string, notes: Notes): Modifier | undefined {
  const given = OPERATIONS.filter((operation) => from[operation] !== undefined && from[operation] !== null);
  const [operation] = given;
  if (operation === undefined) return undefined;
  const value = from[operation];
  const at = `${path}.${operation}`;
  if (given.length > 1)
    return refuse(notes, path, given.join(", "), `at most one of ${OPERATIONS.join(", ")}`);
  const by = readOperand(value);
  if (by === undefined) return refuse(notes, at, value, "a number, not 0, or a size such as memory::1g");
  const isDivision = operation === "divide" || operation === "divide_floor";
  if (by === "nonsense" || (typeof by !== "number" && isDivision))
    notes.doubts.add(() =>
      problemShowing(at, value, "a number, not 0, or a size such as memory::1g to add or subtract"),
    );
  return { operation, by };
}

/** Undefined: the library refuses it when it reads the configuration. Text without meaning fails in the library only later. */
function readOperand(value: unknown): Modifier["by"] | undefined {
  if (typeof value === "string") {
    const size = parseSize(value);
    return typeof size === "string" ? "nonsense" : size;
  }
  const number = typeof value === "boolean" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number !== 0 ? number : undefined;
}

function checkModified(
  written: unknown,
  value: DefaultValue,
  modifier: Modifier,
  path: string,
  notes: Notes,
): void {
  const at = `${path}.${modifier.operation}`;
  const isText =
    (value.kind === "property" && TEXTS.has(value.property)) ||
    (value.kind === "literal" && typeof value.value === "string");
  if (isText) refuse(notes, at, written, "a value that is an amount: a text has no sum or product");
  if (typeof written === "string" && written.startsWith("size::"))
    refuse(notes, at, written, "memory:: instead of size:: in a value with an operation");
}

/** An entry in a form that can be read back. */
export function writeDefaultResource({ select, name, value, modifier }: DefaultResource): Fields {
  const written = { select: writeSelect(select), name, value: writeValue(value) };
  if (modifier === undefined) return written;
  const { operation, by } = modifier;
  return { ...written, [operation]: isSize(by) ? sizeJson(by) : by };
}

/** Entries are read from one object each, so `select` has at most one constraint. */
function writeSelect(select: DefaultResource["select"]): object {
  const [only] = select;
  return only === undefined ? {} : writeConstraint(only);
}

function writeValue(value: DefaultValue): unknown {
  switch (value.kind) {
    case "literal":
      return isSize(value.value) ? sizeJson(value.value) : value.value;
    case "property":
      return `node.${value.property}`;
    case "memory":
      return "node.memory";
    case "node-id":
      return "node.resources.ccnodeid";
    case "resource":
      return `node.resources.${value.resource}`;
    case "resource-number":
      return `node.resources.${value.resource}.value`;
    case "configuration":
      return `node.software_configuration.${value.key}`;
  }
}
