/** A line finds what asking every bin in turn would find, whatever happens in between. How to replay a failure stands in runs.ts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Budget } from "../../src/decide/constraints/budget.ts";
import { CLAIMED, CLOSED, EMPTY } from "../../src/decide/bins/bin-columns.ts";
import { Line } from "../../src/decide/bins/first-fit.ts";
import { Dice } from "../simulation/dice.ts";
import { runsOf, TIMEOUT } from "./runs.ts";
import type { Takes } from "../../src/decide/bins/takes.ts";

const runs = runsOf(20_261_121, { deep: 5000 });

/** Columns as the allocator keeps them, and the order of use as a plain list. */
class Scene {
  readonly budget = new Budget(1_000_000, 1);
  readonly width = 2;
  readonly free: number[] = [];
  readonly state: number[] = [];
  readonly tier: number[] = [];
  readonly position: number[] = [];
  readonly least: readonly number[];
  readonly classes: readonly Takes[];
  readonly order: number[] = [];
  readonly line: Line;
  readonly #dice: Dice;

  constructor(seed: number, existing: number) {
    this.#dice = new Dice(seed);
    const dice = this.#dice;
    this.classes = Array.from({ length: dice.whole(1, 12) }, () => {
      const amount = [dice.whole(1, 4), dice.whole(1, 6)];
      const alone = dice.chance(0.1);
      return {
        resource: [0, 1],
        amount,
        alone,
        nothing: false,
      };
    });
    this.least = [0, 1].map((r) => Math.min(...this.classes.map(({ amount }) => amount[r] ?? 0)));
    let tier = 0;
    for (let i = 0; i < existing; i += 1) {
      if (dice.chance(0.02)) tier += 1;
      this.order.push(this.#add(tier));
      if (dice.chance(0.1)) this.#set(i, CLAIMED);
    }
    this.line = new Line(this, this.order);
  }

  #add(tier: number): number {
    const bin = this.tier.length;
    this.free.push(this.#dice.whole(0, 16), this.#dice.whole(0, 16));
    this.state.push(EMPTY);
    this.tier.push(tier);
    this.position.push(bin);
    return bin;
  }

  #is(bin: number, bit: number): boolean {
    return ((this.state[bin] ?? 0) & bit) !== 0;
  }

  #set(bin: number, bit: number): void {
    this.state[bin] = (this.state[bin] ?? 0) | bit;
  }

  /** The result of asking every bin in turn: the first with room, or a needed one of the same tier. */
  firstByAsking(takes: Takes): number | undefined {
    const fits = (bin: number): boolean =>
      !this.#is(bin, CLOSED) &&
      (!takes.alone || this.#is(bin, EMPTY)) &&
      [0, 1].every((r) => (this.free[bin * 2 + r] ?? 0) >= (takes.amount[r] ?? 0));
    const found = this.order.filter(fits);
    const [first] = found;
    return found.find((bin) => this.tier[bin] === this.tier[first ?? 0] && this.#is(bin, CLAIMED)) ?? first;
  }

  /** Puts one slot there, or as many as fit. */
  fill(bin: number, takes: Takes): void {
    const most = Math.min(
      ...[0, 1].map((r) => Math.floor((this.free[bin * 2 + r] ?? 0) / (takes.amount[r] ?? 1))),
    );
    const slots = this.#dice.chance(0.5) ? most : 1;
    for (const r of [0, 1])
      this.free[bin * 2 + r] = (this.free[bin * 2 + r] ?? 0) - slots * (takes.amount[r] ?? 0);
    this.state[bin] = (this.state[bin] ?? 0) & ~EMPTY;
    if (takes.alone) this.#set(bin, CLOSED);
    this.#claim(bin);
  }

  #claim(bin: number): void {
    if (this.#is(bin, CLAIMED)) return;
    this.#set(bin, CLAIMED);
    this.line.claim(bin);
  }

  plan(): void {
    const bin = this.#add(Number.MAX_SAFE_INTEGER);
    this.order.push(bin);
    this.line.append(bin);
    if (this.#dice.chance(0.8)) this.#claim(bin);
  }

  #anyOf<T>(items: readonly T[]): T {
    const item = items[this.#dice.whole(0, items.length - 1)];
    if (item === undefined) throw new RangeError("nothing to choose from");
    return item;
  }

  /** Cuts a bin in two that are alike. */
  split(): void {
    const bin = this.#anyOf(this.order);
    const other = this.tier.length;
    for (const r of [0, 1]) this.free.push(this.free[bin * 2 + r] ?? 0);
    this.state.push(this.state[bin] ?? 0);
    this.tier.push(this.tier[bin] ?? 0);
    this.position.push(this.position[bin] ?? 0);
    this.order.splice(this.order.indexOf(bin) + 1, 0, other);
    this.line.insertAfter(bin, other);
  }

  /** One step: what the line found, and what is right. */
  step(): readonly [number | undefined, number | undefined] | undefined {
    const die = this.order.length === 0 ? 99 : this.#dice.whole(0, 99);
    if (die < 4) this.split();
    else if (die < 6) this.#set(this.#anyOf(this.order), CLOSED);
    else {
      const takes = this.#anyOf(this.classes);
      const right = this.firstByAsking(takes);
      const found = this.line.first({ takes, times: 1, accepts: undefined });
      if (found === undefined) this.plan();
      else this.fill(found, takes);
      return [found, right];
    }
    return undefined;
  }
}

test("a line finds the bin that asking each in turn finds", { timeout: TIMEOUT }, () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.integer({ min: 0, max: 400 }),
      fc.integer({ min: 1, max: 900 }),
      (seed, existing, steps) => {
        const scene = new Scene(seed, existing);
        for (let i = 0; i < steps; i += 1) {
          const [found, right] = scene.step() ?? [];
          expect(found).toBe(right);
        }
      },
    ),
    runs,
  );
});
