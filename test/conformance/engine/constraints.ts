import type { Json } from "../compare.ts";
import { isList, isObject, textOf } from "../compare.ts";
import type { Switches } from "./switches.ts";
import type { Size, Value } from "./values.ts";
import { looksLikeSize, readSize, Refused } from "./values.ts";

/** What a job asks of a node, read from JSON by the rules of scalelib.md 9. */
export type Constraint =
  | { readonly kind: "amount"; readonly name: string; readonly asked: number | Size }
  | { readonly kind: "resource" | "property"; readonly name: string; readonly options: readonly Value[] }
  | { readonly kind: "exclusive"; readonly wanted: boolean; readonly closes: "slot" | "task" }
  | { readonly kind: "group"; readonly wanted: boolean }
  | { readonly kind: "and"; readonly of: readonly Constraint[] }
  | { readonly kind: "or" | "xor"; readonly of: readonly Constraint[] }
  | { readonly kind: "not"; readonly of: Constraint }
  | { readonly kind: "never" }
  | { readonly kind: "pool"; readonly pool: string; readonly amount: number; readonly once: boolean }
  | { readonly kind: "pool-value"; readonly pool: string; readonly target: Value }
  | { readonly kind: "backoff"; readonly seconds: number };

/** What CycleCloud or the ledger gives a node when it exists. */
export const GIVEN: ReadonlySet<string> = new Set(
  "hostname fqdn hostname_or_uuid private_ip instance_id create_time create_time_unix create_time_remaining last_match_time last_match_time_unix".split(
    " ",
  ),
);
/** What differs between the nodes of a bucket. */
const OF_ONE_NODE: ReadonlySet<string> = new Set([
  ...GIVEN,
  "name",
  "state",
  "exists",
  "keep_alive",
  "delete_time",
  "delete_time_unix",
]);
const PROPERTIES: ReadonlySet<string> = new Set([
  ...OF_ONE_NODE,
  ..."nodearray bucket_id vm_size vm_family location spot vcpu_count pcpu_count gpu_count memory infiniband colocated placement_group cores_per_socket version".split(
    " ",
  ),
]);

/** The members of a job's list, each one constraint; the keys of an object belong together. */
export function readConstraints(value: Json, switches: Switches): readonly Constraint[] {
  const members = isList(value) ? value : [value];
  return members.flatMap((member) => {
    const keys = readKeys(member, switches);
    return keys.length < 2 ? keys : [{ kind: "and", of: keys }];
  });
}

function readKeys(member: Json | undefined, switches: Switches): readonly Constraint[] {
  if (!isObject(member)) throw new Refused("a constraint is an object");
  return Object.entries(member).flatMap(([key, value]) => readKey(key, value, switches));
}

/** The one constraint of an object that must say something. */
function readOne(member: Json | undefined, switches: Switches): Constraint {
  const keys = readKeys(member, switches);
  const [only] = keys;
  if (only === undefined) throw new Refused("an empty constraint");
  return keys.length === 1 ? only : { kind: "and", of: keys };
}

function readKey(key: string, value: Json, switches: Switches): Constraint | readonly Constraint[] {
  switch (key) {
    case "$shared":
      return readShared(value);
    case "$shared_value":
      return isObject(value)
        ? { kind: "pool-value", pool: textOf(value["id"]), target: optionOf(value["target"]) }
        : [];
    case "in-a-placement-group":
      return { kind: "group", wanted: switches.has("group-false-is-true") || flagOf(value) !== false };
    case "capacity-failure-backoff":
      return { kind: "backoff", seconds: Number(value) };
    case "exclusive":
    case "exclusive-task":
    case "exclusive_task": {
      const wanted = flagOf(value);
      if (wanted === undefined) throw new Refused(`${key} is true or false`);
      return { kind: "exclusive", wanted, closes: key === "exclusive" ? "slot" : "task" };
    }
    case "not":
      return { kind: "not", of: readOne(value, switches) };
    case "never":
      return { kind: "never" };
    default:
      return readNamed(key, value, switches);
  }
}

function readNamed(key: string, value: Json, switches: Switches): Constraint {
  if (key.startsWith("node.")) {
    const name = key.slice(5);
    if (!PROPERTIES.has(name)) throw new Refused(`no property ${name}`);
    return { kind: "property", name, options: (isList(value) ? value : [value]).map(optionOf) };
  }
  if (typeof value === "string" && looksLikeSize(value)) {
    const asked = readSize(value);
    if (asked === undefined) throw new Refused(`no size ${value}`);
    return { kind: "amount", name: key, asked };
  }
  if (typeof value === "number") return { kind: "amount", name: key, asked: value };
  if (isList(value) && key === "and")
    return { kind: "and", of: value.flat().map((member) => readOne(member, switches)) };
  if (isList(value) && (key === "or" || key === "xor")) {
    if (value.length < 2) throw new Refused(`${key} of less than two`);
    return { kind: key, of: value.map((member) => readOne(member, switches)) };
  }
  return { kind: "resource", name: key, options: (isList(value) ? value : [value]).map(optionOf) };
}

function readShared(value: Json): readonly Constraint[] {
  const shared = isObject(value) ? value : {};
  const ids = isList(shared["ids"]) ? shared["ids"].map(textOf) : [];
  const once = shared["decrement_once"] === true;
  return ids.map((pool) => ({ kind: "pool", pool, amount: Number(shared["amount"]), once }));
}

function optionOf(value: Json | undefined): Value {
  if (value === undefined || isList(value) || isObject(value)) throw new Refused("not a single value");
  return value;
}

/** True, false, a whole number, or one of these as text. Undefined: anything else. */
function flagOf(value: Json): boolean | undefined {
  const text = textOf(value).toLowerCase();
  if (/^\d+$/.test(text)) return Number(text) !== 0;
  return text === "true" || text === "false" ? text === "true" : undefined;
}

/** Whether one of the constraints, at any depth, is so. */
export function hasSome(constraints: readonly Constraint[], test: (one: Constraint) => boolean): boolean {
  return constraints.some((one) => {
    if (test(one)) return true;
    if (one.kind === "not") return hasSome([one.of], test);
    return (one.kind === "and" || one.kind === "or" || one.kind === "xor") && hasSome(one.of, test);
  });
}

/** Whether a bucket cannot answer it, only each node. */
export const isOfOneNode = (constraint: Constraint): boolean =>
  hasSome([constraint], (one) => one.kind === "property" && OF_ONE_NODE.has(one.name));
