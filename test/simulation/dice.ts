import { seedRandom } from "../../src/simulator/random.ts";

/** All random draws of a simulation. The same seed gives the same run. */
export class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seedRandom(seed);
  }

  /** A number of [0, 1), evenly distributed. */
  fraction(): number {
    return this.#random();
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  /** A whole number between these two, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.whole(0, items.length - 1)] ?? items[0];
  }
}
