/** The reference engine: with all of the library's switches on it is the library, with none of them it is what we must answer. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { answerAllocator } from "./answer-allocator.ts";
import type { Json } from "./compare.ts";
import { fieldsOf, listOf, objectsIn, textOf } from "./compare.ts";
import type { Switch } from "./engine/switches.ts";
import { ALL_SWITCHES, SWITCHES } from "./engine/switches.ts";
import { RECORDED_CASES, VM_SIZES } from "./recorded.ts";
import { answerWith, causesOf } from "./reference.ts";
import { arrayOf, bucketOf, inputOf, nodeOf } from "./small-case.ts";
import { allocations, judgeAnswer, SUITES } from "./suites.ts";
import type { VectorCase } from "./vector-case.ts";

test("with all of the library's switches it answers every recorded case as the library did", () => {
  const surroundings = { vmSizes: VM_SIZES };
  const wrong = RECORDED_CASES.filter(
    (one) => allocations(one.expected, answerWith(one, surroundings, ALL_SWITCHES)).length > 0,
  );
  expect(RECORDED_CASES).toHaveLength(392);
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

test("deviations.md says of each switch what the library does and what we do", () => {
  const page = readFileSync(new URL("deviations.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| ([a-z][a-z-]+) \| (\d+)(?:, \d+)? \| .+ \| .+ \|$/gm)];
  expect(rows.map(([, name = "", defect]) => [name, Number(defect)])).toEqual(Object.entries(SWITCHES));
});

const known: Json = {
  D4: { name: "D4", family: "standardDFamily", capabilities: { vCPUs: 4, MemoryGB: 8 } },
  D8: { name: "D8", family: "standardDFamily", capabilities: { vCPUs: 8, MemoryGB: 16 } },
};
const surroundings = { vmSizes: { r: known, s: known } };

interface Row {
  readonly switch: Switch;
  readonly input: VectorCase["input"];
  /** What each job has: its nodes, each with the number of slots. */
  readonly library: readonly string[];
  readonly ours: readonly string[];
}

const D4 = bucketOf("D4");
const inGroup = [{ ncpus: 4 }, { "in-a-placement-group": true }];

