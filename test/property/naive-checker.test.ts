/** The checker of the properties can fail: one right allocation, worked out by hand, and each kind of fault planted into it. */
import { expect, test } from "vitest";
import type { Allocation } from "../../src/domain/allocation.ts";
import { nodeId } from "../../src/domain/ids.ts";
import { findFaults } from "./naive-checker.ts";
import { NOW } from "./small-shapes.ts";
import type { Planted } from "./planted-faults.ts";
import {
  ANSWER,
  DEMANDS,
  FLYING,
  FOR_GANG,
  FOR_GROUP,
  GANG,
  GANGS,
  OTHER,
  REASON,
  WORLD,
  at,
  check,
  gangs,
  loads,
  on,
  outcomes,
  part,
} from "./planted-faults.ts";

test("the right allocation has no fault", () => {
  expect(findFaults(WORLD, DEMANDS, ANSWER, NOW)).toEqual([]);
});

const creates = (...all: Allocation["creates"]): Allocation => ({ ...ANSWER, creates: all });

test.each<Planted>([
  {
    name: "a slot moved to a full node",
    answer: loads(
      on("n1", part("packed", 2), part("licensed", 1)),
      on("n3", part("packed", 1, true), part("packed", 4)),
    ),
    expected: "n3: 4 ncpus taken, 3 free",
  },
  {
    name: "a slot lost",
    answer: loads(on("n1", part("packed", 2), part("licensed", 1))),
    expected: "s/packed: 7 promised, 5 put and 1 bound",
  },
  {
    name: "half a slot",
    answer: loads(on("n1", part("packed", 2.5), part("licensed", 1))),
    expected: "2.5 slots of s/packed",
  },
  {
    name: "slots of nobody",
    answer: loads(on("n1", part("packed", 3), part("ghost", 1))),
    expected: "slots of s/ghost, which is no job",
  },
  {
    name: "a task that runs forgotten",
    answer: loads(on("n3", part("packed", 4))),
    expected: "s/packed: 1 run on host-n3, and 0 are bound",
  },
  {
    name: "a task bound where it does not run",
    answer: loads(on("n1", part("packed", 1, true), part("licensed", 1))),
    expected: "s/packed: 0 run on host-n1, and 1 are bound",
  },
  {
    name: "one node too many",
    answer: creates({ ...FOR_GANG, count: 3 }, FOR_GROUP),
    expected: "cluster : 6 nodes taken, 5 left",
  },
  {
    name: "a create of nothing",
    answer: creates(FOR_GANG, FOR_GROUP, { ...FOR_GANG, count: 0 }),
    expected: "0 created in alpha/a4/pg-alpha-A4-1",
  },
  {
    name: "a node of no bucket",
    answer: creates(FOR_GANG, FOR_GROUP, { ...FOR_GANG, bucket: at("C1") }),
    expected: "created in alpha/c1/, which is no bucket",
  },
  {
    name: "loads on nodes that nobody makes",
    answer: loads({ ...GANGS, count: 3 }),
    expected: "3 loads at planned alpha/a4/pg-alpha-A4-1 , 2 nodes",
  },
  {
    name: "a group split",
    answer: creates(
      FOR_GANG,
      { ...FOR_GROUP, count: 1 },
      { ...FOR_GROUP, count: 1, bucket: at("B8", OTHER) },
    ),
    expected: "alpha/b8/pg-alpha-2n-1 is made and not whole",
  },
  {
    name: "a group's node elsewhere",
    answer: creates(FOR_GANG, { ...FOR_GROUP, bucket: at("B8", OTHER) }),
    expected: "a node of pg-alpha-2n-1 lies elsewhere",
  },
  {
    name: "a group promised and not made",
    answer: creates(FOR_GANG),
    expected: "s/groups: 1 groups promised, 0 whole",
  },
  { name: "a floor that is not there", answer: creates(FOR_GANG), expected: "s/floor: 8 promised, 6 held" },
  {
    name: "a gang in two groups",
    answer: gangs([1, 2, at("A4", GANG)], [1, 2, at("A4", OTHER)]),
    expected: "s/gang is split over placement groups",
  },
  {
    name: "a gang in two buckets",
    answer: gangs([1, 2, at("A4", GANG)], [1, 2, at("B8", GANG)]),
    expected: "s/gang is split over buckets",
  },
  {
    name: "a colocated gang in no group",
    answer: gangs([2, 2, at("A4")]),
    expected: "s/gang is in no placement group",
  },
  {
    name: "a gang on one node",
    answer: gangs([1, 4, at("A4", GANG)]),
    expected: "s/gang has 4 slots of 2 on a node",
  },
  {
    name: "a gang in part",
    answer: {
      ...gangs([1, 2, at("A4", GANG)]),
      outcomes: outcomes("gang", { placed: 2, pending: 2, reasons: [REASON] }).outcomes,
    },
    expected: "s/gang is placed in part",
  },
  {
    name: "company for one who wants none",
    answer: loads({ ...FLYING, jobs: [part("alone", 1), part("licensed", 1)] }, on("n1", part("packed", 3))),
    expected: "s/alone is not alone on alpha/b8/",
  },
  {
    name: "two exclusive slots on a node",
    answer: loads({ ...FLYING, jobs: [part("alone", 2)] }),
    expected: "s/alone has 2 slots on alpha/b8/",
  },
  {
    name: "a node with slots that nobody needs",
    answer: { ...ANSWER, needed: new Map([...ANSWER.needed].slice(1)) },
    expected: "n1 carries s/packed and is not needed",
  },
  {
    name: "a node needed by somebody else",
    answer: { ...ANSWER, needed: new Map([...ANSWER.needed, [nodeId("n1"), ["s/packed"]]]) },
    expected: "n1 carries s/licensed, which is not named",
  },
  {
    name: "a need of what is not there",
    answer: { ...ANSWER, needed: new Map([...ANSWER.needed, [nodeId("n9"), []]]) },
    expected: "n9 is needed and not there",
  },
])("finds $name", check);
