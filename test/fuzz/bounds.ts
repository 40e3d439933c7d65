import type { Dice } from "../simulation/dice.ts";
import type { Input } from "./input.ts";

/**
 * A bound, and inputs that are valid but for their size. The figures are those of docs/demand.md, not of the product's own table, so that a
 * bound which is not checked shows.
 */
interface Edge {
  /** Where it is sent. */
  readonly how: "put" | "plan" | "config" | "message";
  readonly most: number;
  document(size: number, dice: Dice): unknown;
}

const LEVELS = 64;
const COUNT = 10_000_000;

const EDGES: readonly Edge[] = [
  { how: "put", most: LEVELS, document: (size, dice) => attribute(nested(size - 4, dice)) },
  { how: "put", most: 1000, document: (size) => demand({ nodearrays: list(size, () => NO_NODE) }) },
  { how: "put", most: 1000, document: (size) => demand({ pools: list(size, (at) => pool(`p${at}`, 1)) }) },
  { how: "put", most: COUNT, document: (size) => array({ TargetCount: size }) },
  { how: "put", most: COUNT, document: (size) => array({ TargetCoreCount: size }) },
  { how: "put", most: LEVELS, document: (size) => constraint(negated(size - 4)) },
  { how: "put", most: 131_072, document: (size) => attribute("x".repeat(size)) },
  { how: "put", most: 10_000, document: (size) => attribute(members(size)) },
  { how: "put", most: COUNT, document: (size) => job({ iterations: size }) },
  { how: "put", most: 1e9, document: (size) => job({ priority: size }) },
  {
    how: "put",
    most: 100,
    document: (size, dice) =>
      constraint({ [dice.pick(["or", "xor"])]: list(size, (at) => ({ ncpus: at + 1 })) }),
  },
  { how: "put", most: 200, document: (size) => constraint({ ["r".repeat(size)]: 1 }) },
  { how: "put", most: 4096, document: (size) => constraint({ kind: "v".repeat(size) }) },
  { how: "put", most: 10_000, document: (size) => constraint({ kind: list(size, (at) => `v${at}`) }) },
  { how: "put", most: 1000, document: (size) => job({ name: "n".repeat(size) }) },
  { how: "message", most: LEVELS, document: (size, dice) => attribute(nested(size - 4, dice)) },
  { how: "message", most: 1000, document: (size) => demand({ nodearrays: list(size, () => NO_NODE) }) },
  { how: "plan", most: 1000, document: (size) => ({ limits: list(size, () => limit(1)) }) },
  { how: "plan", most: COUNT, document: (size) => ({ limits: [limit(size)] }) },
  { how: "plan", most: 1000, document: (size) => ({ buckets: list(size, () => BUCKET) }) },
  { how: "config", most: LEVELS, document: (size, dice) => ({ logging: nested(size - 1, dice) }) },
];

/** How many seeds in a row meet every edge. */
export const EDGE_COUNT = EDGES.length;

type Drawn = Pick<Input, "how" | "document">;

/** An input as large as a bound allows, and one that is larger by one, in any order. */
export function boundInputs(seed: number, dice: Dice): readonly Drawn[] {
  const edge = EDGES[seed % EDGES.length];
  if (edge === undefined) return [];
  const sizes = dice.chance(0.5) ? [edge.most, edge.most + 1] : [edge.most + 1, edge.most];
  return sizes.map((size) => ({ how: edge.how, document: edge.document(size, dice) }));
}

// ---------------------------------------------------------------- documents

const NO_NODE = { Name: "execute", TargetCount: 0 };
const BUCKET = { nodearray: "execute", machineType: "Standard_F4s_v2", enabled: true };

const limit = (more: number): object => ({ kind: "nodearray", name: "execute", unit: "nodes", more });
const pool = (name: string, total: number): object => ({ name, total, used: 0 });
const demand = (parts: object): object => ({
  version: 1,
  cluster: "@cluster",
  requestSet: "hostile",
  ...parts,
});
const array = (parts: object): object => demand({ nodearrays: [{ Name: "execute", ...parts }] });
const attribute = (value: unknown): object => array({ TargetCount: 1, Configuration: { value } });
/** With another beside it that can be read. */
const job = (parts: object): object => demand({ jobs: [{ name: "beside" }, { name: "j", ...parts }] });
const constraint = (one: object): object => job({ constraints: [one] });

function list<T>(length: number, item: (index: number) => T): readonly T[] {
  return Array.from({ length }, (_, index) => item(index));
}

function members(count: number): object {
  return Object.fromEntries(list(count, (at): [string, number] => [`k${at}`, 1]));
}

function negated(levels: number): object {
  let value: object = { ncpus: 1 };
  for (let left = levels - 1; left > 0; left -= 1) value = { not: value };
  return value;
}

function nested(levels: number, dice: Dice): unknown {
  const isList = dice.chance(0.5);
  let value: unknown = isList ? [] : {};
  for (let left = levels - 1; left > 0; left -= 1) value = isList ? [value] : { a: value };
  return value;
}