const ROWS: readonly Row[] = [
  {
    switch: "plain-numbers-are-bytes",
    // Three units fit on a node of 8, but only three bytes are taken.
    input: inputOf(
      [arrayOf("a", [bucketOf("D4", { availableCount: 1 })])],
      [
        { name: "i", constraints: { memgb: 3 }, iterations: 2 },
        { name: "j", constraints: { memgb: "memory::7g" } },
      ],
      { nodes: [nodeOf("a-1")] },
    ),
    library: ["a-1 2", "a-1 1"],
    ours: ["a-1 2", "a-2 1"],
  },
  {
    switch: "group-false-is-true",
    input: inputOf(
      [arrayOf("a", [D4])],
      [{ name: "j", constraints: { "in-a-placement-group": false, ncpus: 1 } }],
    ),
    library: [""],
    ours: ["a-1 1"],
  },
  {
    switch: "defaults-cannot-be-redefined",
    input: inputOf([arrayOf("a", [D4])], [{ name: "j", constraints: { ncpus: 1 }, iterations: 3 }], {
      config: { default_resources: [{ select: {}, name: "ncpus", value: 2 }] },
    }),
    library: ["a-1 3"],
    ours: ["a-1 2, a-2 1"],
  },
  {
    switch: "full-buckets-are-closed",
    // The library does not count a-1, and asks for one node of the four that are there (held-out case).
    input: inputOf(
      [arrayOf("a", [bucketOf("D4", { activeCount: 1, availableCount: 2, maxCount: 4 })])],
      [
        { name: "i", constraints: { ncpus: 1 } },
        { name: "j", constraints: { ncpus: 1 }, node_count: 3, packing_strategy: "pack" },
      ],
      { nodes: [nodeOf("a-1")] },
    ),
    library: ["a-1 1", "a-1 1, a-2 1"],
    ours: ["a-1 1", "a-1 1, a-2 1, a-3 1"],
  },
  {
    switch: "full-buckets-are-closed",
    // Each node is filled by the first alternative that holds there; what is left is not tried again.
    input: inputOf(
      [arrayOf("a", [bucketOf("D4", { availableCount: 2 })])],
      [{ name: "j", constraints: { or: [{ ncpus: 3 }, { ncpus: 1 }] }, iterations: 5 }],
    ),
    library: ["a-1 1, a-2 1"],
    ours: ["a-1 2, a-2 2"],
  },
  {
    switch: "not-takes",
    input: inputOf(
      [arrayOf("a", [bucketOf("D4", { availableCount: 2 })])],
      [
        { name: "i", constraints: [{ ncpus: 1 }, { not: { ncpus: 2, memgb: "memory::100g" } }] },
        { name: "j", constraints: { ncpus: 3 } },
      ],
    ),
    library: ["a-1 1", "a-2 1"],
    ours: ["a-1 1", "a-1 1"],
  },
  {
    switch: "reservations-stay",
    // Two nodes can be made and two of other properties are counted, so four are asked for, and the two that are reserved stay so.
    input: inputOf(
      [arrayOf("a", [bucketOf("D4", { availableCount: 2 })])],
      [
        { name: "i", constraints: [{ ncpus: 1 }, { rack: "x" }], node_count: 4 },
        { name: "j", constraints: [{ ncpus: 4 }, { rack: "x" }], iterations: 2 },
      ],
      {
        nodes: [nodeOf("a-1"), nodeOf("a-2")],
        config: {
          default_resources: [
            { select: { "node.exists": true }, name: "rack", value: "y" },
            { select: {}, name: "rack", value: "x" },
          ],
        },
      },
    ),
    library: ["", ""],
    ours: ["", "a-3 1, a-4 1"],
  },
  {
    switch: "slots-of-nothing-pack",
    input: inputOf(
      [arrayOf("a", [D4])],
      [{ name: "j", constraints: { "node.nodearray": "a" }, iterations: 3 }],
    ),
    library: ["a-1 3"],
    ours: ["a-1 1, a-2 1, a-3 1"],
  },
  {
    switch: "arrays-are-not-inherited",
    input: inputOf(
      [arrayOf("a", [D4], {}, { Configuration: { autoscale: { resources: { rack: "x" } } } })],
      [{ name: "j", constraints: [{ ncpus: 1 }, { rack: "x" }] }],
      { nodes: [nodeOf("a-1")] },
    ),
    library: ["a-2 1"],
    ours: ["a-1 1"],
  },
  {
    switch: "buckets-lack-infiniband",
    input: inputOf(
      [
        arrayOf("a", [
          bucketOf("D4", { virtualMachine: { vcpuCount: 4, memory: 8, gpuCount: 0, infiniband: true } }),
        ]),
      ],
      [{ name: "j", constraints: [{ ncpus: 1 }, { "node.infiniband": true }] }],
    ),
    library: [""],
    ours: ["a-1 1"],
  },
  {
    switch: "backoff-counts-alone",
    input: inputOf(
      [arrayOf("a", [bucketOf("D4", { lastCapacityFailure: 100 })])],
      [{ name: "j", constraints: [{ and: [{ "capacity-failure-backoff": 600 }, { ncpus: 1 }] }] }],
      { nodes: [nodeOf("a-1")] },
    ),
    library: ["a-1 1"],
    ours: [""],
  },
  {
    switch: "choices-see-what-is-left",
    input: inputOf(
      [arrayOf("a", [D4])],
      [
        { name: "i", constraints: { ncpus: 1 } },
        { name: "j", constraints: [{ pcpus: 1 }, { ncpus: [4] }] },
        { name: "k", constraints: [{ pcpus: 1 }, { or: [{ ncpus: [4] }, { ngpus: 1 }] }] },
      ],
    ),
    library: ["a-1 1", "a-2 1", "a-2 1"],
    ours: ["a-1 1", "a-1 1", "a-1 1"],
  },
  {
    switch: "one-node-refuses-its-bucket",
    input: inputOf(
      [arrayOf("a", [D4])],
      [{ name: "j", constraints: [{ ncpus: 1 }, { "node.name": "a-1" }], iterations: 9 }],
      {
        nodes: [nodeOf("a-1")],
      },
    ),
    library: [""],
    ours: ["a-1 4"],
  },
  {
    switch: "families-have-one-quota",
    input: inputOf(
      [
        arrayOf("a", [bucketOf("D4", { familyQuotaCoreCount: 4 })]),
        arrayOf("b", [bucketOf("D4", { familyQuotaCoreCount: 800 })]),
      ],
      [{ name: "j", constraints: { ncpus: 4 }, iterations: 3 }],
    ),
    library: ["a-1 1"],
    ours: ["a-1 1, b-1 1, b-2 1"],
  },
  {
    switch: "groups-count-for-each-size",
    // Of three groups that the array may have, p is one for us, and two for the library: one for each size.
    input: inputOf(
      [
        arrayOf("a", [
          bucketOf("D4", {
            maxPlacementGroupSize: 1,
            placementGroups: [{ name: "p", activeCount: 0, activeCoreCount: 0 }],
          }),
          bucketOf("D8", {
            availableCount: 0,
            placementGroups: [{ name: "p", activeCount: 0, activeCoreCount: 0 }],
            virtualMachine: { vcpuCount: 8, memory: 16, gpuCount: 0, infiniband: false },
          }),
        ]),
      ],
      [{ name: "j", constraints: inGroup, iterations: 5 }],
      { config: { nodearrays: { a: { max_placement_groups: 3 } } }, default_placement_groups: true },
    ),
    library: ["a-1 1, a-2 1"],
    ours: ["a-1 1, a-2 1, a-3 1"],
  },
  {
    switch: "true-is-one",
    input: inputOf(
      [arrayOf("a", [D4])],
      [{ name: "j", constraints: [{ ncpus: 1 }, { $shared_value: { id: "v", target: 1 } }] }],
      {
        shared_resources: [{ id: "v", kind: "value", resource_name: "v", source: "s", current_value: true }],
      },
    ),
    library: ["a-1 1"],
    ours: [""],
  },
];

