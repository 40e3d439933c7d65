import type { Amounts, SmallJob, SmallWorld } from "./small-world.ts";
import { minus } from "./small-world.ts";

/*
 * The best of all plans of a small world, proved. It shares no code with src: each demand, in the order of rank, is put on every state that
 * the demands before it can leave, in every way. Equal states are kept once.
 */

/** A node as it is: its size, and what is free. */
interface Box {
  readonly size: number;
  readonly free: Amounts;
  readonly state: "empty" | "shared" | "closed";
}

/** What the demands so far have left: nodes in a fixed order, and how many new ones there are of each size. */
interface State {
  readonly boxes: readonly Box[];
  readonly made: readonly number[];
  /** The least that the new nodes of any way to this state cost. */
  readonly cost: number;
}

/** A world takes more ways, or more states after one demand, than are tried. */
export class NotProved extends Error {}

const MOST_WAYS = 5_000_000;
const MOST_STATES = 60_000;

/** The most units of each job, the first job first: the optimum by rank. */
export function optimumByRank(world: SmallWorld): readonly number[] {
  const search = new Search(world, Number.POSITIVE_INFINITY);
  let states: readonly State[] = [search.start()];
  return world.jobs.map((job, i) => {
    const [most, next] = search.most(states, job, i + 1);
    states = next;
    return most;
  });
}

/**
 * The least that new nodes cost if the jobs get these units. `atMost`: what is known to do. `prices`: of one node of each size.
 */
export function leastCost(
  world: SmallWorld,
  units: readonly number[],
  prices: readonly number[],
  atMost: number,
): number {
  const search = new Search(world, atMost, prices);
  let states: readonly State[] = [search.start()];
  world.jobs.forEach((job, i) => {
    states = search.exactly(states, job, units[i] ?? 0, i + 1, search.floorAfter(i + 1, units));
  });
  return states.reduce((least, { cost }) => Math.min(least, cost), atMost);
}

class Search {
  readonly #world: SmallWorld;
  readonly #atMost: number;
  readonly #prices: readonly number[];
  #ways = 0;

  constructor(world: SmallWorld, atMost: number, prices: readonly number[] = []) {
    this.#world = world;
    this.#atMost = atMost;
    this.#prices = prices;
  }

  start(): State {
    const { nodes, sizes } = this.#world;
    const boxes = nodes.map(({ size, used }): Box => ({
      size,
      free: minus(sizes[size]?.has ?? [0, 0, 0], used, 1),
      state: used[0] > 0 ? "shared" : "empty",
    }));
    return { boxes, made: sizes.map(() => 0), cost: 0 };
  }

  /** The most units of the job that any of these states takes, and all states after that. */
  most(states: readonly State[], job: SmallJob, next: number): readonly [number, readonly State[]] {
    let most = 0;
    let found = new Map<string, State>();
    for (const state of states) {
      for (const { left, after } of this.#waysOf(state, job, job.units - most)) {
        const units = job.units - left;
        if (units < most) continue;
        if (units > most) found = new Map();
        most = units;
        this.#keep(found, after, next);
      }
    }
    return [most, [...found.values()]];
  }

