import type { World } from "../../src/domain/world.ts";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { JobDemand } from "../../src/domain/demand.ts";
import { amountOf } from "../../src/domain/resources.ts";
import { maximise, type Row } from "./linear-program.ts";

/** What no plan can go below, whatever it does. */
export interface LowerBounds {
  /** Nodes with a job on them, existing and new; a whole number. */
  readonly nodes: number;
  /** Of the new nodes, an hour. Existing nodes are free. */
  readonly cost: number;
}

/** Nodes of one kind: what each holds, what each costs, and how many there are; without a number: as many as are wanted. */
interface Kind {
  readonly holds: readonly number[];
  readonly price: number;
  readonly count?: number;
}

/** Slots that have a node each to themselves. */
interface Alone {
  readonly takes: readonly number[];
  readonly count: number;
}

/** Rounding of the last bits must not lift a bound above the truth. */
const SAFETY = 1e-9;

/**
 * Bounds by linear programming over all resources at once. Take a price y for each resource, a price z for each class of slots that want
 * a node to themselves, and a rent m for each kind of node of which there is only a number n, none of them negative, such that for each
 * kind of node, of price p: what it holds, at y, is at most p + m, and the z of each class that fits it is at most p + m. Then
 *
 *     (all shared slots at y) + (all slots alone at z) - (sum of n m)  <=  the price of any plan.
 *
 * Proof: a node that a plan uses has either slots that share it, which together are at most what it holds and so at most p + m at y; or
 * one slot alone, at z, at most p + m. Summed over all nodes used: (shared at y) + (alone at z) <= price + (rents of those used), and of
 * a kind with rent no more than n can be used. The best such prices are found by the simplex method, and then scaled so that they keep
 * the conditions in spite of rounding. A plan may mix any slots on a node, cut slots into pieces and ignore what else constraints say:
 * that only makes the bound lower.
 *
 * Slots of a colocated job may share their nodes with other jobs, so they are counted like all others.
 */
export function lowerBounds(world: World, jobs: readonly JobDemand[]): LowerBounds {
  const needs = countNeeds(jobs);
  return {
    nodes: Math.ceil(bound(needs, kindsOf(world, needs.names, "nodes")) - 1e-6),
    cost: bound(needs, kindsOf(world, needs.names, "cost")),
  };
}

interface Needs {
  readonly names: readonly string[];
  /** All slots that may share nodes, together. */
  readonly shared: readonly number[];
  readonly alone: readonly Alone[];
}

function countNeeds(jobs: readonly JobDemand[]): Needs {
  const wants = jobs.map((job) => ({ job, want: wantOf({ kind: "and", of: job.constraints }) }));
  const names = [...new Set(wants.flatMap(({ want }) => [...want.amounts.keys()]))];
  const shared = names.map(() => 0);
  const alone: Alone[] = [];
  for (const { job, want } of wants) {
    const spread = job.nodeCount ?? 0;
    // A job with a node count has all of its iterations on each node.
    const [count, times] = spread > 0 ? [spread, job.iterations] : [job.iterations, 1];
    const takes = names.map((name) => (want.amounts.get(name) ?? 0) * times);
    if (want.alone) {
      alone.push({ takes, count });
      continue;
    }
    takes.forEach((amount, r) => (shared[r] = (shared[r] ?? 0) + amount * count));
  }
  return { names, shared, alone };
}

/** At least this is taken of a node by each slot. Of alternatives the least of each resource; what is not said takes nothing. */
function wantOf(constraint: Constraint): {
  readonly amounts: ReadonlyMap<string, number>;
  readonly alone: boolean;
} {
  switch (constraint.kind) {
    case "amount":
      return { amounts: new Map([[constraint.resource, amountOf(constraint.amount)]]), alone: false };
    case "exclusive":
      return { amounts: new Map(), alone: constraint.scope === "job" && constraint.wanted };
    case "and": {
      const parts = constraint.of.map(wantOf);
      const amounts = new Map<string, number>();
      for (const part of parts)
        for (const [name, amount] of part.amounts) amounts.set(name, (amounts.get(name) ?? 0) + amount);
      return { amounts, alone: parts.some((part) => part.alone) };
    }
    case "or":
    case "xor": {
      const [first, ...others] = constraint.of.map(wantOf);
      const amounts = [...(first?.amounts ?? [])].map(([name, amount]): [string, number] => [
        name,
        Math.min(amount, ...others.map((other) => other.amounts.get(name) ?? 0)),
      ]);
      return {
        amounts: new Map(amounts),
        alone: first?.alone === true && others.every((other) => other.alone),
      };
    }
    default:
      return { amounts: new Map(), alone: false };
  }
}

