import type { Budget } from "../constraints/budget.ts";
import type { Mix, MixModel, MixState, MixValue } from "./mix-model.ts";
import { NOTHING, floorOf, mostUnits, roomOf } from "./mix-model.ts";
import { MixWays } from "./mix-ways.ts";

/** A state with what the items after it can have at most, one by one, and what the plan costs then at least. */
interface Judged {
  readonly state: MixState;
  readonly most: readonly number[];
  /** How often the state has room for each later item, in total: where they compete, more room serves more of them. */
  readonly room: number;
  readonly floor: number;
}

/** Numbers of states that are kept after each item, one search after the other. */
const WIDTHS = [4, 24, 120];

/**
 * Looks for a better plan than the known one: more units by rank, or as many for less (docs/decisions.md, "A plan is tried in several orders"). Item by item, every way to place it on every state
 * that the items before it have left is tried, and only those are kept that place the most. If there are too many of them, the best are
 * kept, so the search ends in bounded steps. `isFree`: among equals fewer nodes of any size are better. Otherwise a plan that places as much as the
 * known one has no more nodes of any size than it. `isComplete`: everything was tried (docs/decisions.md, "A plan is tried in several orders").
 */
export function searchMix(
  model: MixModel,
  known: MixValue,
  budget: Budget,
  steps: number,
  isFree: boolean,
): { readonly mix?: Mix; readonly isComplete: boolean } {
  let mix: Mix | undefined;
  const search = new Search(model, budget, steps, isFree ? undefined : known);
  for (const width of WIDTHS) {
    mix = search.run(mix ?? known, width) ?? mix;
    if (search.isComplete || search.isOver) break;
  }
  return { ...(mix === undefined ? {} : { mix }), isComplete: search.isComplete && search.isExact };
}

class Search {
  readonly #model: MixModel;
  readonly #budget: Budget;
  readonly #steps: number;
  /** A plan that places as much as this one has no more new nodes of any size. */
  readonly #first: MixValue | undefined;
  #known: MixValue = { units: [], cost: 0, made: [] };
  #spent = 0;
  #until = 0;
  /** Everything was tried. */
  isComplete = true;
  isExact = true;
  isOver = false;

  constructor(model: MixModel, budget: Budget, steps: number, first: MixValue | undefined) {
    this.#model = model;
    this.#budget = budget;
    this.#steps = steps;
    this.#first = first;
  }

  run(known: MixValue, width: number): Mix | undefined {
    const { items, nodes, sizes, left } = this.#model;
    this.#known = known;
    this.isComplete = true;
    let states: readonly MixState[] = [{ nodes, left, made: sizes.map(() => 0), cost: 0 }];
    const units: number[] = [];
    for (let i = 0; i < items.length; i += 1) {
      // Each item may spend an equal part of what is left.
      const rest = Math.max(0, this.#steps - this.#spent) / (items.length - i);
      const most = this.#place(states, i, units, width, rest);
      if (most === undefined) return undefined;
      units.push(most.units);
      states = most.states;
    }
    const [best] = states;
    if (best === undefined || !this.#isBetter(units, best)) return undefined;
    return { ...best, units };
  }

  #isBetter(units: readonly number[], { cost, made }: MixState): boolean {
    const at = units.findIndex((one, i) => one !== this.#known.units[i]);
    if (at >= 0) return (units[at] ?? 0) > (this.#known.units[at] ?? 0);
    return cost < this.#known.cost - tiny(this.#known.cost) && this.#keepsMade(made);
  }

  #keepsMade(made: readonly number[]): boolean {
    const first = this.#first;
    // What places more than the first plan may be anything.
    if (first === undefined || first.units.some((units, i) => units !== this.#known.units[i])) return true;
    return made.every((nodes, size) => nodes <= (first.made[size] ?? 0));
  }

  /** The most units of item `i` that any of the states takes, and the best states after that. Undefined: none is as good as what is known. */
  #place(
    states: readonly MixState[],
    i: number,
    before: readonly number[],
    width: number,
    steps: number,
  ): { readonly units: number; readonly states: readonly MixState[] } | undefined {
    const isEqual = before.every((units, j) => units === this.#known.units[j]);
    let most = isEqual ? (this.#known.units[i] ?? 0) : 0;
    let found = new Map<string, MixState>();
    const start = this.#spent;
    states.forEach((state, n) => {
      this.#until = start + (steps * (n + 1)) / states.length;
      const ways = new MixWays(this.#model, i, state, (count) => this.#spend(count));
      ways.each(most, (units, after) => {
        if (units > most) found.clear();
        most = units;
        const key = keyOf(after);
        const other = found.get(key);
        if (other === undefined || after.cost < other.cost) found.set(key, after);
        return most;
      });
      if (this.isOver) this.isComplete = false;
      if (!ways.isExact) this.isExact = false;
    });
    const units = most;
    const isStillEqual = isEqual && units === (this.#known.units[i] ?? 0);
    const judged = [...found.values()].flatMap((state) => this.#judge(state, i + 1, isStillEqual) ?? []);
    found = new Map();
    judged.sort(compareJudged);
    if (judged.length > width) this.isComplete = false;
    if (judged.length === 0) return undefined;
    return { units, states: judged.slice(0, width).map(({ state }) => state) };
  }

  /** Undefined: no plan from here is better than what is known. `isEqual`: the items so far have what they have in the known plan. */
  #judge(state: MixState, from: number, isEqual: boolean): Judged | undefined {
    const { items } = this.#model;
    const most: number[] = [];
    let room = 0;
    let isOpen = isEqual;
    for (let i = from; i < items.length; i += 1) {
      const times = roomOf(this.#model, i, state);
      const units = mostUnits(items[i] ?? NOTHING, times);
      room += times;
      this.#spend(state.nodes.length + 4);
      const known = this.#known.units[i] ?? 0;
      if (isOpen && units < known) return undefined;
      if (units > known) isOpen = false;
      most.push(units);
    }
    const floor =
      state.cost + floorOf(this.#model, from, isOpen ? this.#known.units.slice(from) : most, state);
    if (isOpen) {
      if (floor >= this.#known.cost - tiny(this.#known.cost)) return undefined;
      if (!this.#keepsMade(state.made)) return undefined;
    }
    return { state, most, room, floor };
  }

  #spend(steps: number): boolean {
    this.#spent += steps;
    this.#budget.spend(steps);
    this.isOver = this.#budget.isSpent;
    if (this.#spent > this.#until) this.isComplete = false;
    return !this.isOver && this.#spent <= this.#until;
  }
}

const tiny = (cost: number): number => 1e-9 * cost;

function compareJudged(a: Judged, b: Judged): number {
  for (let i = 0; i < a.most.length; i += 1) {
    const more = (b.most[i] ?? 0) - (a.most[i] ?? 0);
    if (more !== 0) return more;
  }
  return b.room - a.room || a.floor - b.floor || a.state.cost - b.state.cost;
}

/** Nodes in any order, and what is left of the limits. */
function keyOf({ nodes, made }: MixState): string {
  const texts = nodes.map(
    ({ kind, free, count, isEmpty, isClosed }) =>
      `${kind} ${count} ${isClosed ? "x" : `${isEmpty ? "e" : ""}${free.join(",")}`}`,
  );
  return `${texts.sort().join(";")}|${made.join(",")}`;
}