  /** All states in which the job has exactly these units, and that cost no more than is known to do. */
  exactly(
    states: readonly State[],
    job: SmallJob,
    units: number,
    next: number,
    floor: (state: State) => number,
  ): readonly State[] {
    const found = new Map<string, State>();
    const part = job.slotsPerNode === undefined ? { ...job, units } : job;
    for (const state of states) {
      if (units === 0) this.#keep(found, state, next);
      else
        for (const { left, after } of this.#waysOf(state, part, 0))
          if (left === 0 && floor(after) < this.#atMost - 1e-9) this.#keep(found, after, next);
    }
    return [...found.values()];
  }

  /**
   * What a state costs at least when the jobs from `from` on have their units: of one amount after the other, what exceeds all that is free,
   * at the lowest price.
   */
  floorAfter(from: number, units: readonly number[]): (state: State) => number {
    const { jobs, sizes } = this.#world;
    const rest = jobs.slice(from);
    const amounts = ([0, 1, 2] as const).map((r) => ({
      r,
      asked: rest.reduce(
        (sum, { takes, slotsPerNode = 1 }, i) => sum + takes[r] * slotsPerNode * (units[from + i] ?? 0),
        0,
      ),
      rate: sizes.reduce(
        (least, { has }, size) => Math.min(least, (this.#prices[size] ?? 0) / has[r]),
        Number.POSITIVE_INFINITY,
      ),
    }));
    return ({ boxes, cost }) =>
      cost +
      amounts.reduce((most, { r, asked, rate }) => {
        const free = boxes.reduce((sum, box) => sum + (box.state === "closed" ? 0 : box.free[r]), 0);
        return asked > free && Number.isFinite(rate) ? Math.max(most, (asked - free) * rate) : most;
      }, 0);
  }

  /** Every way to put units of a job on a state. At most `leave` units stay unplaced, but for a gang, which may always get nothing. */
  *#waysOf(state: State, job: SmallJob, leave: number): Generator<Way> {
    const { sizes } = this.#world;
    if (job.slotsPerNode === undefined) {
      yield* this.#put(state, job, { left: job.units, leave, from: 0, most: Number.POSITIVE_INFINITY });
      return;
    }
    for (let size = 0; size < sizes.length; size += 1)
      yield* this.#put(state, job, { left: job.units, leave: 0, from: 0, most: 1, only: size });
    if (leave >= job.units) yield { left: job.units, after: state };
  }

  *#put(state: State, job: SmallJob, at: Position): Generator<Way> {
    this.#ways += 1;
    if (this.#ways > MOST_WAYS) throw new NotProved();
    const { boxes } = state;
    if (at.left === 0 || at.from === boxes.length) {
      if (at.left > 0) yield* this.#open(state, job, { ...at, size: 0 });
      else yield { left: 0, after: state };
      return;
    }
    const box = boxes[at.from];
    if (box === undefined) return;
    const isTwin = at.from > 0 && at.before !== undefined && textOf(at.before) === textOf(box);
    const room = at.only === undefined || at.only === box.size ? this.#room(box, job) : 0;
    // Of equal nodes the first ones get the most.
    const most = Math.min(room, at.left, at.most, isTwin ? (at.load ?? room) : room);
    for (let load = most; load >= 0; load -= 1) {
      const next = load === 0 ? boxes : boxes.with(at.from, after(box, job, load));
      const then = { ...at, left: at.left - load, from: at.from + 1, before: box, load };
      yield* this.#put({ ...state, boxes: next }, job, then);
    }
  }

  /** New nodes of the sizes from `size` on; of one size, those with the most units first. */
  *#open(state: State, job: SmallJob, at: Position & { readonly size: number }): Generator<Way> {
    this.#ways += 1;
    if (this.#ways > MOST_WAYS) throw new NotProved();
    if (at.left <= at.leave) yield { left: at.left, after: state };
    const { sizes } = this.#world;
    if (at.left === 0) return;
    for (let size = at.size; size < sizes.length; size += 1) {
      const has = sizes[size]?.has;
      if (has === undefined || (at.only ?? size) !== size || !this.#mayMake(state, size)) continue;
      const box: Box = { size, free: has, state: "empty" };
      const limit = size === at.size && at.onNew !== undefined ? at.onNew : Number.POSITIVE_INFINITY;
      const cost = state.cost + (this.#prices[size] ?? 0);
      if (cost >= this.#atMost - 1e-9) continue;
      for (let load = Math.min(this.#room(box, job), at.left, at.most, limit); load > 0; load -= 1) {
        const boxes = [...state.boxes, after(box, job, load)];
        const made = state.made.with(size, (state.made[size] ?? 0) + 1);
        yield* this.#open({ boxes, made, cost }, job, { ...at, left: at.left - load, size, onNew: load });
      }
    }
  }

  #mayMake({ made }: State, size: number): boolean {
    const { limits, sizes } = this.#world;
    return limits.every((limit) => {
      if (!limit.sizes.includes(size)) return true;
      const each = (i: number): number => (limit.unit === "nodes" ? 1 : (sizes[i]?.has[0] ?? 0));
      return limit.sizes.reduce((used, i) => used + (made[i] ?? 0) * each(i), each(size)) <= limit.left;
    });
  }

  /** How many units of the job a node takes. */
  #room({ free, state }: Box, { takes, exclusive, slotsPerNode }: SmallJob): number {
    if (state === "closed" || (exclusive && state !== "empty")) return 0;
    const slots = Math.min(
      ...takes.map((amount, r) =>
        amount > 0 ? Math.floor((free[r] ?? 0) / amount) : Number.POSITIVE_INFINITY,
      ),
    );
    if (slotsPerNode !== undefined) return slots >= slotsPerNode ? 1 : 0;
    return exclusive ? Math.min(1, slots) : slots;
  }

  /** Keeps a state for the jobs from `next` on. A node on which none of them fits is as good as none. */
  #keep(found: Map<string, State>, state: State, next: number): void {
    const later = this.#world.jobs.slice(next);
    const boxes = state.boxes
      .filter((box) => later.some((job) => this.#room(box, job) > 0))
      .toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
    const key = `${boxes.map(textOf).join(" ")}|${state.made.join(",")}`;
    const known = found.get(key);
    if (known === undefined || state.cost < known.cost) found.set(key, { ...state, boxes });
    if (found.size > MOST_STATES) throw new NotProved();
  }
}

interface Way {
  readonly left: number;
  readonly after: State;
}

interface Position {
  readonly left: number;
  readonly leave: number;
  /** The next node. */
  readonly from: number;
  /** Units on one node. */
  readonly most: number;
  /** Only nodes of this size. */
  readonly only?: number;
  /** The node before, as it was, and what it got. */
  readonly before?: Box;
  readonly load?: number;
  readonly onNew?: number;
}

function after(box: Box, { takes, exclusive, slotsPerNode = 1 }: SmallJob, units: number): Box {
  return {
    size: box.size,
    free: minus(box.free, takes, units * slotsPerNode),
    state: exclusive ? "closed" : "shared",
  };
}

const textOf = ({ size, free, state }: Box): string =>
  state === "closed" ? `${size}x` : `${size}${state === "empty" ? "e" : "s"}${free.join(".")}`;