/** Kinds that hold the same are one: of existing nodes the number adds up, of new ones the cheapest counts. */
function kindsOf(world: World, names: readonly string[], what: "nodes" | "cost"): readonly Kind[] {
  const kinds = new Map<string, Kind>();
  for (const node of world.nodes) {
    const holds = names.map((name) => amountOf(node.resources[name]));
    const key = `up ${holds.join(" ")}`;
    const count = (kinds.get(key)?.count ?? 0) + 1;
    kinds.set(key, { holds, price: what === "nodes" ? 1 : 0, count });
  }
  for (const offer of world.buckets) {
    if (offer.price === undefined) throw new Error(`${offer.bucket.machineType} has no price`);
    const holds = names.map((name) => amountOf(offer.resources[name]));
    const key = `new ${holds.join(" ")}`;
    const price = what === "nodes" ? 1 : offer.price;
    kinds.set(key, { holds, price: Math.min(price, kinds.get(key)?.price ?? price) });
  }
  return [...kinds.values()];
}

const fits = (takes: readonly number[], { holds }: Kind): boolean =>
  takes.every((amount, r) => amount <= (holds[r] ?? 0) * (1 + SAFETY));

const bound = ({ shared, alone }: Needs, kinds: readonly Kind[]): number =>
  priceAll(shared, classesOf(alone, kinds), kinds);

/** Slots that fit the same kinds of nodes, and what the cheapest new one costs. */
interface Class {
  count: number;
  readonly newPrice: number;
  readonly existing: readonly Kind[];
}

function classesOf(alone: readonly Alone[], kinds: readonly Kind[]): readonly Class[] {
  const classes = new Map<string, Class>();
  for (const { takes, count } of alone) {
    const usable = kinds.filter((kind) => fits(takes, kind));
    if (usable.length === 0) throw new Error("a slot fits no node");
    const key = usable.map((kind) => kinds.indexOf(kind)).join(" ");
    const known = classes.get(key);
    if (known !== undefined) {
      known.count += count;
      continue;
    }
    const newPrice = Math.min(...usable.filter((kind) => kind.count === undefined).map(({ price }) => price));
    classes.set(key, { count, newPrice, existing: usable.filter((kind) => kind.count !== undefined) });
  }
  return [...classes.values()];
}

/** The linear program of {@link lowerBounds}: columns are resources, then kinds with a number, then classes. */
function priceAll(shared: readonly number[], classes: readonly Class[], kinds: readonly Kind[]): number {
  const scale = shared.map((_, r) => Math.max(...kinds.map(({ holds }) => holds[r] ?? 0), 1e-300));
  const rented = kinds.filter(({ count }) => count !== undefined);
  const columns = shared.length + rented.length + classes.length;
  const gains = [
    ...shared.map((total, r) => total / (scale[r] ?? 1)),
    ...rented.map(({ count = 0 }) => -count),
    ...classes.map(({ count }) => count),
  ];
  const rows: Row[] = [];
  const atMost = (
    most: number,
    kind: Kind | undefined,
    entries: readonly (readonly [number, number])[],
  ): void => {
    const coefficients: number[] = Array.from({ length: columns }, () => 0);
    for (const [column, coefficient] of entries) coefficients[column] = coefficient;
    const rent = kind === undefined ? -1 : rented.indexOf(kind);
    if (rent >= 0) coefficients[shared.length + rent] = -1;
    rows.push({ coefficients, most });
  };
  for (const kind of kinds)
    atMost(
      kind.price,
      kind,
      kind.holds.map((holds, r) => [r, holds / (scale[r] ?? 1)]),
    );
  classes.forEach(({ newPrice, existing }, c) => {
    const column = shared.length + rented.length + c;
    if (Number.isFinite(newPrice)) atMost(newPrice, undefined, [[column, 1]]);
    for (const kind of existing) atMost(kind.price, kind, [[column, 1]]);
  });
  return proven(gains, rows, maximise(gains, rows), shared.length, rented.length);
}

/**
 * What the prices prove once they keep every row exactly: all that is no rent is lowered by the worst excess among rows without rent, then
 * each rent is set to the least that its rows allow.
 */
function proven(
  gains: readonly number[],
  rows: readonly Row[],
  found: readonly number[],
  resources: number,
  rents: number,
): number {
  const isRent = (column: number): boolean => column >= resources && column < resources + rents;
  const prices = found.map((value, column) => (isRent(column) ? 0 : value));
  const rentOf = ({ coefficients }: Row): number =>
    coefficients.findIndex((one, at) => one < 0 && isRent(at));
  const excess = rows
    .filter((row) => rentOf(row) < 0)
    .map(({ coefficients, most }) => dot(coefficients, prices) / most);
  const factor = 1 / Math.max(1, ...excess.filter((one) => one > 1));
  const lowered = prices.map((price) => price * factor);
  for (const row of rows) {
    const rent = rentOf(row);
    if (rent < 0) continue;
    const least = dot(row.coefficients, lowered) + (lowered[rent] ?? 0) - row.most;
    lowered[rent] = Math.max(lowered[rent] ?? 0, least);
  }
  return Math.max(0, dot(gains, lowered));
}

function dot(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
