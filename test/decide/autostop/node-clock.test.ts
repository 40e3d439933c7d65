import { expect, test } from "vitest";
import { clockAfter, isHeldUp } from "../../../src/decide/autostop/note-verdicts.ts";
import type { NodeClock } from "../../../src/domain/ledger.ts";
import { at } from "../../support/build-node.ts";

/** Questions by when they arrived and how long they were on their way, both in seconds. Returns for each whether it was held up. */
function heldUp(...questions: readonly (readonly [arrived: number, late: number])[]): readonly boolean[] {
  let clock: NodeClock | undefined;
  return questions.map(([arrived, late]) => {
    const asking = { arrivedAt: at(arrived), asked: at(arrived) - 1000 * late };
    clock = clockAfter(clock, asking);
    return isHeldUp(clock, asking);
  });
}

test.each([
  { name: "one question at once", questions: [[0, 0]], held: [false] },
  { name: "one that waited 200 s, of a node whose clock is not known", questions: [[0, 200]], held: [true] },
  { name: "the same 21 s", questions: [[0, 21]], held: [true] },
  { name: "the same 20 s", questions: [[0, 20]], held: [false] },
  {
    name: "a clock that is 21 s ahead: its second question counts",
    questions: [
      [0, -21],
      [30, -21],
    ],
    held: [true, false],
  },
  { name: "one that waited 200 s, of a clock that is 100 s ahead", questions: [[0, 100]], held: [true] },
  {
    name: "one that waited 30 s, of a node whose clock is known",
    questions: [
      [0, 0],
      [30, 0],
      [60, 30],
    ],
    held: [false, false, true],
  },
  {
    name: "two that waited in one queue",
    questions: [
      [0, 200],
      [1, 170],
    ],
    held: [true, true],
  },
  {
    name: "three, and the next ones at once",
    questions: [
      [0, 200],
      [0, 170],
      [1, 140],
      [40, 0],
      [70, 0],
    ],
    held: [true, true, true, false, false],
  },
  {
    name: "two that waited in front of a host that stood still twice",
    questions: [
      [0, 284],
      [383, 290],
      [440, 0],
    ],
    held: [true, true, false],
  },
  {
    name: "two that waited about as long in front of two hosts",
    questions: [
      [0, 206],
      [36, 212],
      [66, 0],
    ],
    held: [true, true, false],
  },
  {
    name: "a clock that is 40 s behind, and asks once a minute: its fourth question counts",
    questions: [
      [0, 40],
      [66, 40],
      [132, 41],
      [198, 40],
      [264, 240],
    ],
    held: [true, true, true, false, true],
  },
  {
    name: "a clock that is 21 s behind, and asks again after 30 s: the same",
    questions: [
      [0, 21],
      [30, 21],
      [60, 21],
      [90, 21],
    ],
    held: [true, true, true, false],
  },
  {
    name: "a clock that is ten minutes behind: the same",
    questions: [
      [0, 600],
      [30, 600],
      [60, 600],
      [90, 600],
    ],
    held: [true, true, true, false],
  },
  {
    name: "a clock that is set back by five minutes: its fourth question counts",
    questions: [
      [0, 0],
      [30, 0],
      [60, 300],
      [90, 300],
      [120, 301],
      [150, 300],
    ],
    held: [false, false, true, true, true, false],
  },
  {
    name: "four in a row above the smallest difference, of which two are 6 s apart",
    questions: [
      [0, 0],
      [30, 0],
      [60, 300],
      [90, 294],
      [120, 294],
      [150, 294],
      [180, 294],
    ],
    held: [false, false, true, true, true, true, false],
  },
  {
    name: "two that waited as long in front of two hosts after one that waited less, and a third",
    questions: [
      [0, 197],
      [160, 237],
      [205, 252],
      [1362, 267],
    ],
    held: [true, true, true, true],
  },
  {
    name: "the same, where one that waited less comes behind them",
    questions: [
      [0, 237],
      [45, 252],
      [309, 278],
      [315, 134],
      [379, 168],
      [1203, 267],
    ],
    held: [true, true, true, true, true, true],
  },
  {
    name: "a clock that is set forward by five minutes, then one that waited 200 s",
    questions: [
      [0, 0],
      [30, 0],
      [60, -300],
      [90, -300],
      [300, -100],
    ],
    held: [false, false, true, false, true],
  },
  {
    name: "a clock that is set forward by five minutes, and the next two waited 220 and 190 s",
    questions: [
      [0, 0],
      [30, 0],
      [300, -80],
      [301, -110],
    ],
    held: [false, false, true, true],
  },
] as const)("$name", ({ questions, held }) => {
  expect(heldUp(...questions)).toEqual(held);
});

test("a number that only rises is no time", () => {
  expect(
    isHeldUp(clockAfter(undefined, { arrivedAt: at(0), asked: 7 }), { arrivedAt: at(0), asked: 7 }),
  ).toBe(false);
});

test("a clock that is known is not noted again", () => {
  const asking = (seconds: number) => ({ arrivedAt: at(seconds), asked: at(seconds) - 2000 });
  const known = clockAfter(clockAfter(undefined, asking(0)), asking(30));
  expect(known).toEqual({
    arrivedAt: at(30),
    behindMs: 2000,
    knownMs: 2000,
    leastMs: 0,
  });
  expect(clockAfter(known, asking(90))).toBe(known);
});
