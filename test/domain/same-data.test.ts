import { expect, test } from "vitest";
import { sameData } from "../../src/domain/same-data.ts";

const shared = { count: 1 };

test.each([
  { name: "numbers", a: 1, b: 1 },
  { name: "what is not a number", a: Number.NaN, b: Number.NaN },
  { name: "objects whose members are written in another order", a: { x: 1, y: [2] }, b: { y: [2], x: 1 } },
  { name: "lists", a: [1, { x: "a" }], b: [1, { x: "a" }] },
  { name: "maps", a: new Map([["k", { x: 1 }]]), b: new Map([["k", { x: 1 }]]) },
  { name: "sets", a: new Set(["a", "b"]), b: new Set(["a", "b"]) },
  { name: "the same object twice", a: [shared, shared], b: [{ count: 1 }, { count: 1 }] },
])("alike: $name", ({ a, b }) => {
  expect([sameData(a, b), sameData(b, a)]).toEqual([true, true]);
});

test.each<{ readonly name: string; readonly a: unknown; readonly b: unknown }>([
  { name: "another number", a: 1, b: 2 },
  { name: "a number and its text", a: 1, b: "1" },
  { name: "nothing and null", a: undefined, b: null },
  { name: "null and an object", a: null, b: {} },
  { name: "a member that differs deep down", a: { x: { y: [1, 2] } }, b: { x: { y: [1, 3] } } },
  { name: "a member more", a: { x: 1 }, b: { x: 1, y: 2 } },
  { name: "an undefined member and none", a: { x: 1, y: undefined }, b: { x: 1 } },
  { name: "an undefined member and another name", a: { x: undefined }, b: { y: undefined } },
  { name: "a longer list", a: [1], b: [1, 2] },
  { name: "a list and an object with its indices", a: [1], b: { 0: 1 } },
  { name: "a list and a set", a: ["a"], b: new Set(["a"]) },
  { name: "a map and a set", a: new Map(), b: new Set() },
  { name: "an object and an empty map", a: {}, b: new Map() },
  { name: "another key", a: new Map([["k", 1]]), b: new Map([["l", 1]]) },
  { name: "another value", a: new Map([["k", 1]]), b: new Map([["k", 2]]) },
  { name: "a smaller set", a: new Set(["a", "b"]), b: new Set(["a"]) },
  { name: "another order in a set", a: new Set(["a", "b"]), b: new Set(["b", "a"]) },
])("not alike: $name", ({ a, b }) => {
  expect([sameData(a, b), sameData(b, a)]).toEqual([false, false]);
});
