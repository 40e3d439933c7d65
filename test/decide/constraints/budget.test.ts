import { describe, expect, test } from "vitest";
import { Budget } from "../../../src/decide/constraints/budget.ts";
import type { SetName } from "../../../src/domain/ids.ts";
import { setName } from "../../../src/domain/ids.ts";

const EVIL = setName("evil");
const HONEST = setName("honest");

/** Number of single steps that a set may spend from now on. */
function spendAll(budget: Budget, set: SetName): number {
  budget.turnTo(set);
  let steps = 0;
  for (; !budget.isSpent; steps += 1) budget.spend(1);
  return steps - 1;
}

test("one set alone has the whole budget", () => {
  expect(spendAll(new Budget(1000, 1), EVIL)).toBe(1000);
});

test("of two sets the first has its share and the pot, and the second its share", () => {
  const budget = new Budget(1000, 2);
  expect(spendAll(budget, EVIL)).toBe(750);
  // The step that exceeded the budget is charged to no set.
  expect(spendAll(budget, HONEST)).toBe(250);
});

test("sets that take turns draw on the pot as it is then", () => {
  const budget = new Budget(1000, 2);
  budget.turnTo(EVIL);
  budget.spend(450);
  budget.turnTo(HONEST);
  budget.spend(350);
  budget.turnTo(EVIL);
  budget.spend(200);
  expect(budget.isSpent).toBe(false);
  budget.spend(1);
  expect(budget.isSpent).toBe(true);
  expect(budget.spent).toBe(1001);
});

test("reasons that cost too much take nothing from what places the demand", () => {
  const budget = new Budget(1000, 1);
  budget.turnTo(EVIL);
  const work = (steps: number) => () => {
    budget.spend(steps);
    return "told";
  };
  expect(budget.on("explaining", work(200))).toBe("told");
  expect(budget.on("explaining", work(200))).toBeUndefined();
  expect(budget.on("explaining", work(0))).toBeUndefined();
  expect(spendAll(budget, EVIL)).toBe(1000);
});

describe("a set that rests has little, and", () => {
  const isEvil = (set: string) => set.startsWith("evil");

  test("no set draws on the pot: the others have their shares", () => {
    const budget = new Budget(1_000_000, 2, 0, { rests: isEvil, restsWhole: isEvil, mayDraw: () => false });
    expect(spendAll(budget, EVIL)).toBe(10_000);
    expect(spendAll(budget, HONEST)).toBe(250_000);
  });

  test("a set of another sender draws on the pot", () => {
    const mayDraw = (set: string) => set === HONEST;
    const budget = new Budget(1_000_000, 2, 0, { rests: isEvil, restsWhole: isEvil, mayDraw });
    expect(spendAll(budget, EVIL)).toBe(10_000);
    // The step that exceeded the share of the other set is charged to the pot.
    expect(spendAll(budget, HONEST)).toBe(749_999);
  });

  test("all that rest have together what twenty of them have", () => {
    const budget = new Budget(27_000_000, 30, 0, { rests: isEvil, restsWhole: isEvil, mayDraw: () => false });
    const spent = Array.from({ length: 29 }, (_, at) => spendAll(budget, setName(`evil-${at}`)));
    expect(spent).toEqual([...Array<number>(20).fill(10_000), ...Array<number>(9).fill(0)]);
  });
});
