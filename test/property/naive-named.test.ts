/** The checker of names can fail: one right allocation, worked out by hand, and each kind of fault planted into it. */
import { expect, test } from "vitest";
import type { Allocation } from "../../src/domain/allocation.ts";
import type { NamedNodes, RankedDemand } from "../../src/domain/demand.ts";
import { nodeId, setName } from "../../src/domain/ids.ts";
import type { World } from "../../src/domain/world.ts";
import { findFaults } from "./naive-checker.ts";
import type { Planted } from "./planted-faults.ts";
import { ALPHA, ANSWER, OTHER, at, check, nodeOf, offerOf, outcome, REASON } from "./planted-faults.ts";
import { NOW } from "./small-shapes.ts";

/** One node is up, one is on its way, and there is room for three. */
const WORLD: World = {
  nodes: [nodeOf("n1", { name: "x1" })],
  inFlight: [
    { bucket: at("A4"), purpose: { kind: "named", name: "x2" }, resources: { ncpus: 4 }, cores: 4, count: 1 },
  ],
  buckets: [offerOf("A4", 4), offerOf("B8", 8)],
  limits: [{ id: { kind: "cluster", name: "", unit: "nodes" }, used: 2, max: 5, left: 3 }],
  arrays: new Map([[ALPHA, "managed"]]),
};

const asks = (id: string, names: readonly string[], more: Partial<NamedNodes> = {}): RankedDemand => ({
  set: setName("s"),
  demand: {
    kind: "target",
    id,
    priority: 0,
    position: 0,
    array: ALPHA,
    amount: { unit: "nodes", count: names.length },
    named: { names, ...more },
  },
});

const made = (name: string, type = "A4", group?: typeof OTHER): Allocation["creates"][number] => ({
  bucket: at(type, group),
  count: 1,
  purpose: { kind: "named", name },
});

const SINGLY = asks("singly", ["x1", "x2", "x3"]);
const TOGETHER = asks("together", ["x4", "x5"], { together: true });
const DEMANDS = [SINGLY, TOGETHER];
const RIGHT: Allocation = {
  ...ANSWER,
  creates: [made("x3"), made("x4"), made("x5")],
  starts: [],
  loads: [],
  needed: new Map([[nodeId("n1"), ["s/singly"]]]),
  outcomes: [outcome("singly", "nodes", 3, 2), outcome("together", "nodes", 2, 2)],
  groups: [],
};

/** The right answer with other creates, and with fewer of the first names. */
const creates = (...all: Allocation["creates"]): Allocation => ({ ...RIGHT, creates: all });
const short = (placed: number, pending: number): Allocation["outcomes"] => [
  outcome("singly", "nodes", 3, pending, {
    placed,
    reasons: [REASON],
    binding: { kind: "no-raise", reason: REASON },
  }),
  outcome("together", "nodes", 2, 2),
];

test("the right allocation has no fault", () => {
  expect(findFaults(WORLD, DEMANDS, RIGHT, NOW)).toEqual([]);
});

test.each<Planted>([
  {
    name: "a name promised and not made",
    answer: creates(made("x4"), made("x5")),
    expected: "s/singly: 3 names promised, 2 there",
  },
  {
    name: "a name that is there and not counted",
    answer: { ...RIGHT, outcomes: short(1, 1) },
    expected: "s/singly: 2 names are there, 1 promised",
  },
  {
    name: "a node on its way that counts as up",
    answer: { ...RIGHT, outcomes: [outcome("singly", "nodes", 3, 1), outcome("together", "nodes", 2, 2)] },
    expected: "s/singly: 1 names pending",
  },
  {
    name: "a named node that is not needed",
    answer: { ...RIGHT, needed: new Map() },
    expected: "s/singly: 3 names promised, 2 there",
  },
  {
    name: "a name that is there made again",
    answer: creates(made("x1"), made("x3"), made("x4")),
    expected: "x1 is made 1 times, or is there",
  },
  {
    name: "a name made twice",
    answer: creates({ ...made("x3"), count: 2 }, made("x4")),
    expected: "x3 is made 2 times, or is there",
  },
  {
    name: "a name nobody asks for",
    answer: creates(made("x3"), made("x4"), made("x9")),
    expected: "x9 is made in alpha/A4, where nobody asks for it",
  },
  {
    name: "a name in a group nobody asks for",
    answer: creates(made("x3", "A4", OTHER), made("x4"), made("x5")),
    expected: "x3 is made in alpha/A4, where nobody asks for it",
  },
  {
    name: "a name of which it is decided",
    world: { ...WORLD, blockedNames: new Map([["x3", { code: "name-earlier", name: "x3" }]]) },
    expected: "x3 is made, and decided otherwise",
  },
  {
    name: "one of two that are needed together",
    answer: creates(made("x3"), made("x4")),
    expected: "s/together: 1 of 2 names are made that one job needs together",
  },
  {
    name: "two that are needed together in two sizes",
    answer: creates(made("x3"), made("x4"), made("x5", "B8")),
    expected: "s/together: made in alpha/A4 and alpha/B8",
  },
  {
    name: "room left for a name",
    answer: { ...creates(made("x4"), made("x5")), outcomes: short(2, 1) },
    expected: "alpha/A4 has room, and s/singly is short",
  },
  {
    name: "a numbered node in an array that is kept for names",
    world: { ...WORLD, buckets: [{ ...offerOf("A4", 4), onlyNamed: true }, offerOf("B8", 8)] },
    answer: creates({ bucket: at("A4"), count: 1, purpose: { kind: "array" } }, made("x4"), made("x5")),
    expected: "a node made in alpha, which is kept for nodes that are named",
  },
])("finds $name", (planted) => {
  check({ world: WORLD, demands: DEMANDS, answer: RIGHT, ...planted });
});
