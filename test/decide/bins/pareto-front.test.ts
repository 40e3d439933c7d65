import { expect, test } from "vitest";
import { addPair, reaches } from "../../../src/decide/bins/line-blocks.ts";

function frontOf(...pairs: readonly (readonly [number, number])[]): number[] {
  const front: number[] = [];
  for (const [first, second] of pairs) addPair(front, first, second);
  return front;
}

test("pairs that another pair equals or exceeds in both amounts are dropped, in any order", () => {
  const expected = [8, 1, 5, 4, 2, 9];
  expect(frontOf([5, 4], [8, 1], [2, 9], [5, 3], [1, 9], [5, 4])).toEqual(expected);
  expect(frontOf([1, 9], [5, 3], [5, 4], [2, 9], [5, 4], [8, 1])).toEqual(expected);
});

test("one large pair replaces all others", () => {
  expect(frontOf([8, 1], [5, 4], [2, 9], [8, 9])).toEqual([8, 9]);
});

test.each([
  { first: 5, second: 4, reached: true },
  { first: 2, second: 9, reached: true },
  { first: 3, second: 4, reached: true },
  { first: 6, second: 4, reached: false },
  { first: 5, second: 5, reached: false },
  { first: 9, second: 0, reached: false },
])("($first, $second) is reached: $reached", ({ first, second, reached }) => {
  expect(reaches(frontOf([8, 1], [5, 4], [2, 9]), first, second)).toBe(reached);
});

test("an empty front reaches nothing", () => {
  expect(reaches([], -1, -1)).toBe(false);
});
