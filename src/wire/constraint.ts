import type { Constraint, SharedConsumable } from "../domain/constraint.ts";
import { isNodeProperty, NODE_PROPERTIES } from "../domain/constraint.ts";
import type { Scalar } from "../domain/resources.ts";
import { looksLikeSize, parseSize } from "../domain/size.ts";
import { doubtKey, doubtText } from "./constraint-doubt.ts";
import { isFields, isTooLong, type Fields } from "./fields.ts";
import type { Notes } from "./notes.ts";
import { nearest, problemAt, problemShowing, shorten } from "./problem.ts";
import { pythonText } from "./python-text.ts";
import { BOUNDS } from "./bounds.ts";

/** Keys with a meaning of their own. Every other key is the name of a resource. */
export const STRUCTURAL_KEYS = [
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
 * begin at `path`. Differences from scalelib, each a defect of its list: `in-a-placement-group: false` is false (4), and pools can be
 * written in JSON, also in the spelling that the library writes itself (35).
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

function refuse(
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
function readFlag(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isInteger(value) ? value !== 0 : undefined;
  if (typeof value !== "string") return undefined;
  if (/^\d+$/.test(value)) return Number(value) !== 0;
  const word = value.toLowerCase();
  return word === "true" || word === "false" ? word === "true" : undefined;
}

/** The library treats any value as true. Here clearly false values are false (defect 4). */
function readWanted(value: unknown, path: string, notes: Notes): boolean {
  const wanted = readFlag(value);
  if (wanted === undefined) notes.doubts.add(() => problemShowing(path, value, "true or false"));
  return wanted ?? true;
}

function readBackoff(value: unknown, path: string, notes: Notes): Constraint | undefined {
  if (!isScalar(value)) return refuse(notes, path, value, "a number of seconds");
  const seconds = value === null ? Number.NaN : Number(value);
  if (typeof value !== "number") notes.doubts.add(() => problemShowing(path, value, "a number of seconds"));
  const kind = "capacity-failure-backoff";
  return Number.isFinite(seconds) ? { kind, seconds, written: value } : { kind, written: value };
}

function readNot(value: unknown, path: string, notes: Notes): Constraint | undefined {
  if (!isFields(value)) return refuse(notes, path, value, "one object: what must not hold");
  const [of] = readObject(value, path, notes, "must say something");
  return of === undefined ? undefined : { kind: "not", of };
}

/** `{"pool": {"licence-x": 1}}`: each slot takes a number from the pool. Any other value is the value that the pool must have. */
function readPoolUse(from: Fields, path: string, notes: Notes): Constraint | undefined {
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
function readSharedConsumable(value: unknown, path: string, notes: Notes): SharedConsumable | undefined {
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

function readProperty(key: string, value: unknown, path: string, notes: Notes): Constraint | undefined {
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
  return { choices, kind: "property-choice", property };
}

function readChoices(value: unknown): readonly Scalar[] | undefined {
  if (isScalar(value)) return [value];
  if (!Array.isArray(value) || value.length > BOUNDS.choices) return undefined;
  const choices = value.filter(isScalar);
  return choices.length === value.length ? choices : undefined;
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
