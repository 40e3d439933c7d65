import type { Creation, Outcome, Stock, Usable } from "./floors.ts";
import { mayHaveGroups, roomFor, settleInOrder } from "./floors.ts";
import type { ClusterShape } from "./shape.ts";
import type { Want } from "./wants.ts";

/** A plan of the product that differs from the model's. */
export interface Other {
  /** One for each group, and one for each place of loose nodes. */
  readonly creations: readonly Creation[];
  /** How much each demand has according to the plan, by {@link Want.by}. */
  readonly placed: ReadonlyMap<string, number>;
}

/**
 * Why a plan is wrong, or worse than the model's. Undefined if it is as good. Where wants compete for a limit, the rules allow several
 * plans. A plan is right if it keeps to the limits, gives each want what it says, and creates no node that could be left out. It must give
 * more than the model's plan to the first want by rank whose result differs, or give the same to all wants with fewer nodes, or with as many
 * of which the first want by rank that can tell them apart has more in the sizes that it prefers.
 */
export function faultOf(
  shape: ClusterShape,
  wants: readonly Want[],
  stock: Stock,
  other: Other,
  ours: Outcome,
): string | undefined {
  const beyond = other.creations.find(
    (_, index) => !mayCreate(shape, stock, other.creations.slice(0, index + 1)),
  );
  if (beyond !== undefined) return `no limit allows ${JSON.stringify(beyond)}`;
  const torn = wants.find((want) => isTorn(want, wants, stock, other.creations));
  if (torn !== undefined) return `${torn.by} has some of its nodes, and needs them together`;
  const placed = placedBy(shape, wants, stock, other.creations);
  const untrue = wants.find((want) => !isTold(want, wants, other, placed.get(want)));
  if (untrue !== undefined)
    return `${untrue.by} has ${placed.get(untrue)}, not ${other.placed.get(untrue.by)}`;
  const idle = other.creations.find((_, index) =>
    isSame(wants, placedBy(shape, wants, stock, withoutOne(other.creations, index)), placed),
  );
  if (idle !== undefined) return `nobody needs all of ${JSON.stringify(idle)}`;
  const changed = wants.find((want) => placed.get(want) !== ours.placed.get(want));
  if (changed === undefined) {
    const fewer = nodesOf(ours.creations) - nodesOf(other.creations);
    const isBetter = fewer > 0 || (fewer === 0 && areLiked(wants, other.creations, ours.creations));
    return isBetter ? undefined : "nobody has more";
  }
  const [theirs = 0, mine = 0] = [placed.get(changed), ours.placed.get(changed)];
  return theirs < mine
    ? `${changed.by}, the first by rank that differs, has ${theirs} and could have ${mine}`
    : undefined;
}

/** Whether the last of these creations is allowed beside the others. */
function mayCreate(shape: ClusterShape, stock: Stock, creations: readonly Creation[]): boolean {
  const last = creations.at(-1);
  const array = shape.arrays.find(({ name }) => name === last?.array);
  if (last === undefined || array === undefined) return false;
  const holding = [...stock.holding, ...creations.slice(0, -1).flatMap(nodesIn)];
  if (roomFor(shape, stock, holding, array, last.type) < last.count) return false;
  if (last.name !== undefined) {
    const there = [...stock.usable, ...creations.slice(0, -1)];
    return !stock.blocked.has(last.name) && !there.some(({ name }) => name === last.name);
  }
  if (last.key === undefined) return true;
  if (last.group === undefined)
    return last.count <= array.maxGroupSize && mayHaveGroups(stock, last.array, last.type);
  const size = holding.filter(({ group }) => group === last.group).length;
  return !stock.isShut(last.array, last.type, last.group) && size + last.count <= array.maxGroupSize;
}

/**
 * Whether a plan says how much a want has. Of nodes that it makes for other wants of their names it may say so from the next plan on: it
 * counts demand by demand.
 */
export function isTold(want: Want, wants: readonly Want[], { creations, placed }: Other, has = 0): boolean {
  const told = placed.get(want.by) ?? -1;
  if (want.kind !== "names") return told === has;
  const others = namesOfOthers(want, wants);
  const shared = creations.filter(({ name = "" }) => want.names.includes(name) && others.has(name));
  return told <= has && told >= has - shared.length;
}

const namesOfOthers = (want: Want, wants: readonly Want[]): ReadonlySet<string> =>
  new Set(wants.flatMap((one) => (one.kind === "names" && one !== want ? one.names : [])));

/** Whether names that are wanted together are made in part, or in several sizes. Those that other wants ask for may be made for these. */
function isTorn(
  want: Want,
  wants: readonly Want[],
  { usable, blocked }: Stock,
  creations: readonly Creation[],
): boolean {
  if (want.kind !== "names" || !want.together) return false;
  const there = new Set([...usable, ...creations].map(({ name }) => name));
  const others = namesOfOthers(want, wants);
  const own = creations.filter(({ name = "" }) => want.names.includes(name) && !others.has(name));
  if (own.length === 0) return false;
  const isLacking = want.names.some((name) => !there.has(name) && !blocked.has(name));
  return isLacking || new Set(own.map(({ type }) => type)).size > 1;
}

/** How much each want has once these nodes exist and no others can be created. */
function placedBy(
  shape: ClusterShape,
  wants: readonly Want[],
  stock: Stock,
  creations: readonly Creation[],
): Outcome["placed"] {
  const named = creations.map((one, index) =>
    one.key === undefined ? one : { ...one, group: one.group ?? `new group ${index}` },
  );
  const keys = named.flatMap(({ key, group }): [string, string][] =>
    key === undefined || group === undefined ? [] : [[group, key]],
  );
  const added = named.flatMap(nodesIn);
  return settleInOrder(shape, wants, {
    ...stock,
    usable: [...stock.usable, ...added],
    holding: [...stock.holding, ...added],
    keyOfGroup: new Map([...stock.keyOfGroup, ...keys]),
    isShut: () => true,
  }).placed;
}

const nodesIn = ({ array, type, group, name, count }: Creation): readonly Usable[] =>
  Array.from({ length: count }, () => ({ array, type, group, name, ready: false }));

/** The creations less one loose node, or less one whole group. */
function withoutOne(creations: readonly Creation[], index: number): readonly Creation[] {
  return creations.flatMap((one, at) => {
    if (at !== index) return [one];
    return one.key === undefined && one.count > 1 ? [{ ...one, count: one.count - 1 }] : [];
  });
}

/** Whether the first want by rank to which it makes a difference has more nodes of a size that it prefers with `some` than with `others`. */
function areLiked(wants: readonly Want[], some: readonly Creation[], others: readonly Creation[]): boolean {
  const isIts = (want: Want, name: string | undefined): boolean =>
    want.kind === "names" ? want.names.includes(name ?? "") : name === undefined;
  const of = (creations: readonly Creation[], want: Want, type: Creation["type"]): number =>
    nodesOf(
      creations.filter((one) => one.array === want.array && one.type === type && isIts(want, one.name)),
    );
  const gains = wants.flatMap((want) =>
    want.types.map((type) => of(some, want, type) - of(others, want, type)),
  );
  return (gains.find((gain) => gain !== 0) ?? 0) > 0;
}

const isSame = (wants: readonly Want[], some: Outcome["placed"], others: Outcome["placed"]): boolean =>
  wants.every((want) => some.get(want) === others.get(want));

const nodesOf = (creations: readonly Creation[]): number =>
  creations.reduce((sum, { count }) => sum + count, 0);
