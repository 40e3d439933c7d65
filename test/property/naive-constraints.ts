import type { Constraint } from "../../src/domain/constraint.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { Resources, ResourceValue, Scalar } from "../../src/domain/resources.ts";
import { bytesOf, bytesPer, isSize } from "../../src/domain/size.ts";

/** A node with nobody on it, as the checker sees it. */
export interface EmptyNode {
  readonly bucket: BucketKey;
  readonly resources: Resources;
  readonly properties: Readonly<Record<string, ResourceValue>>;
  /** Only of a bucket that would make a node. */
  readonly capacityFailureSeconds?: number;
}

/** What is left in pools before the plan, and the values of marks. */
export interface NaivePools {
  readonly left: ReadonlyMap<string, number>;
  readonly values: ReadonlyMap<string, Scalar>;
}

/** Whether a node will do, and what one slot takes there: of the node (sizes in bytes) and of pools. Undefined: it will not do. */
export interface Taking {
  readonly node: ReadonlyMap<string, number>;
  readonly pools: ReadonlyMap<string, number>;
  readonly alone?: "job" | "task";
}

const NOTHING: Taking = { node: new Map(), pools: new Map() };
const CLOSE = 1e-9;

/** Amounts that differ by rounding only are the same. */
export const isAtMost = (a: number, b: number): boolean =>
  a <= b + CLOSE * Math.max(1, Math.abs(a), Math.abs(b));

/** Reads the constraint language a second time (scalelib-behaviour.md 9), one node and one constraint after the other. */
export function takingOf(
  constraints: readonly Constraint[],
  node: EmptyNode,
  pools: NaivePools,
): Taking | undefined {
  const parts: Taking[] = [];
  for (const constraint of constraints) {
    const part = read(constraint, node, pools);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  const taken = addUp(parts.map((part) => part.node));
  const drained = addUp(parts.map((part) => part.pools));
  for (const [name, amount] of taken) {
    if (!isAtMost(amount, countOf(node.resources[name]))) return undefined;
  }
  for (const [name, amount] of drained) {
    if (!isAtMost(amount, pools.left.get(name) ?? 0)) return undefined;
  }
  const alone = parts.some((part) => part.alone === "job") ? "job" : parts.find((part) => part.alone)?.alone;
  return { node: taken, pools: drained, ...(alone === undefined ? {} : { alone }) };
}

function read(constraint: Constraint, node: EmptyNode, pools: NaivePools): Taking | undefined {
  switch (constraint.kind) {
    case "amount": {
      const found = node.resources[constraint.resource];
      if (found === undefined || found === null || typeof found === "string") return undefined;
      const { amount } = constraint;
      const perUnit = isSize(found) ? bytesPer(found.unit) : 1;
      const taken = isSize(amount) ? bytesOf(amount) : amount * perUnit;
      if (!isAtMost(taken, countOf(found))) return undefined;
      return { ...NOTHING, node: taken > 0 ? new Map([[constraint.resource, taken]]) : new Map() };
    }
    case "resource-choice":
      return when(isAmong(node.resources[constraint.resource], constraint.choices));
    case "property-choice":
      return when(isAmong(node.properties[constraint.property], constraint.choices));
    case "exclusive":
      return constraint.wanted ? { ...NOTHING, alone: constraint.scope } : NOTHING;
    case "in-a-placement-group":
      return when((node.bucket.placementGroup !== undefined) === constraint.wanted);
    case "and":
      return takingOf(constraint.of, node, pools);
    case "or": {
      // The first that holds is charged; on a node that is in use that may be another one than here. What all take is taken.
      const [first, ...others] = constraint.of.flatMap((member) => read(member, node, pools) ?? []);
      return first === undefined ? undefined : others.reduce(common, first);
    }
    case "xor": {
      const holding = constraint.of.flatMap((member) => read(member, node, pools) ?? []);
      return holding.length === 1 ? holding[0] : undefined;
    }
    case "not":
      return when(read(constraint.of, node, pools) === undefined);
    case "never":
      return undefined;
    case "pool":
      return drain([constraint.pool], constraint.amount, pools);
    case "pool-value":
      return when(pools.values.get(constraint.pool) === constraint.value);
    case "shared-consumable":
      return drain(
        constraint.pools.map(({ source }) => sharedName(constraint.resource, source)),
        constraint.amount,
        pools,
      );
    case "capacity-failure-backoff": {
      const since = node.capacityFailureSeconds;
      return when(since === undefined || constraint.seconds === undefined || since >= constraint.seconds);
    }
  }
}

const common = (a: Taking, b: Taking): Taking => ({
  ...a,
  node: least(a.node, b.node),
  pools: least(a.pools, b.pools),
});

function least(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map(
    [...a].flatMap(([name, amount]) => (b.has(name) ? [[name, Math.min(amount, b.get(name) ?? 0)]] : [])),
  );
}

/** One name and source is one pool, whoever says it. */
export const sharedName = (resource: string, source: string): string => `${resource} from ${source}`;

const when = (holds: boolean): Taking | undefined => (holds ? NOTHING : undefined);

function drain(names: readonly string[], amount: number, { left }: NaivePools): Taking | undefined {
  const short = names.some((name) => !isAtMost(amount, left.get(name) ?? -1));
  return short ? undefined : { ...NOTHING, pools: new Map(names.map((name) => [name, amount])) };
}

function addUp(parts: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const total = new Map<string, number>();
  for (const part of parts)
    for (const [name, amount] of part) total.set(name, (total.get(name) ?? 0) + amount);
  return total;
}

/** The countable part of a value; sizes in bytes. */
export function countOf(value: ResourceValue | undefined): number {
  if (isSize(value)) return bytesOf(value);
  return typeof value === "number" || typeof value === "boolean" ? Number(value) : 0;
}

function isAmong(found: ResourceValue | undefined, choices: readonly Scalar[]): boolean {
  if (found === undefined) return false;
  const value = isSize(found) ? bytesOf(found) : found;
  return choices.some((choice) => {
    if (typeof value === "string" && typeof choice === "string") return matches(value, choice);
    if (value === null || choice === null) return value === choice;
    if (typeof value === "string" || typeof choice === "string") return false;
    return Number(value) === Number(choice);
  });
}

/** A shell pattern, letter by letter: `*`, `?`, `[ab]`, `[!ab]`. */
function matches(text: string, pattern: string): boolean {
  if (pattern === "") return text === "";
  const [first = "", ...others] = pattern;
  const rest = others.join("");
  if (first === "*") return matches(text, rest) || (text !== "" && matches(text.slice(1), pattern));
  if (text === "") return false;
  const close = first === "[" ? pattern.indexOf("]", 2) : -1;
  if (close > 0) {
    const inside = pattern.slice(1, close);
    const isNegated = inside.startsWith("!");
    const letters = isNegated ? inside.slice(1) : inside;
    return letters.includes(text[0] ?? "") !== isNegated && matches(text.slice(1), pattern.slice(close + 1));
  }
  return (first === "?" || first === text[0]) && matches(text.slice(1), rest);
}
