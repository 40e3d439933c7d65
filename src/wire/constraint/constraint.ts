import type { Constraint } from "../../domain/constraint.ts";
import { looksLikeSize, parseSize } from "../../domain/size.ts";
import { doubtKey, doubtText } from "./constraint-doubt.ts";
import { isTooLong } from "../json/fields.ts";
import type { Notes } from "../json/problems.ts";
import { nearest, problemAt, shorten } from "../json/problem.ts";
import { BOUNDS } from "../json/bounds.ts";
import {
  refuse,
  readFlag,
  readWanted,
  readBackoff,
  readPoolUse,
  readSharedConsumable,
  readProperty,
  readChoices,
} from "./constraint-leaves.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

/** Keys with a meaning of their own. Every other key is the name of a resource. */
const STRUCTURAL_KEYS = [
  "exclusive",
  "exclusive-task",
  "exclusive_task",
  "in-a-placement-group",
  "capacity-failure-backoff",
  "shared-consumable-constraint",
  "pool",
  "and",
  "or",
  "xor",
  "not",
  "never",
] as const;

const EXPECTED_VALUE = `an amount (2, "memory::4g"), a value to match (text of at most ${BOUNDS.constraintText} characters, pattern, true, false, null) or a list of at most ${BOUNDS.choices} values`;

/**
 * Reads the value of "constraints" (scalelib.md 9): a list of objects, or one bare object. All members of all objects must hold. Paths
 * begin at `path`. Two defects of scalelib are not repeated (their numbers are in scalelib.md): `in-a-placement-group: false` is false (4),
 * and pools can be written in JSON, also in the spelling that the library writes itself (35).
 */
export function readConstraints(value: unknown, path: string, notes: Notes): readonly Constraint[] {
  if (Array.isArray(value) && isTooLong(path, value, BOUNDS.constraints, "objects", notes.problems))
    return [];
  if (isFields(value)) return readObject(value, path, notes, "may be empty");
  if (!Array.isArray(value)) {
    notes.problems.add(() => problemAt(path, value, "a list of objects, or one object"));
    return [];
  }
  return value.flatMap((item: unknown, index) => {
    const at = `${path}[${index}]`;
    if (isFields(item)) return readObject(item, at, notes, "may be empty");
    notes.problems.add(() => problemAt(at, item, "an object"));
    return [];
  });
}

/** One object as one constraint: none, its only member, or all members together. */
function readObject(
  from: Fields,
  path: string,
  notes: Notes,
  empty: "may be empty" | "must say something",
): readonly [] | readonly [Constraint] {
  const keys = Object.keys(from);
  if (keys.length === 0) {
    if (empty === "must say something") notes.problems.add(() => problemAt(path, from, "a constraint"));
    return [];
  }
  const members = keys
    .map((key) => readMember(key, from[key], `${path}.${key}`, notes))
    .filter((member) => member !== undefined);
  const [only] = members;
  if (only === undefined) return [];
  return keys.length === 1 ? [only] : [{ kind: "and", of: members }];
}

/** The first rule that fits decides, in the order of scalelib.md 9, JSON. */
function readMember(key: string, value: unknown, path: string, notes: Notes): Constraint | undefined {
  if (key.length > BOUNDS.resource)
    return refuse(notes, path, key, `the name of a resource: at most ${BOUNDS.resource} characters`);
  if (key === "") notes.doubts.add(() => problemAt(path, value, "the name of a resource"));
  if (key === "__proto__") return refuse(notes, path, value, "the name of a resource");
  switch (key) {
    case "in-a-placement-group":
      return { kind: "in-a-placement-group", wanted: readWanted(value, path, notes) };
    case "shared-consumable-constraint":
      return readSharedConsumable(value, path, notes);
    case "shared-non-consumable-constraint":
      return refuse(
        notes,
        path,
        value,
        'a pool with the value that it must have, as {"pool": {"name": "value"}}',
      );
    case "capacity-failure-backoff":
      return readBackoff(value, path, notes);
    case "exclusive":
    case "exclusive-task":
    case "exclusive_task": {
      const wanted = readFlag(value);
      const scope = key === "exclusive" ? "job" : "task";
      return wanted === undefined
        ? refuse(notes, path, value, "true or false")
        : { kind: "exclusive", scope, wanted };
    }
    case "not":
      return readNot(value, path, notes);
    case "never":
      return { kind: "never", message: shorten(pythonText(value), BOUNDS.constraintText) };
    case "pool":
      return isFields(value) ? readPoolUse(value, path, notes) : readResource(key, value, path, notes);
    default:
      return key.startsWith("node.")
        ? readProperty(key, value, path, notes)
        : readResource(key, value, path, notes);
  }
}

