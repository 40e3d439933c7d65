import type { MixItem, MixModel, MixNodes, MixSize, MixState } from "./mix-model.ts";
import { NOTHING, mostOnNew, roomFor, unitsOn } from "./mix-model.ts";

/** Is called with each way: the units that it places, and the state after that. Returns how many the next ones must place. */
type Emit = (units: number, after: MixState) => number;

/** Cost in steps of one position of {@link MixWays}. */
const STEPS_PER_POSITION = 3;

/** All ways to place units of one item on a state, the fullest nodes first. */
export class MixWays {
  readonly #model: MixModel;
  readonly #item: MixItem;
  readonly #i: number;
  readonly #state: MixState;
  readonly #spend: (steps: number) => boolean;
  /** False: there are ways that were not tried, because a number was too large to try all. */
  isExact = true;
  #most = 0;
  #emit: Emit = () => 0;
  #site: string | undefined;
  /** By position of the nodes: units that they and all after them take. */
  #onNodes: readonly number[] = [];
  #nodes: MixNodes[] = [];
  #left: number[] = [];
  #made: number[] = [];
  #cost = 0;

  constructor(model: MixModel, i: number, state: MixState, spend: (steps: number) => boolean) {
    this.#model = model;
    this.#item = model.items[i] ?? NOTHING;
    this.#i = i;
    this.#state = state;
    this.#spend = spend;
  }

