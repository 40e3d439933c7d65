import { expect, test } from "vitest";
import { InTurn } from "../../src/domain/in-turn.ts";

const letters = "abcdefghijklmnopqrstuvwxyz".split("");
const map = new Map(letters.map((letter, at) => [letter, at]));

/** The same answers as a Map, for any questions in any order. */
const said = (asked: readonly string[]): readonly (number | undefined)[] => asked.map((one) => map.get(one));

test.each([
  { name: "all, in the Map's order", asked: letters },
  { name: "all, backwards", asked: letters.toReversed() },
  { name: "one, again and again", asked: ["c", "c", "c"] },
  { name: "a few left out", asked: letters.filter((_, at) => at % 5 === 0) },
  { name: "many left out at once", asked: ["a", "b", ...letters.slice(20)] },
  { name: "strangers between", asked: letters.flatMap((letter) => ["?", letter, "!"]) },
  { name: "nobody who is there", asked: ["?", "", "aa"] },
])("$name: the same as the Map says", ({ asked }) => {
  const inTurn = new InTurn(map);
  expect(asked.map((one) => inTurn.get(one))).toEqual(said(asked));
});

test("an empty Map knows nothing", () => {
  expect(new InTurn(new Map<string, number>()).get("a")).toBeUndefined();
});

test("whoever asks in the Map's order makes it search for nothing, also after a gap", () => {
  let searched = 0;
  class Counted extends Map<string, number> {
    override get(key: string): number | undefined {
      searched += 1;
      return super.get(key);
    }
  }
  const inTurn = new InTurn(new Counted(map));
  for (const letter of letters) inTurn.get(letter);
  expect(searched).toBe(0);
  const gapped = new InTurn(new Counted(map));
  for (const letter of letters.filter((one) => one !== "d" && one !== "e")) gapped.get(letter);
  expect(searched).toBe(1);
});
