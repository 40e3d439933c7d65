import type { ArrayShape, ClusterShape, TypeName } from "./shape.ts";
import { CORES } from "./shape.ts";
import type { Want } from "./wants.ts";
import { groupNodes } from "./wants.ts";

/** A node that may serve: it is up or coming, and nobody has asked it to stop. */
export interface Usable {
  readonly array: string;
  readonly type: TypeName;
  readonly group: string | undefined;
  readonly ready: boolean;
}

/** A node that still has a VM or may get one: it counts against limits and quotas, whatever becomes of it. */
export type Holding = Pick<Usable, "array" | "type" | "group">;

/** What there is, and what may be added. */
export interface Stock {
  readonly usable: readonly Usable[];
  readonly holding: readonly Holding[];
  /** What the nodes of a placement group were made for: "array0:4n". */
  readonly keyOfGroup: ReadonlyMap<string, string>;
  /** Nothing new in this array and size, or in this one of its placement groups. */
  readonly isShut: (array: string, type: TypeName, group?: string) => boolean;
}

/** What is to be created: so many loose nodes, or nodes of one group, by {@link linesOf}. */
export interface Creation {
  readonly array: string;
  readonly type: TypeName;
  readonly count: number;
  /** For a group: what for, and its name; a new one has none yet. */
  readonly key?: string;
  readonly group?: string;
}

export interface Outcome {
  readonly creations: readonly Creation[];
  /** What each want gets, in its own unit. */
  readonly placed: ReadonlyMap<Want, number>;
  /** Of groups that lack equally many nodes some are completed and others not: which, no rule says. */
  readonly tied: boolean;
}

/**
 * What the wants come to (issue 5, sections 1 and 2): each is a floor; what is there counts for all of them, and what one creates counts
 * for the next. First in the order of rank, which decides who gets what is scarce; if that makes new nodes or leaves something unmet,
 * once more with what others can count upon first: that holds if it leaves nobody with less and has more, or needs fewer nodes.
 */
export function settleWants(shape: ClusterShape, wants: readonly Want[], stock: Stock): Outcome {
  const first = new Attempt(shape, stock).settle(wants);
  const isMet = (want: Want): boolean => (first.placed.get(want) ?? 0) >= want.count;
  if (wants.length < 2 || (first.creations.length === 0 && wants.every(isMet))) return first;
  const firmFirst = [
    ...wants.filter(isMet).toSorted((a, b) => breadth(a) - breadth(b)),
    ...wants.filter((want) => !isMet(want)),
  ];
  const second = new Attempt(shape, stock).settle(firmFirst);
  return isBetter(wants, second, first) ? second : first;
}

/** Groups bring nodes that count for jobs and targets, jobs such that count for targets; and who takes few sizes, for one who takes any. */
function breadth(want: Want): number {
  return { groups: 0, job: 100, target: 200 }[want.kind] + (want.kind === "job" ? 0 : want.types.length);
}

function isBetter(wants: readonly Want[], other: Outcome, than: Outcome): boolean {
  const gains = wants.map((want) => (other.placed.get(want) ?? 0) - (than.placed.get(want) ?? 0));
  if (gains.some((gain) => gain < 0)) return false;
  return gains.some((gain) => gain > 0) || countOf(other) < countOf(than);
}

const countOf = ({ creations }: Outcome): number => creations.reduce((sum, { count }) => sum + count, 0);

interface Group {
  readonly array: string;
  readonly type: TypeName;
  readonly key: string;
  /** undefined: made by this plan. */
  readonly name: string | undefined;
  readonly ready: number;
  nodes: number;
  /** Some want counts upon it already. */
  counted: boolean;
}

class Attempt {
  readonly #shape: ClusterShape;
  readonly #stock: Stock;
  readonly #holding: Holding[];
  readonly #have = new Map<string, number>();
  readonly #jobCores = new Map<string, number>();
  readonly #groups: Group[] = [];
  readonly #creations: Creation[] = [];
  #tied = false;

