import type { ArrayShape, ClusterShape, TypeName } from "./shape.ts";
import { CORES } from "./shape.ts";
import type { Fill, GroupEnd } from "./group-memory.ts";
import type { Group } from "./group-stage.ts";
import { ABANDONED, lackOf, stageOf, UNTOUCHED } from "./group-stage.ts";
import type { Want } from "./wants.ts";
import { groupNodes } from "./wants.ts";

/** A node that can serve a want: it is up or coming, and was not asked to stop. */
export interface Usable {
  readonly array: string;
  readonly type: TypeName;
  readonly group: string | undefined;
  readonly ready: boolean;
  /** Undefined: it serves no want that names nodes. */
  readonly name?: string | undefined;
}

/** A node that has a VM or may get one: it counts against limits and quotas, even if it can serve no want. */
export type Holding = Pick<Usable, "array" | "type" | "group">;

/** The existing nodes, and what limits the creation of more. */
export interface Stock {
  readonly usable: readonly Usable[];
  readonly holding: readonly Holding[];
  /** With these names no node may be created now. */
  readonly blocked: ReadonlySet<string>;
  /** By placement group: what its nodes were created for, as "array0:4n". */
  readonly keyOfGroup: ReadonlyMap<string, string>;
  /** No node may be created in this array and size, or in this one of its placement groups. */
  readonly isShut: (array: string, type: TypeName, group?: string) => boolean;
  /** The size is invalid in this array, so that its missing nodes are not waited for. */
  readonly isInvalid: (array: string, type: TypeName) => boolean;
  /** By group name: groups that lacked nodes after the previous plan. */
  readonly fills: ReadonlyMap<string, Fill>;
  /** A group that has lacked nodes since this moment or longer is no longer waited for. */
  readonly patientSince: number;
}

/** Nodes to create: this many loose nodes, or nodes of one group. */
export interface Creation {
  readonly array: string;
  readonly type: TypeName;
  readonly count: number;
  /** For a group: what its nodes are for, and its name. A new group has no name yet. */
  readonly key?: string;
  readonly group?: string;
  /** A node by name. */
  readonly name?: string;
}

export interface Outcome {
  readonly creations: readonly Creation[];
  /** How much each want gets, in its own unit. */
  readonly placed: ReadonlyMap<Want, number>;
  /** The same when it was its turn, without the names for which a later want makes a node. */
  readonly inTurn: ReadonlyMap<Want, number>;
  /** No rule says which of several groups that lack equally many nodes is completed. */
  readonly tied: boolean;
  /** The groups that existed before the plan, and what the wants made of them. */
  readonly groups: readonly GroupEnd[];
}

/** Settles the wants in this order. Existing nodes count for all wants, and nodes that one want creates count for the next. */
export function settleInOrder(shape: ClusterShape, wants: readonly Want[], stock: Stock): Outcome {
  return new Attempt(shape, stock).settle(wants);
}

class Attempt {
  readonly #shape: ClusterShape;
  readonly #stock: Stock;
  readonly #holding: Holding[];
  readonly #have = new Map<string, number>();
  /** The names of nodes that exist or are created. */
  readonly #names: Set<string | undefined>;
  readonly #jobCores = new Map<string, number>();
  readonly #groups: Group[] = [];
  readonly #creations: Creation[] = [];
  #tied = false;

  constructor(shape: ClusterShape, stock: Stock) {
    this.#shape = shape;
    this.#stock = stock;
    this.#holding = [...stock.holding];
    this.#names = new Set(stock.usable.map(({ name }) => name));
    for (const { array, type } of stock.usable) this.#add(array, type, 1);
    const members = Map.groupBy(
      stock.usable.filter(({ group }) => group !== undefined),
      ({ array, type, group }) => `${array}\n${type}\n${group}`,
    );
    for (const nodes of members.values()) {
      const [first] = nodes;
      const key = stock.keyOfGroup.get(first?.group ?? "");
      if (first === undefined || key === undefined) continue;
      const ready = nodes.filter((node) => node.ready).length;
      const { array, type, group: name } = first;
      const fill = name === undefined ? undefined : stock.fills.get(name);
      const group = { array, type, key, name, ready, nodes: nodes.length, fill };
      this.#groups.push({ ...group, ...UNTOUCHED });
    }
  }

