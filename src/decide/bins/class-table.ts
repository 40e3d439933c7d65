import type { Budget } from "../constraints/budget.ts";
import type { Takes } from "./takes.ts";

/** The number of resources that fit into a set of bits. Jobs that take others are told apart by their text. */
export const MOST_BITS = 30;

/** Something that is found by the amounts that a slot takes. */
interface Classed {
  readonly takes: Takes | undefined;
}

/**
 * Classes of jobs that take amounts of the same resources, by these amounts: a hash table on numbers. A text as a key would cost most of the
 * time where no two jobs are alike.
 *
 * Bench row: distinct-jobs 10,000 takes 1.5 times as long with texts as keys.
 */
export class ClassTable<C extends Classed> {
  /** Positions of the resources. */
  readonly resource: readonly number[];
  /** Where the two most used resources stand in `resource`. Undefined if one is missing. */
  readonly pair: readonly [number, number] | undefined;
  /** The least that any class takes of each, in the order of `resource`. */
  readonly least: number[] = [];
  /** By hash of the amounts. A class whose place is taken stands at the next free number. */
  readonly #classes = new Map<number, C>();
  readonly #budget: Budget;
  /** The free place that the last search ended at. */
  #free = 0;

  /** `bits`: the positions of the resources. `pair`: positions of the two resources that most jobs take. */
  constructor(bits: number, pair: readonly [number, number], budget: Budget) {
    this.resource = positionsIn(bits);
    this.pair = pairIn(this.resource, pair);
    this.#budget = budget;
  }

  /** The class that takes these amounts (`sums`, by position of the resource). */
  find(sums: readonly number[]): C | undefined {
    let hash = hashOf(this.resource, sums);
    for (;;) {
      const known = this.#classes.get(hash);
      if (known?.takes === undefined) break;
      if (isEqual(known.takes, sums)) return known;
      hash += 1;
      // A user can choose amounts that all have the same hash.
      this.#budget.spend(1);
    }
    this.#free = hash;
    return undefined;
  }

  /** Adds the class that {@link find} has just not found. */
  add(made: C): void {
    this.#classes.set(this.#free, made);
    const amount = made.takes?.amount ?? [];
    for (let i = 0; i < amount.length; i += 1)
      this.least[i] = Math.min(this.least[i] ?? Number.POSITIVE_INFINITY, amount[i] ?? 0);
  }
}

/** Where the two resources of a pair stand among others. Undefined if one of them is missing, or if they are the same. */
export function pairIn(
  resource: readonly number[],
  [a, b]: readonly [number, number],
): readonly [number, number] | undefined {
  const at = [resource.indexOf(a), resource.indexOf(b)] as const;
  return a !== b && at[0] >= 0 && at[1] >= 0 ? at : undefined;
}

function positionsIn(bits: number): readonly number[] {
  const positions: number[] = [];
  for (let position = 0; position < MOST_BITS; position += 1)
    if ((bits & (1 << position)) !== 0) positions.push(position);
  return positions;
}

function isEqual({ resource, amount }: Takes, sums: readonly number[]): boolean {
  for (let i = 0; i < resource.length; i += 1) if (amount[i] !== sums[resource[i] ?? 0]) return false;
  return true;
}

const DOUBLE = new Float64Array(1);
const WORDS = new Uint32Array(DOUBLE.buffer);

/** Uses all bits of each amount: amounts may differ only far behind the point. */
function hashOf(resource: readonly number[], sums: readonly number[]): number {
  let hash = 0;
  for (const position of resource) {
    DOUBLE[0] = sums[position] ?? 0;
    hash = Math.imul(hash ^ (WORDS[0] ?? 0), 0x9e3779b1) ^ Math.imul(WORDS[1] ?? 0, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
  }
  return (hash ^ (hash >>> 13)) & 0x3fffffff;
}