const placedIn = (answer: Json): readonly string[] =>
  objectsIn(fieldsOf(answer)["jobs"]).map((job) =>
    listOf(job["nodes"])
      .map((row) => `${textOf(listOf(row)[0])} ${textOf(listOf(row)[2])}`)
      .join(", "),
  );

describe("a switch by itself", () => {
  test.each(ROWS)(
    "$switch: $library for the library, $ours for us",
    ({ switch: cause, input, library, ours }) => {
      const asked: VectorCase = { name: "", input, expected: {} };
      const one = { ...asked, expected: answerWith(asked, surroundings, ALL_SWITCHES) };
      const answer = answerAllocator(one, surroundings);
      expect({ library: placedIn(one.expected), ours: placedIn(answer) }).toEqual({ library, ours });
      const isSame = (other: Json): boolean => JSON.stringify(placedIn(other)) === JSON.stringify(library);
      expect(causesOf(one, surroundings, isSame)).toEqual([cause]);
      const suite = SUITES.find(({ name }) => name === "allocator/packing");
      if (suite === undefined) throw new Error("the suite is there");
      expect(judgeAnswer(suite, one, answer, surroundings)).toMatchObject({ kind: "deviated" });
      expect(judgeAnswer(suite, one, one.expected, surroundings)).toMatchObject({ kind: "failed" });
    },
  );

  test("each is shown by a case here or by a recorded one", () => {
    const shown = new Set<string>(ROWS.map((row) => row.switch));
    const unshown = ALL_SWITCHES.filter((one) => !shown.has(one)).filter((one) => {
      const others = ALL_SWITCHES.filter((other) => other !== one);
      return RECORDED_CASES.every(
        (recorded) =>
          allocations(recorded.expected, answerWith(recorded, { vmSizes: VM_SIZES }, others)).length === 0,
      );
    });
    expect(unshown).toEqual([]);
  });
});

test.each([
  {
    name: "exactly one of two, and the node has no room for one of them",
    one: { xor: [{ ncpus: 3 }, { "node.name": "a-1" }] },
  },
  {
    name: "exactly one of two, and the node has jobs",
    one: { xor: [{ "node.state": "Ready" }, { exclusive: true }] },
  },
  { name: "what must not hold", one: { not: { ncpus: 3 }, "node.state": "Ready" } },
])("a node is judged as it is, not as if it were empty: $name", ({ one }) => {
  const jobs = [
    { name: "i", constraints: { ncpus: 2 } },
    { name: "j", constraints: [{ ncpus: 1 }, one] },
  ];
  const input = inputOf([arrayOf("a", [D4])], jobs, { nodes: [nodeOf("a-1")] });
  const asked: VectorCase = { name: "", input, expected: {} };
  expect(placedIn(answerAllocator(asked, surroundings))).toEqual(["a-1 1", "a-1 1"]);
  expect(placedIn(answerWith(asked, surroundings, []))).toEqual(["a-1 1", "a-1 1"]);
});