  settle(wants: readonly Want[]): Outcome {
    const inTurn = new Map(wants.map((want) => [want, this.#settleOne(want)]));
    // A name counts for all wants that ask for it, whichever makes its node.
    const placed = new Map([...inTurn].map(([want, count]) => [want, this.#named(want) ?? count]));
    const groups = this.#groups.flatMap(({ name, ...group }) =>
      name === undefined ? [] : [{ ...group, name }],
    );
    return { creations: this.#creations, placed, inTurn, tied: this.#tied, groups };
  }

  #settleOne(want: Want): number {
    const array = this.#shape.arrays.find(({ name }) => name === want.array);
    if (want.kind === "names") this.#name(want, array);
    if (want.kind === "names" || array === undefined) return this.#named(want) ?? 0;
    switch (want.kind) {
      case "target":
        return this.#raise(want, array);
      case "job":
        return this.#pack(want, array);
      case "groups":
        return this.#group(want, array);
    }
  }

  #named(want: Want): number | undefined {
    return want.kind === "names" ? want.names.filter((name) => this.#names.has(name)).length : undefined;
  }

  #raise(want: Extract<Want, { kind: "target" }>, array: ArrayShape): number {
    const each = (type: TypeName): number => (want.unit === "nodes" ? 1 : CORES[type]);
    let have = want.types.reduce((sum, type) => sum + this.#count(array.name, type) * each(type), 0);
    for (const type of want.types) {
      if (have >= want.count) break;
      // Cores are rounded up to whole nodes.
      const nodes = Math.min(Math.ceil((want.count - have) / each(type)), this.#room(array, type));
      if (nodes <= 0) continue;
      this.#create({ array: array.name, type, count: nodes });
      have += nodes * each(type);
    }
    return Math.min(want.count, have);
  }

  /** Names without a node get one where there is room: all of them in one size if they are wanted together. */
  #name(want: Extract<Want, { kind: "names" }>, array: ArrayShape | undefined): void {
    let left = want.names.filter((name) => !this.#names.has(name) && !this.#stock.blocked.has(name));
    for (const type of array === undefined ? [] : want.types) {
      const room = array === undefined ? 0 : this.#room(array, type);
      if (want.together && room < left.length) continue;
      for (const name of left.slice(0, room)) this.#create({ array: want.array, type, count: 1, name });
      left = left.slice(room);
    }
  }

  /** The slots of all jobs add up. Each takes one core of the array's first size. */
  #pack(want: Want, array: ArrayShape): number {
    const [type] = want.types;
    if (type === undefined) return 0;
    const key = `${array.name}/${type}`;
    const taken = this.#jobCores.get(key) ?? 0;
    let free = this.#count(array.name, type) * CORES[type] - taken;
    const nodes = Math.min(Math.ceil((want.count - free) / CORES[type]), this.#room(array, type));
    if (nodes > 0) {
      this.#create({ array: array.name, type, count: nodes });
      free += nodes * CORES[type];
    }
    const placed = Math.max(0, Math.min(want.count, free));
    this.#jobCores.set(key, taken + placed);
    return placed;
  }

  /**
   * Counts on groups in this order: whole groups that other wants count on, other whole groups, those that are being filled, other groups
   * that lack nodes, each time those first that lack the fewest. A group that cannot be completed is waited for in place of a new one,
   * unless it has been waited for long enough. Then, size by size: groups that were given up and can be completed after all, and new ones,
   * but no new ones in a size in which a group is given up now.
   */
  #group(want: Extract<Want, { kind: "groups" }>, array: ArrayShape): number {
    const own = this.#groups.filter((group) => group.key === want.key && want.types.includes(group.type));
    for (const group of own) group.size = groupNodes(want, group.type);
    own.sort((a, b) => stageOf(a) - stageOf(b) || lackOf(a) - lackOf(b) || b.ready - a.ready);
    let whole = 0;
    let held = 0;
    for (const group of own.filter((one) => stageOf(one) < ABANDONED)) {
      if (whole + held >= want.count) break;
      const stays = this.#keep(group, array, own);
      group.counted ||= stays !== "let-go";
      if (stays === "whole") whole += 1;
      if (stays === "held") held += 1;
    }
    const abandoned = own.filter((one) => stageOf(one) === ABANDONED);
    for (const type of want.types) {
      for (const group of abandoned.filter((one) => one.type === type)) {
        if (whole + held >= want.count) break;
        this.#noteTie(group, abandoned);
        if (!this.#complete(group, array)) continue;
        group.counted = true;
        whole += 1;
      }
      if (own.some((group) => group.type === type && group.givenUp)) continue;
      const size = groupNodes(want, type);
      const isPossible = (): boolean => this.#mayHaveGroup(array, type, size);
      while (whole + held < want.count && isPossible()) {
        const group = { array: array.name, type, key: want.key, name: undefined, ready: 0, fill: undefined };
        this.#groups.push({ ...group, ...UNTOUCHED, nodes: size, counted: true, size });
        this.#create({ array: array.name, type, count: size, key: want.key });
        whole += 1;
      }
    }
    return whole;
  }

  /** Whether a group is whole or can be completed, is waited for, or does not count. */
  #keep(group: Group, array: ArrayShape, own: readonly Group[]): "whole" | "held" | "let-go" {
    if (lackOf(group) === 0) return "whole";
    this.#noteTie(group, own);
    if (group.fill !== undefined && group.fill.since <= this.#stock.patientSince) {
      group.givenUp = true;
      return "let-go";
    }
    if (this.#complete(group, array)) return "whole";
    return this.#stock.isInvalid(array.name, group.type) ? "let-go" : "held";
  }

  #noteTie(group: Group, own: readonly Group[]): void {
    this.#tied ||= own.some(
      (one) => one !== group && stageOf(one) === stageOf(group) && lackOf(one) === lackOf(group),
    );
  }

  #complete(group: Group, array: ArrayShape): boolean {
    const { type, key, name } = group;
    const lack = lackOf(group);
    if (name === undefined || this.#stock.isShut(array.name, type, name)) return false;
    const size = this.#holding.filter((node) => node.group === name).length;
    if (Math.min(this.#room(array, type), array.maxGroupSize - size) < lack) return false;
    this.#create({ array: array.name, type, count: lack, key, group: name });
    group.nodes += lack;
    group.completed = true;
    return true;
  }

  #create(creation: Creation): void {
    this.#creations.push(creation);
    this.#add(creation.array, creation.type, creation.count);
    const { array, type, count, group, name } = creation;
    if (name !== undefined) this.#names.add(name);
    for (let i = 0; i < count; i += 1) this.#holding.push({ array, type, group });
  }

  #mayHaveGroup(array: ArrayShape, type: TypeName, size: number): boolean {
    const isPossible = size <= array.maxGroupSize && this.#room(array, type) >= size;
    return isPossible && mayHaveGroups(this.#stock, array.name, type);
  }

  #room(array: ArrayShape, type: TypeName): number {
    return roomFor(this.#shape, this.#stock, this.#holding, array, type);
  }

  #count(array: string, type: TypeName): number {
    return this.#have.get(`${array}/${type}`) ?? 0;
  }

  #add(array: string, type: TypeName, nodes: number): void {
    this.#have.set(`${array}/${type}`, this.#count(array, type) + nodes);
  }
}

/** How many more nodes all limits allow beside these. */
export function roomFor(
  shape: ClusterShape,
  stock: Stock,
  holding: readonly Holding[],
  array: ArrayShape,
  type: TypeName,
): number {
  if (stock.isShut(array.name, type)) return 0;
  const { maxCount, maxCoreCount, regionalCores, familyCores } = shape;
  const cores = (nodes: readonly Holding[]): number => nodes.reduce((sum, node) => sum + CORES[node.type], 0);
  const here = holding.filter((node) => node.array === array.name);
  const family = holding.filter((node) => node.type === type);
  const coresLeft = Math.min(
    maxCoreCount - cores(holding),
    array.maxCoreCount - cores(here),
    regionalCores - cores(holding),
    familyCores[type] - cores(family),
  );
  const nodesLeft = Math.min(maxCount - holding.length, array.maxCount - here.length);
  return Math.max(0, Math.min(nodesLeft, Math.floor(coresLeft / CORES[type])));
}

/** While a group of this size is paused, no new one is created. */
export function mayHaveGroups({ keyOfGroup, isShut }: Stock, array: string, type: TypeName): boolean {
  return [...keyOfGroup.keys()].every((group) => !isShut(array, type, group));
}

/** Creations as lines of text in alphabetical order, with equal ones added up. */
export function linesOf(creations: readonly Creation[]): readonly string[] {
  const sums = new Map<string, number>();
  for (const { array, type, count, key, group, name } of creations) {
    // New groups have no names yet: they differ only by their size.
    const loose = name === undefined ? "" : ` as ${name}`;
    const what = key === undefined ? loose : ` in ${group ?? `a new group of ${count}`} for ${key}`;
    sums.set(`${array}/${type}${what}`, (sums.get(`${array}/${type}${what}`) ?? 0) + count);
  }
  return [...sums].map(([what, count]) => `${count} x ${what}`).toSorted();
}
