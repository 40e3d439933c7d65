import { expect, test } from "vitest";
import { dynamicsOf } from "../../../src/decide/world/dynamic-arrays.ts";
import type { RankedDemand } from "../../../src/domain/demand.ts";
import { arrayName, setName } from "../../../src/domain/ids.ts";
import { buildSnapshot } from "../../support/build-node.ts";

const dynamic = (name: string, parent: string): RankedDemand => ({
  set: setName("standard"),
  demand: {
    kind: "target",
    id: `nodearray:${name}`,
    position: 0,
    priority: 0,
    array: arrayName(name),
    amount: { unit: "nodes", count: 1 },
    extends: arrayName(parent),
    attributes: { [`From${name}`]: name },
  },
});

const chain = (length: number): readonly RankedDemand[] =>
  Array.from({ length }, (_, at) => dynamic(`d${at}`, at === 0 ? "execute" : `d${at - 1}`));

const refusals = (demands: readonly RankedDemand[]): readonly string[] =>
  [...dynamicsOf(demands, [], buildSnapshot()).values()].flatMap(({ name, refusal }) =>
    refusal === undefined ? [] : [`${name}: ${refusal.code}`],
  );

test("eight in a row have all attributes of those below, the ninth is refused", () => {
  expect(refusals(chain(8))).toEqual([]);
  const dynamics = dynamicsOf(chain(8), [], buildSnapshot());
  expect(Object.keys(dynamics.get(arrayName("d7"))?.definition?.attributes ?? {}).sort()).toEqual(
    Array.from({ length: 8 }, (_, at) => `Fromd${at}`),
  );
  expect(refusals(chain(9))).toEqual(["d8: extends-too-deep"]);
});

test("what is too deep does not depend on the order in which they are worked out", () => {
  const ahead = Array.from({ length: 12 }, (_, at) =>
    dynamic(
      `d${String.fromCodePoint(0x6c - at)}`,
      at === 0 ? "execute" : `d${String.fromCodePoint(0x6d - at)}`,
    ),
  );
  expect(refusals(ahead)).toEqual(["da", "db", "dc", "dd"].map((name) => `${name}: extends-too-deep`));
});

test("a circle is refused, and what leads into it", () => {
  expect(refusals([dynamic("a", "b"), dynamic("b", "a"), dynamic("c", "a")])).toEqual([
    "a: extends-too-deep",
    "b: extends-too-deep",
    "c: extends-too-deep",
  ]);
});

test("a cluster has at most 500: those that exist stay, new ones are refused", () => {
  const existing = [{ name: arrayName("zzz"), extends: arrayName("execute"), sets: [] }];
  const demands = [
    dynamic("zzz", "execute"),
    ...Array.from({ length: 500 }, (_, at) => dynamic(`d${String(at).padStart(3, "0")}`, "execute")),
  ];
  const dynamics = dynamicsOf(demands, existing, buildSnapshot());
  expect([...dynamics.values()].filter(({ refusal }) => refusal !== undefined)).toMatchObject([
    { name: "d499", refusal: { code: "dynamic-too-many", most: 500 } },
  ]);
});
