import type { Fields, Json } from "../compare.ts";
import { isObject, objectsIn, textOf } from "../compare.ts";
import type { Constraint } from "./constraints.ts";
import { readConstraints } from "./constraints.ts";
import { Judge } from "./judge.ts";
import type { Switches } from "./switches.ts";
import type { Size, Value, Values } from "./values.ts";
import { bytesOf, bytesPer, countOf, isSize, looksLikeSize, readSize, Refused } from "./values.ts";

/** What nodes have: the library's ten resources and those of the configuration (scalelib.md 4). */

/** A node or bucket of which resources are made. */
export interface Described {
  readonly properties: Values;
  readonly nodeId: string | null;
  readonly configuration: Fields;
  readonly resources: Values;
}

interface Entry {
  readonly name: string;
  readonly select: readonly Constraint[];
  readonly value: (node: Described) => Value | undefined;
  readonly modify: (value: Value) => Value | undefined;
}

const OPERATIONS = ["add", "subtract", "multiply", "divide", "divide_floor"] as const;
type Operation = (typeof OPERATIONS)[number];

export class Defaults {
  readonly #entries: readonly Entry[];
  readonly #judge: Judge;

  constructor(config: Fields, switches: Switches) {
    this.#judge = new Judge(switches, { left: new Map(), values: new Map() });
    const own = LIBRARY.map(([name, value]) => ({ name, select: [], value, modify: (one: Value) => one }));
    const configured = objectsIn(config["default_resources"]).map((item) => readEntry(item, switches));
    const isOff = config["disable_default_resources"] === true;
    const names = new Set(configured.map(({ name }) => name));
    const [free, redefined] = [true, false].map((isFree) =>
      own.filter(({ name }) => names.has(name) !== isFree),
    );
    if (switches.has("defaults-cannot-be-redefined"))
      this.#entries = isOff ? [...configured, ...own] : [...own, ...configured];
    else this.#entries = isOff ? configured : [...(free ?? []), ...configured, ...(redefined ?? [])];
  }

  /** Each entry that is registered has all before it applied again; a resource that has a value keeps it. */
  of(node: Described): Record<string, Value> {
    const resources: Record<string, Value> = { ...node.resources };
    for (let count = 1; count <= this.#entries.length; count += 1)
      for (const { name, select, value, modify } of this.#entries.slice(0, count)) {
        if ((resources[name] ?? null) !== null) continue;
        const place = {
          properties: node.properties,
          totals: resources,
          left: resources,
          jobs: new Set<string>(),
          owner: undefined,
        };
        const job = { name: "", constraints: select, drained: new Set<Constraint>() };
        if (this.#judge.slot(select, place, job).refusal !== undefined) continue;
        const found = value({ ...node, resources });
        const made = found === undefined || found === null ? found : modify(found);
        if (made !== undefined) resources[name] = made;
      }
    return resources;
  }
}

const property =
  (name: string) =>
  ({ properties }: Described): Value | undefined =>
    properties[name];

const memoryIn =
  (unit: string) =>
  ({ properties }: Described): Value | undefined => {
    const { memory } = properties;
    return isSize(memory) ? { amount: bytesOf(memory) / bytesPer({ amount: 1, unit }), unit } : memory;
  };

const LIBRARY: readonly (readonly [string, (node: Described) => Value | undefined])[] = [
  ["ncpus", property("vcpu_count")],
  ["pcpus", property("pcpu_count")],
  ["ngpus", property("gpu_count")],
  ["memb", memoryIn("b")],
  ["memkb", memoryIn("k")],
  ["memmb", memoryIn("m")],
  ["memgb", memoryIn("g")],
  ["memtb", memoryIn("t")],
  ["nodearray", property("nodearray")],
  ["ccnodeid", ({ nodeId }) => nodeId],
];

function readEntry(item: Fields, switches: Switches): Entry {
  const { select, name, value } = item;
  if (!isObject(select) || typeof name !== "string" || name === "") throw new Refused("select and name");
  const given = OPERATIONS.filter((one) => (item[one] ?? null) !== null);
  const [operation] = given;
  if (given.length > 1) throw new Refused("two modifiers");
  const modify =
    operation === undefined ? (one: Value) => one : modifierOf(operation, item[operation] ?? null, value);
  return { name, select: readConstraints(select, switches), value: sourceOf(value), modify };
}

function sourceOf(value: Json | undefined): (node: Described) => Value | undefined {
  if (typeof value === "number" || typeof value === "boolean") return () => value;
  if (typeof value !== "string" || value.startsWith("`")) throw new Refused("no value of a default resource");
  const [, of = "", rest = ""] = /^node\.(?:(resources|software_configuration)\.)?(.+)$/.exec(value) ?? [];
  if (of === "resources" && rest.endsWith(".value"))
    return ({ resources }) => numberOf(resources[rest.slice(0, -6)]);
  if (of === "resources") return (node) => resourceOf(node, rest) ?? "";
  if (of === "software_configuration") return ({ configuration }) => plain(configuration[rest]);
  if (rest !== "") return property(rest);
  if (!looksLikeSize(value)) return () => value;
  const size = readSize(value);
  if (size === undefined) throw new Refused(`no size ${value}`);
  return () => size;
}

const numberOf = (value: Value | undefined): Value | undefined => (isSize(value) ? value.amount : undefined);
const plain = (value: Json | undefined): Value =>
  value === undefined || typeof value === "object" ? "" : value;

/** A resource; one that is redefined is the library's own until then. */
function resourceOf(node: Described, name: string): Value | undefined {
  return node.resources[name] ?? LIBRARY.find(([own]) => own === name)?.[1](node);
}

function modifierOf(operation: Operation, written: Json, value: Json | undefined): Entry["modify"] {
  const by = typeof written === "string" ? readSize(written) : Number(written);
  const isText = typeof value === "string" && value.startsWith("size::");
  if (by === 0 || Number.isNaN(by) || isText) throw new Refused(`${operation} ${textOf(written)}`);
  return (found) => {
    if (by === undefined) return undefined;
    if (isSize(found)) return modifySize(operation, found, by);
    const number = countOf(found);
    return number === undefined || isSize(by) ? undefined : calculate(operation, number, by);
  };
}

/** A plain number is bytes in sums, and a factor otherwise. */
function modifySize(operation: Operation, size: Size, by: number | Size): Value | undefined {
  const isSum = operation === "add" || operation === "subtract";
  if (!isSum && isSize(by)) return undefined;
  const other = isSum ? (countOf(by) ?? 0) / bytesPer(size) : (countOf(by) ?? 0);
  return { amount: calculate(operation, size.amount, other), unit: size.unit };
}

function calculate(operation: Operation, a: number, b: number): number {
  switch (operation) {
    case "add":
      return a + b;
    case "subtract":
      return a - b;
    case "multiply":
      return a * b;
    case "divide":
      return a / b;
    case "divide_floor":
      return Math.floor(a / b);
  }
}
