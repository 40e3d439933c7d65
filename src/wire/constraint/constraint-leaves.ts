import type { Constraint, SharedConsumable } from "../../domain/constraint.ts";
import { isNodeProperty, NODE_PROPERTIES } from "../../domain/constraint.ts";
import type { Scalar } from "../../domain/resources.ts";
import type { Notes } from "../json/problems.ts";
import { nearest, problemAt, problemShowing } from "../json/problem.ts";
import { BOUNDS } from "../json/bounds.ts";
import { doubtProperty } from "./constraint-doubt.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

/* Readers of constraints that contain no others. */

/** Notes a problem of a value. The value is shown, shortened. */
export function refuse(
  notes: Notes,
  path: string,
  value: unknown,
  expected: string,
  didYouMean?: string,
): undefined {
  notes.problems.add(() => problemShowing(path, value, expected, didYouMean));
}

function isScalar(value: unknown): value is Scalar {
  if (typeof value === "string") return value.length <= BOUNDS.constraintText;
  return value === null || typeof value === "number" || typeof value === "boolean";
}

/** A boolean, an integer, or either of them as text. Undefined for anything else. */
export function readFlag(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isInteger(value) ? value !== 0 : undefined;
  if (typeof value !== "string") return undefined;
  if (/^\d+$/.test(value)) return Number(value) !== 0;
  const word = value.toLowerCase();
  return word === "true" || word === "false" ? word === "true" : undefined;
}

/** The library treats any value as true. Here clearly false values are false (defect 4). */
export function readWanted(value: unknown, path: string, notes: Notes): boolean {
  const wanted = readFlag(value);
  if (wanted === undefined) notes.doubts.add(() => problemShowing(path, value, "true or false"));
  return wanted ?? true;
}

export function readBackoff(value: unknown, path: string, notes: Notes): Constraint | undefined {
  if (!isScalar(value)) return refuse(notes, path, value, "a number of seconds");
  const seconds = value === null ? Number.NaN : Number(value);
  if (typeof value !== "number") notes.doubts.add(() => problemShowing(path, value, "a number of seconds"));
  const kind = "capacity-failure-backoff";
  return Number.isFinite(seconds) ? { kind, seconds, written: value } : { kind, written: value };
}

/** `{"pool": {"licence-x": 1}}`: each slot takes a number from the pool. Any other value is the value that the pool must have. */
export function readPoolUse(from: Fields, path: string, notes: Notes): Constraint | undefined {
  const uses: Constraint[] = [];
  for (const [pool, value] of Object.entries(from)) {
    if (typeof value === "number" && value >= 0 && value <= BOUNDS.amount)
      uses.push({ amount: value, kind: "pool", pool });
    else if (isScalar(value) && typeof value !== "number") uses.push({ kind: "pool-value", pool, value });
    else
      refuse(notes, `${path}.${pool}`, value, "an amount, 0 or more, or the value that the pool must have");
  }
  const [only] = uses;
  if (only === undefined) return refuse(notes, path, from, "pool names, each with an amount or a value");
  return uses.length === 1 ? only : { kind: "and", of: uses };
}

/** Both spellings: the library reads one and writes the other (defect 35). */
export function readSharedConsumable(
  value: unknown,
  path: string,
  notes: Notes,
): SharedConsumable | undefined {
  const expected =
    "an object with resource-name, source, initial-value, current-value (lists of one length) and requested";
  const from = isFields(value) ? value : {};
  const resource = from["resource-name"];
  const amount = from["requested"];
  const sources = texts(from["source"] ?? from["sources"]);
  const initial = numbers(from["initial-value"] ?? from["initial-values"]);
  const current = numbers(from["current-value"]);
  if (typeof resource !== "string" || typeof amount !== "number" || sources === undefined)
    return refuse(notes, path, value, expected);
  if (initial?.length !== sources.length || current?.length !== sources.length)
    return refuse(notes, path, value, expected);
  const pools = sources.map((source, i) => ({
    current: current[i] ?? 0,
    initial: initial[i] ?? 0,
    source,
  }));
  return { amount, kind: "shared-consumable", pools, resource };
}

function texts(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const found = value.filter((item) => typeof item === "string");
  return found.length === value.length ? found : undefined;
}

function numbers(value: unknown): readonly number[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const found = value.filter((item) => typeof item === "number");
  return found.length === value.length ? found : undefined;
}

/** A property of nodes, with the values that are accepted. */
export function readProperty(
  key: string,
  value: unknown,
  path: string,
  notes: Notes,
): Constraint | undefined {
  const property = key.slice("node.".length);
  if (!isNodeProperty(property)) {
    const near = nearest(property, NODE_PROPERTIES);
    const known = `a property of nodes: ${NODE_PROPERTIES.join(", ")}`;
    return refuse(notes, path, key, known, near === undefined ? undefined : `node.${near}`);
  }
  const choices = readChoices(value);
  if (choices === undefined)
    return refuse(notes, path, value, "a value to match, or a list of values, preferred first");
  if (choices.length === 0) notes.doubts.add(() => problemAt(path, value, "at least one value"));
  if (typeof value === "string") doubtProperty(property, value, path, notes);
  return { choices, kind: "property-choice", property };
}

export function readChoices(value: unknown): readonly Scalar[] | undefined {
  if (isScalar(value)) return [value];
  if (!Array.isArray(value) || value.length > BOUNDS.choices) return undefined;
  const choices = value.filter(isScalar);
  return choices.length === value.length ? choices : undefined;
}
