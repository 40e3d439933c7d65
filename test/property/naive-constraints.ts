import type { Constraint } from "../../src/domain/constraint.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { Resources, ResourceValue, Scalar } from "../../src/domain/resources.ts";
import { bytesOf, bytesPer, isSize, parseSize } from "../../src/domain/size.ts";

/** A node without jobs, as the checker sees it. */
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

/**
 * Reads the constraint language a second time (scalelib.md 9), one node and one constraint after the other. Which of several
 * alternatives is charged hangs on who else is on the node: what all of those take that would do is taken.
 */
export function takingOf(
  constraints: readonly Constraint[],
  node: EmptyNode,
  pools: NaivePools,
): Taking | undefined {
  const [first, ...others] = waysOf(constraints, node, pools);
  return first === undefined ? undefined : others.reduce(common, first);
}

/** What a slot may take of the node, with one or another alternative. None if a node that is not there yet would cease to do. */
export function waysOf(
  constraints: readonly Constraint[],
  node: EmptyNode,
  pools: NaivePools,
): readonly Taking[] {
  const isKept = livesOf(node).every((later) => waysNow(constraints, later, pools).length > 0);
  return isKept ? waysNow(constraints, node, pools) : [];
}

/** Stages of a node that is not there yet, with names and times that it may get. Its name is an end that no constraint knows. */
function livesOf(node: EmptyNode): readonly EmptyNode[] {
  if (node.properties["exists"] !== false) return [];
  const { properties } = node;
  const known = Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== null));
  const host = "ip-0a0b0c0d";
  const time = { create_time: "2026-11-29T07:08:09Z", create_time_unix: 1_795_936_089 };
  const match = { last_match_time: "2026-11-29T07:09:09Z", last_match_time_unix: 1_795_936_149 };
  const name = "nodeId" in node ? {} : { name: `${node.bucket.array}-4711` };
  const given = { hostname: host, fqdn: `${host}.net`, hostname_or_uuid: host, private_ip: "10.11.12.13" };
  return ["Off", "Acquiring", "Preparing", "Ready"].map((state) => ({
    ...node,
    properties: {
      ...properties,
      ...given,
      ...time,
      ...match,
      instance_id: "8d0f",
      create_time_remaining: state === "Ready" ? null : 1234,
      ...known,
      ...name,
      exists: true,
      state,
    },
  }));
}

function waysNow(constraints: readonly Constraint[], node: EmptyNode, pools: NaivePools): readonly Taking[] {
  let ways: readonly Taking[] = [NOTHING];
  for (const constraint of constraints) {
    const parts = read(constraint, node, pools);
    ways = ways.flatMap((way) => parts.map((part) => both(way, part)));
  }
  return ways.filter(
    (way) =>
      [...way.node].every(([name, amount]) => isAtMost(amount, countOf(node.resources[name]))) &&
      [...way.pools].every(([name, amount]) => isAtMost(amount, pools.left.get(name) ?? 0)),
  );
}

function both(a: Taking, b: Taking): Taking {
  const alone = [a, b].some((part) => part.alone === "job") ? "job" : (a.alone ?? b.alone);
  const taken = { node: addUp([a.node, b.node]), pools: addUp([a.pools, b.pools]) };
  return alone === undefined ? taken : { ...taken, alone };
}

/** The ways in which it holds; none: it does not. */
function read(constraint: Constraint, node: EmptyNode, pools: NaivePools): readonly Taking[] {
  switch (constraint.kind) {
    case "amount": {
      const found = node.resources[constraint.resource];
      if (found === undefined || found === null || typeof found === "string") return [];
      const { amount } = constraint;
      const perUnit = isSize(found) ? bytesPer(found.unit) : 1;
      const taken = isSize(amount) ? bytesOf(amount) : amount * perUnit;
      if (!isAtMost(taken, countOf(found))) return [];
      return [{ ...NOTHING, node: taken > 0 ? new Map([[constraint.resource, taken]]) : new Map() }];
    }
    case "resource-choice":
      return when(isAmong(node.resources[constraint.resource], constraint.choices));
    case "property-choice":
      return when(isAmong(node.properties[constraint.property], constraint.choices));
    case "exclusive":
      return [constraint.wanted ? { ...NOTHING, alone: constraint.scope } : NOTHING];
    case "in-a-placement-group":
      return when((node.bucket.placementGroup !== undefined) === constraint.wanted);
    case "and":
      return waysNow(constraint.of, node, pools);
    case "or":
      return constraint.of.flatMap((member) => read(member, node, pools));
    case "xor": {
      const [holding = [], ...others] = constraint.of
        .map((member) => read(member, node, pools))
        .filter(({ length }) => length > 0);
      return others.length === 0 ? holding : [];
    }
    case "not":
      return when(read(constraint.of, node, pools).length === 0);
    case "never":
      return [];
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

/** The same name and source mean the same pool, in any job. */
export const sharedName = (resource: string, source: string): string => `${resource} from ${source}`;

const when = (holds: boolean): readonly Taking[] => (holds ? [NOTHING] : []);

function drain(names: readonly string[], amount: number, { left }: NaivePools): readonly Taking[] {
  const short = names.some((name) => !isAtMost(amount, left.get(name) ?? -1));
  return short ? [] : [{ ...NOTHING, pools: new Map(names.map((name) => [name, amount])) }];
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
    if (isSize(found) && choice === found.amount) return true;
    if (isSize(found) && typeof choice === "string") return bytesOfText(choice) === value;
    if (typeof value === "string" && typeof choice === "string") return matches(value, choice);
    if (value === null || choice === null) return value === choice;
    if (typeof value === "string" || typeof choice === "string") return false;
    return Number(value) === Number(choice);
  });
}

/** "memory::4g" or "4g" in bytes. */
function bytesOfText(text: string): number {
  const [, amount = "", unit = ""] = /^(?:.*:)?([\d.]+)([bkmgtpKMGTP])$/.exec(text) ?? [];
  const one = parseSize(`1${unit}`);
  return isSize(one) ? Number(amount) * bytesOf(one) : Number.NaN;
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