  constructor(shape: ClusterShape, stock: Stock) {
    this.#shape = shape;
    this.#stock = stock;
    this.#holding = [...stock.holding];
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
      this.#groups.push({ array, type, key, name, ready, nodes: nodes.length, counted: false });
    }
  }

  settle(wants: readonly Want[]): Outcome {
    const placed = new Map(wants.map((want) => [want, this.#settleOne(want)]));
    return { creations: this.#creations, placed, tied: this.#tied };
  }

  #settleOne(want: Want): number {
    const array = this.#shape.arrays.find(({ name }) => name === want.array);
    if (array === undefined) return 0;
    switch (want.kind) {
      case "target":
        return this.#raise(want, array);
      case "job":
        return this.#pack(want, array);
      case "groups":
        return this.#group(want, array);
    }
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

  /** Slots of all jobs add up; each takes one core of the array's first size. */
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

  /** Whole groups that others count upon, other whole ones, those that lack the fewest nodes and can be completed, then new ones. */
  #group(want: Extract<Want, { kind: "groups" }>, array: ArrayShape): number {
    const lacking = (group: Group): number => Math.max(0, groupNodes(want, group.type) - group.nodes);
    const own = this.#groups
      .filter((group) => group.key === want.key && want.types.includes(group.type))
      .toSorted(
        (a, b) => Number(b.counted) - Number(a.counted) || lacking(a) - lacking(b) || b.ready - a.ready,
      );
    let whole = 0;
    for (const group of own) {
      if (whole >= want.count) break;
      const lack = lacking(group);
      if (lack > 0) this.#tied ||= own.some((other) => other !== group && lacking(other) === lack);
      if (lack > 0 && !this.#complete(group, lack, array)) continue;
      group.counted = true;
      whole += 1;
    }
    for (const type of want.types) {
      const size = groupNodes(want, type);
      while (whole < want.count && size <= array.maxGroupSize && this.#newGroupRoom(array, type) >= size) {
        const group = { array: array.name, type, key: want.key, name: undefined, ready: 0 };
        this.#groups.push({ ...group, nodes: size, counted: true });
        this.#create({ array: array.name, type, count: size, key: want.key });
        whole += 1;
      }
    }
    return whole;
  }

  #complete(group: Group, lack: number, array: ArrayShape): boolean {
    const { type, key, name } = group;
    if (name === undefined || this.#stock.isShut(array.name, type, name)) return false;
    const size = this.#holding.filter((node) => node.group === name).length;
    if (Math.min(this.#room(array, type), array.maxGroupSize - size) < lack) return false;
    this.#create({ array: array.name, type, count: lack, key, group: name });
    group.nodes += lack;
    return true;
  }

  #newGroupRoom(array: ArrayShape, type: TypeName): number {
    // A group of the size that is paused stands for any new one.
    const groups = new Set(this.#stock.keyOfGroup.keys());
    for (const group of groups) if (this.#stock.isShut(array.name, type, group)) return 0;
    return this.#room(array, type);
  }

  #create(creation: Creation): void {
    this.#creations.push(creation);
    this.#add(creation.array, creation.type, creation.count);
    const { array, type, count, group } = creation;
    for (let i = 0; i < count; i += 1) this.#holding.push({ array, type, group });
  }

  /** How many nodes more every limit allows. */
  #room(array: ArrayShape, type: TypeName): number {
    if (this.#stock.isShut(array.name, type)) return 0;
    const { maxCount, maxCoreCount, regionalCores, familyCores } = this.#shape;
    const cores = (nodes: readonly Holding[]): number =>
      nodes.reduce((sum, node) => sum + CORES[node.type], 0);
    const all = this.#holding;
    const here = all.filter((node) => node.array === array.name);
    const family = all.filter((node) => node.type === type);
    const coresLeft = Math.min(
      maxCoreCount - cores(all),
      array.maxCoreCount - cores(here),
      regionalCores - cores(all),
      familyCores[type] - cores(family),
    );
    const nodesLeft = Math.min(maxCount - all.length, array.maxCount - here.length);
    return Math.max(0, Math.min(nodesLeft, Math.floor(coresLeft / CORES[type])));
  }

  #count(array: string, type: TypeName): number {
    return this.#have.get(`${array}/${type}`) ?? 0;
  }

  #add(array: string, type: TypeName, nodes: number): void {
    this.#have.set(`${array}/${type}`, this.#count(array, type) + nodes);
  }
}

/** Creations as lines of text, alike ones added up, in alphabetical order. */
export function linesOf(creations: readonly Creation[]): readonly string[] {
  const sums = new Map<string, number>();
  for (const { array, type, count, key, group } of creations) {
    // Of several new groups alike each is a line of its own; what they are called is left to the product.
    const what = key === undefined ? "" : ` in ${group ?? `a new group of ${count}`} for ${key}`;
    sums.set(`${array}/${type}${what}`, (sums.get(`${array}/${type}${what}`) ?? 0) + count);
  }
  return [...sums].map(([what, count]) => `${count} x ${what}`).toSorted();
}