  /** Calls `emit` for each way that places at least `most` units. `emit` returns how many the next ones must place. */
  each(most: number, emit: Emit): void {
    this.#most = most;
    this.#emit = emit;
    const { whole } = this.#item;
    if (whole !== "one-bucket") this.#start(undefined);
    else for (const site of this.#sites()) this.#start(site);
    if (whole !== undefined && this.#most === 0) this.#emit(0, this.#state);
  }

  #sites(): ReadonlySet<string> {
    const sizes = this.#model.sizes.map(({ empty }) => empty);
    return new Set([...this.#state.nodes, ...sizes].map(({ site }) => site));
  }

  #start(site: string | undefined): void {
    const { nodes, left, made, cost } = this.#state;
    this.#site = site;
    const onNodes: number[] = [...nodes.map(() => 0), 0];
    for (let n = nodes.length - 1; n >= 0; n -= 1)
      onNodes[n] = (onNodes[n + 1] ?? 0) + this.#roomOn(nodes[n]) * (nodes[n]?.count ?? 0);
    this.#onNodes = onNodes;
    this.#nodes = [];
    this.#left = [...left];
    this.#made = [...made];
    this.#cost = cost;
    this.#fill(0, this.#item.units);
  }

  #roomOn(nodes: MixNodes | undefined): number {
    if (nodes === undefined || (this.#site !== undefined && nodes.site !== this.#site)) return 0;
    return unitsOn(this.#item, this.#i, nodes);
  }

  /** Whether `left` units with at most `possible` more placed ones can still be enough. */
  #isEnough(left: number, possible: number): boolean {
    const units = this.#item.units - Math.max(0, left - possible);
    return this.#item.whole === undefined ? units >= this.#most : units >= this.#item.units;
  }

  #fill(n: number, left: number): void {
    const nodes = this.#state.nodes[n];
    if (nodes === undefined) {
      this.#open(0, left, undefined);
      return;
    }
    if (!this.#spend(STEPS_PER_POSITION)) return;
    const possible =
      (this.#onNodes[n] ?? 0) + mostOnNew(this.#model, this.#i, this.#left, this.#made, 0, this.#site);
    if (!this.#isEnough(left, possible)) return;
    const room = left === 0 ? 0 : this.#roomOn(nodes);
    const isFree = !this.#isWanted(nodes);
    this.#split(nodes, nodes.count, room, left, isFree, (rest) => this.#fill(n + 1, rest));
  }

  /** Whether a later item fits on these nodes. */
  #isWanted(nodes: MixNodes): boolean {
    const { items } = this.#model;
    for (let j = this.#i + 1; j < items.length; j += 1) {
      const item = items[j];
      if (item !== undefined && unitsOn(item, j, nodes) > 0) return true;
    }
    return false;
  }

  /**
   * Puts units on some of `count` equal nodes, those with the most first, and goes on with `next`. `isFree`: no later item wants these nodes, so
   * they are filled.
   */
  #split(
    nodes: MixNodes,
    count: number,
    room: number,
    left: number,
    isFree: boolean,
    next: (left: number) => void,
  ): void {
    const height = this.#nodes.length;
    const highest = count < 1 ? 0 : Math.min(room, left);
    const loads = isFree && highest > 0 ? [highest] : this.#numbersTo(highest);
    for (const load of loads) {
      const most = Math.min(count, Math.floor(left / load));
      for (const times of isFree ? [most] : this.#numbersTo(most)) {
        this.#nodes.push(this.#put(nodes, times, load));
        this.#split(nodes, count - times, load - 1, left - times * load, isFree, next);
        this.#nodes.length = height;
      }
      if (isFree) return;
    }
    if (count > 0) this.#nodes.push(count === nodes.count ? nodes : { ...nodes, count });
    next(left);
    this.#nodes.length = height;
  }

  #put(nodes: MixNodes, count: number, units: number): MixNodes {
    const { resource, amount, alone } = this.#item;
    const free = [...nodes.free];
    resource.forEach((r, at) => {
      free[r] = Math.max(0, (free[r] ?? 0) - (amount[at] ?? 0) * units);
    });
    const content = { item: this.#i, units, before: nodes.content };
    return { ...nodes, count, free, isEmpty: false, isClosed: alone, content };
  }

  /** The numbers to try, the largest first. */
  #numbersTo(most: number): readonly number[] {
    if (most <= ALL_UP_TO) return Array.from({ length: most }, (_, i) => most - i);
    this.isExact = false;
    return [most, most - 1, Math.ceil(most / 2), Math.ceil(most / 4), 1];
  }

  /** New nodes of the sizes from `s` on. `load`: the units on the last ones of size `s`; further ones get fewer. */
  #open(s: number, left: number, load: number | undefined): void {
    if (!this.#spend(STEPS_PER_POSITION)) return;
    const size = this.#model.sizes[s];
    if (left === 0 || size === undefined) {
      if (this.#isEnough(left, 0)) this.#most = this.#emit(this.#item.units - left, this.#now());
      return;
    }
    if (!this.#isEnough(left, mostOnNew(this.#model, this.#i, this.#left, this.#made, s, this.#site))) return;
    const room = Math.min(this.#roomOn(size.empty), left);
    const nodes = roomFor(size, this.#left, this.#made[s] ?? 0);
    if (room >= 1 && nodes >= 1) {
      const isFree = !this.#isWanted(size.empty);
      // No later item wants what is left of them: all are full but the last one.
      const loads = !isFree
        ? this.#numbersTo(Math.min(room, (load ?? room + 1) - 1))
        : load === undefined || left < load
          ? [room]
          : [];
      for (const units of loads)
        for (const times of this.#numbersTo(Math.min(nodes, Math.floor(left / units))))
          this.#make(s, size, times, units, () => this.#open(s, left - times * units, units));
    }
    this.#open(s + 1, left, undefined);
  }

  #make(s: number, { empty, charges, cost }: MixSize, count: number, units: number, next: () => void): void {
    const take = (nodes: number): void => {
      for (const { limit, amount } of charges) this.#left[limit] = (this.#left[limit] ?? 0) - amount * nodes;
      this.#made[s] = (this.#made[s] ?? 0) + nodes;
    };
    const before = this.#cost;
    const worse = (empty.takes[this.#i] ?? 0) * units;
    take(count);
    this.#cost = before + count * (cost + worse);
    this.#nodes.push(this.#put(empty, count, units));
    next();
    this.#nodes.pop();
    this.#cost = before;
    take(-count);
  }

  #now(): MixState {
    return { nodes: [...this.#nodes], left: [...this.#left], made: [...this.#made], cost: this.#cost };
  }
}

/** Up to this number, every number of units on a node, and of nodes, is tried. Of more, a few. */
const ALL_UP_TO = 6;
