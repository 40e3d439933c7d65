import type { Problem } from "../domain/demand.ts";
import { arrayName, machineType, type ArrayName, type MachineType } from "../domain/ids.ts";
import type { Resources } from "../domain/resources.ts";
import { isFields, listOrOne } from "./fields.ts";
import { excerpt, problemAt } from "./problem.ts";
import { bytesOfSize, gibOfBytes } from "./size.ts";

/** What one constraint comes to. */
export type Constraint =
  /** So much of a resource is taken by each slot; "mem" in GiB. */
  | { readonly kind: "amount"; readonly resource: string; readonly amount: number }
  /** True: the job shares its nodes with nobody. */
  | { readonly kind: "exclusive"; readonly value: boolean }
  | { readonly kind: "in-a-placement-group" }
  /** Any of these, preferred first. */
  | { readonly kind: "machine-types"; readonly machineTypes: readonly MachineType[] }
  | { readonly kind: "arrays"; readonly arrays: readonly ArrayName[] };

/** All constraints of a job together. */
export interface Requirements {
  readonly needs: Resources;
  readonly exclusive: boolean;
  readonly colocated: boolean;
  readonly machineTypes?: readonly MachineType[];
  readonly arrays?: readonly ArrayName[];
}

const NO_REQUIREMENTS: Requirements = { needs: {}, exclusive: false, colocated: false };

/** Keys that scalelib reads as something else than a resource and that are not read here yet; keys with "node." likewise. */
const NOT_YET: ReadonlySet<string> = new Set([
  "and",
  "or",
  "xor",
  "not",
  "never",
  "pool",
  "exclusive-task",
  "exclusive_task",
  "shared-consumable-constraint",
  "shared-non-consumable-constraint",
  "capacity-failure-backoff",
]);

const UNDERSTOOD =
  "an amount of a resource (ncpus, mem, ngpus, ...), exclusive, in-a-placement-group, node.vm_size or node.nodearray";

/**
 * Reads scalelib's constraint JSON (scalelib-behaviour.md 9): a list of objects, or one bare object; all members of all of them must
 * hold. Each key may be named once. Problems go to `problems` with paths that begin at "constraints".
 */
export function readConstraints(value: unknown, problems: Problem[]): Requirements {
  if (value === undefined) return NO_REQUIREMENTS;
  const items = listOrOne(value);
  if (items === undefined) {
    problems.push(problemAt("constraints", value, "a list of objects, or one object"));
    return NO_REQUIREMENTS;
  }
  const constraints = new Map<string, Constraint>();
  items.forEach((item, index) => {
    const path = Array.isArray(value) ? `constraints[${index}]` : "constraints";
    if (isFields(item)) readMembers(item, path, constraints, problems);
    else problems.push(problemAt(path, item, "an object"));
  });
  return combine(constraints);
}

function readMembers(
  item: Readonly<Record<string, unknown>>,
  path: string,
  constraints: Map<string, Constraint>,
  problems: Problem[],
): void {
  for (const key of Object.keys(item)) {
    const constraint = readConstraint(key, item[key]);
    if ("expected" in constraint) problems.push(problemAt(`${path}.${key}`, item[key], constraint.expected));
    else if (constraints.has(key))
      problems.push(problemAt(`${path}.${key}`, item[key], `${excerpt(key)} named only once in a job`));
    else constraints.set(key, constraint);
  }
}

/**
 * Reads one constraint, `{key: value}`; `expected` says what would have been right. Differences from scalelib, all on the strict side or
 * on purpose: `"mem": "4g"` is an amount, not a text to match; `"in-a-placement-group": false` is refused, as scalelib takes it for true.
 * A bare number for mem is bytes, as there. The rest of the language (and, or, not, patterns, pools, ...) is not supported yet and says so.
 */
export function readConstraint(key: string, value: unknown): Constraint | { readonly expected: string } {
  switch (key) {
    case "exclusive":
      return readExclusive(value);
    case "in-a-placement-group":
      return value === true ? { kind: "in-a-placement-group" } : { expected: "true, or leave the key out" };
    case "node.vm_size":
      return readChoices(value, (names) => ({ kind: "machine-types", machineTypes: names.map(machineType) }));
    case "node.nodearray":
      return readChoices(value, (names) => ({ kind: "arrays", arrays: names.map(arrayName) }));
    case "mem":
      return readMemory(value);
    default:
      if (key === "__proto__" || key === "") return { expected: "the name of a resource" };
      if (key.startsWith("node.") || NOT_YET.has(key))
        return { expected: `${UNDERSTOOD}: ${excerpt(key)} is not supported yet` };
      return readAmount(key, value);
  }
}

/** scalelib takes a boolean, an integer, or either of them as text. */
function readExclusive(value: unknown): Constraint | { readonly expected: string } {
  if (typeof value === "boolean") return { kind: "exclusive", value };
  if (typeof value === "number" && Number.isInteger(value)) return { kind: "exclusive", value: value !== 0 };
  if (typeof value === "string") {
    if (/^(?:true|false)$/i.test(value)) return { kind: "exclusive", value: value.toLowerCase() === "true" };
    if (/^\d+$/.test(value)) return { kind: "exclusive", value: Number(value) !== 0 };
  }
  return { expected: "true or false" };
}

function readChoices(
  value: unknown,
  make: (names: readonly string[]) => Constraint,
): Constraint | { readonly expected: string } {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const names = items.filter((item) => typeof item === "string" && item !== "").map(String);
  if (names.length === 0 || names.length !== items.length)
    return { expected: "a name, or a list of names, preferred first" };
  if (names.some((name) => /[*?[]/.test(name)))
    return { expected: "names in full: patterns are not supported yet" };
  return make(names);
}

function readMemory(value: unknown): Constraint | { readonly expected: string } {
  const bytes = typeof value === "string" ? bytesOfSize(value) : value;
  if (typeof bytes === "number" && Number.isFinite(bytes) && bytes >= 0) {
    return { kind: "amount", resource: "mem", amount: gibOfBytes(bytes) };
  }
  return {
    expected:
      'a size such as "4g" or "memory::4g" (b, k, m, g, t, p; upper case for powers of 1000), or a number of bytes',
  };
}

function readAmount(resource: string, value: unknown): Constraint | { readonly expected: string } {
  if (typeof value !== "number")
    return { expected: "a number, the amount: other values are not supported yet" };
  return Number.isFinite(value) && value >= 0
    ? { kind: "amount", resource, amount: value }
    : { expected: "a number, 0 or more" };
}

function combine(constraints: ReadonlyMap<string, Constraint>): Requirements {
  const amounts: [string, number][] = [];
  let exclusive = false;
  let colocated = false;
  let machineTypes: readonly MachineType[] | undefined;
  let arrays: readonly ArrayName[] | undefined;
  for (const constraint of constraints.values()) {
    switch (constraint.kind) {
      case "amount":
        amounts.push([constraint.resource, constraint.amount]);
        break;
      case "exclusive":
        exclusive = constraint.value;
        break;
      case "in-a-placement-group":
        colocated = true;
        break;
      case "machine-types":
        machineTypes = constraint.machineTypes;
        break;
      case "arrays":
        arrays = constraint.arrays;
        break;
    }
  }
  // Sorted by name, so that the digest does not depend on how the sender wrote it.
  amounts.sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    needs: Object.fromEntries(amounts),
    exclusive,
    colocated,
    ...(machineTypes === undefined ? {} : { machineTypes }),
    ...(arrays === undefined ? {} : { arrays }),
  };
}