function readNot(value: unknown, path: string, notes: Notes): Constraint | undefined {
  if (!isFields(value)) return refuse(notes, path, value, "one object: what must not hold");
  const [of] = readObject(value, path, notes, "must say something");
  return of === undefined ? undefined : { kind: "not", of };
}

function readResource(key: string, value: unknown, path: string, notes: Notes): Constraint | undefined {
  if (typeof value === "string" && looksLikeSize(value)) {
    const amount = parseSize(value);
    return typeof amount === "string"
      ? refuse(
          notes,
          path,
          value,
          "a size such as memory::4g: b, k, m, g, t, p, or upper case for powers of 1000",
        )
      : { amount, kind: "amount", resource: key };
  }
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return refuse(notes, path, value, "a number, 0 or more");
    if (value < 0) notes.doubts.add(() => problemAt(path, value, "a number, 0 or more"));
    if (value > BOUNDS.amount) return refuse(notes, path, value, `at most ${BOUNDS.amount}`);
    return { amount: value, kind: "amount", resource: key };
  }
  if (Array.isArray(value) && (key === "and" || key === "or" || key === "xor"))
    return readCompound(key, value, path, notes);
  const choices = readChoices(value);
  if (choices === undefined) return refuse(notes, path, value, EXPECTED_VALUE, nearest(key, STRUCTURAL_KEYS));
  if (choices.length === 0) notes.doubts.add(() => problemAt(path, value, "at least one value"));
  if (typeof value === "string") doubtText(key, value, path, notes);
  doubtKey(key, value, path, notes, STRUCTURAL_KEYS);
  return { choices, kind: "resource-choice", resource: key };
}

function readCompound(
  kind: "and" | "or" | "xor",
  members: readonly unknown[],
  path: string,
  notes: Notes,
): Constraint | undefined {
  if (kind !== "and" && members.length < 2)
    return refuse(notes, path, members, "at least two objects: the alternatives, preferred first");
  const most = kind === "and" ? BOUNDS.constraints : BOUNDS.alternatives;
  if (isTooLong(path, members, most, "objects", notes.problems)) return undefined;
  const before = notes.problems.count;
  const of = members.flatMap((member, index) => {
    const at = `${path}[${index}]`;
    if (isFields(member))
      return readObject(member, at, notes, kind === "and" ? "may be empty" : "must say something");
    if (kind === "and" && Array.isArray(member)) return readConstraints(member, at, notes);
    notes.problems.add(() => problemAt(at, member, "an object"));
    return [];
  });
  return notes.problems.count > before ? undefined : { kind, of };
}

/** A value as Python writes it. Messages of `never` may be anything, and are compared with the library's output. */
function pythonText(value: unknown): string {
  return typeof value === "string" ? value : pythonLiteral(value);
}

function pythonLiteral(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value === "number") return String(value);
  if (typeof value !== "object") throw new TypeError("JSON holds nothing else");
  const members = Object.entries(value).map(([key, member]) => `${quoted(key)}: ${pythonLiteral(member)}`);
  return `{${members.join(", ")}}`;
}

/** Single quotes, unless the text contains single quotes and no double quotes. */
function quoted(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  if (!text.includes("'")) return `'${escaped}'`;
  return text.includes('"') ? `'${escaped.replaceAll("'", "\\'")}'` : `"${escaped}"`;
}
