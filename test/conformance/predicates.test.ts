/** What the library answers to small cases because of a defect is a deviation, and a wrong answer of ours there is none. */
import { describe, expect, test } from "vitest";
import { answerAllocator } from "./answer-allocator.ts";
import type { Json } from "./compare.ts";
import { arrayOf, bucketOf, inputOf, nodeOf, withAt } from "./small-case.ts";
import type { Suite } from "./suites.ts";
import { judgeAnswer, SUITES } from "./suites.ts";
import type { VectorCase } from "./vector-case.ts";

const known: Json = {
  D4: { name: "D4", family: "standardDFamily", capabilities: { vCPUs: 4, MemoryGB: 8 } },
};
const surroundings = { vmSizes: { r: known, s: known } };
const WITH_LIMITS: Json = { buckets: [{ limits: {} }] };

type Changes = Readonly<Record<string, Json>>;

interface Row {
  readonly name: string;
  readonly input: VectorCase["input"];
  /** The single limits of each bucket are shown. */
  readonly limits?: true;
  /** Where the library's answer is not ours. */
  readonly library: Changes;
  readonly defects: readonly number[];
  /** Answers in the place of ours that are wrong. */
  readonly wrong: readonly Changes[];
}

const changed = (answer: Json, changes: Changes): Json =>
  Object.entries(changes).reduce((all, [path, value]) => withAt(all, path, value), answer);

function suiteOfLimits(): Suite {
  const suite = SUITES.find(({ name }) => name === "allocator/limits");
  if (suite === undefined) throw new Error("there is such a suite");
  return suite;
}

const D4 = bucketOf("D4");
const nothing = (job: string, requested: number): Changes => ({
  [`jobs[${job}].status`]: "NoAllocationSelected",
  [`jobs[${job}].allocated`]: 0,
  [`jobs[${job}].remaining`]: requested,
  [`jobs[${job}].by_bucket`]: [],
  [`jobs[${job}].nodes`]: [],
});

describe("the allocator's predicates", () => {
  test.each<Row>([
    {
      name: "a figure that nodes without a machine make smaller",
      input: inputOf([arrayOf("a", [D4])], [], {
        nodes: [nodeOf("a-1", { Status: "Deallocated", TargetState: "Deallocated" })],
      }),
      limits: true,
      library: { "buckets[0].limits.cluster": 249 },
      defects: [0],
      wrong: [{ "buckets[0].limits.cluster": 251 }, { "buckets[0].limits.family": 249 }],
    },
    {
      name: "a generated group's own figure, where the array has a limit",
      input: inputOf(
        [arrayOf("a", [D4], { maxCount: 3 })],
        [{ name: "j", constraints: [{ ncpus: 1 }, { "in-a-placement-group": true }], node_count: 2 }],
        { default_placement_groups: true },
      ),
      limits: true,
      library: { "buckets[2].limits.bucket": 3, "buckets[0].limits.bucket": 3, "buckets[2].available": 3 },
      defects: [10],
      wrong: [{ "buckets[2].limits.bucket": 2 }, { "buckets[2].available": 0 }],
    },
    {
      name: "figures of a family in two regions",
      input: inputOf(
        [
          arrayOf("a", [bucketOf("D4", { familyQuotaCoreCount: 8 })]),
          arrayOf("b", [bucketOf("D4", { familyQuotaCoreCount: 100 })], {}, { Region: "s" }),
        ],
        [],
      ),
      limits: true,
      library: { "buckets[1].limits.family": 2, "buckets[1].available": 2 },
      defects: [34],
      wrong: [{ "buckets[1].limits.family": 24 }, { "buckets[1].available": 4 }],
    },
    {
      name: "what plain numbers leave of a size",
      input: inputOf([arrayOf("a", [D4])], [{ name: "j", constraints: { memgb: 2 }, iterations: 4 }]),
      library: { "nodes[0][4].memgb": "memory::7.99g" },
      defects: [3],
      wrong: [{ "nodes[0][4].memgb": "memory::2g" }, { "nodes[0][4].memgb": "memory::8g" }],
    },
    {
      name: "in-a-placement-group: false, read as true",
      input: inputOf(
        [arrayOf("a", [D4])],
        [{ name: "j", constraints: [{ ncpus: 1 }, { "in-a-placement-group": false }] }],
      ),
      library: { ...nothing("0", 1), "jobs[0].status": "NoCandidatesFound" },
      defects: [4],
      wrong: [{ "jobs[0].nodes[0][2]": 5, "jobs[0].allocated": 5 }],
    },
    {
      name: "ncpus by the configuration, which the library does not look at",
      input: inputOf([arrayOf("a", [D4])], [{ name: "j", constraints: { ncpus: 1 }, iterations: 3 }], {
        config: { default_resources: [{ select: {}, name: "ncpus", value: 2 }] },
      }),
      library: { "jobs[0].nodes": [["a-1", "new", 3]], "jobs[0].by_bucket[0].new": 1 },
      defects: [7],
      wrong: [{ "jobs[0].nodes": [["a-1", "new", 3]] }],
    },
    {
      name: "amounts in a not, which the library takes: less is left",
      input: inputOf(
        [arrayOf("a", [D4])],
        [{ name: "j", constraints: [{ ncpus: 1 }, { not: { ncpus: 2, memgb: "memory::100g" } }] }],
      ),
      library: { "nodes[0][4].ncpus": 1 },
      defects: [12],
      wrong: [{ "nodes[0][4].ncpus": 2 }],
    },
    {
      // It looks like defect 9 as well, which is looked at first.
      name: "amounts in a not: a later job has no room there",
      input: inputOf(
        [arrayOf("a", [bucketOf("D4", { availableCount: 1 })])],
        [
          { name: "j", constraints: [{ ncpus: 1 }, { not: { ncpus: 2, memgb: "memory::100g" } }] },
          { name: "k", constraints: { ncpus: 3 } },
        ],
      ),
      library: nothing("1", 1),
      defects: [9],
      wrong: [{ "jobs[1].nodes[0][2]": 2, "jobs[1].allocated": 2 }],
    },
    {
      name: "a backoff beside an amount, which the library ignores there",
      input: inputOf(
        [arrayOf("a", [bucketOf("D4", { lastCapacityFailure: 100 })])],
        [{ name: "j", constraints: { "capacity-failure-backoff": 600, ncpus: 1 } }],
        { nodes: [nodeOf("a-1")] },
      ),
      library: {
        "jobs[0].status": "success",
        "jobs[0].allocated": 1,
        "jobs[0].nodes": [["a-1", "existing", 1]],
      },
      defects: [0],
      wrong: [{ "jobs[0].nodes": [["a-1", "existing", 5]], "jobs[0].allocated": 5 }],
    },
    {
      name: "a number of nodes, which the library counts on nodes without a job only",
      input: inputOf(
        [arrayOf("a", [bucketOf("D4", { availableCount: 0, maxCount: 2 })]), arrayOf("b", [D4])],
        [
          { name: "i", constraints: { ncpus: 1 } },
          { name: "j", constraints: { ncpus: 1 }, node_count: 2, packing_strategy: "pack" },
        ],
        { nodes: [nodeOf("a-1"), nodeOf("a-2")] },
      ),
      library: {
        "jobs[1].nodes": [
          ["a-1", "existing", 1],
          ["b-1", "new", 1],
        ],
        nodes: [
          ["a-1", "a/D4", "er", ["i", "j"], { ncpus: 2 }],
          ["a-2", "a/D4", "e", [], {}],
          ["b-1", "b/D4", "r", ["j"], { ncpus: 3 }],
        ],
      },
      defects: [9],
      wrong: [{ "jobs[1].nodes": [["a-1", "existing", 2]] }],
    },
  ])("$name", ({ input, limits, library, defects, wrong }) => {
    const suite = suiteOfLimits();
    const asked: VectorCase = { name: "", input, expected: limits === true ? WITH_LIMITS : {} };
    const answer = answerAllocator(asked, surroundings);
    const one = { ...asked, expected: changed(answer, library) };
    const verdict = judgeAnswer(suite, one, answer, surroundings);
    expect({ kind: verdict.kind, defects: verdict.defects }, JSON.stringify(verdict.differences)).toEqual({
      kind: "deviated",
      defects,
    });
    const kinds = wrong.map(
      (changes) => judgeAnswer(suite, one, changed(answer, changes), surroundings).kind,
    );
    expect(kinds).toEqual(wrong.map(() => "failed"));
  });

  test("without the cause nothing is excused", () => {
    const input = inputOf([arrayOf("a", [D4])], [{ name: "j", constraints: { ncpus: 1 } }]);
    const asked: VectorCase = { name: "", input, expected: WITH_LIMITS };
    const answer = answerAllocator(asked, surroundings);
    const kinds = ["available", "limits.bucket", "limits.cluster", "limits.family"].map((figure) => {
      const expected = changed(answer, { [`buckets[0].${figure}`]: 1 });
      return judgeAnswer(suiteOfLimits(), { ...asked, expected }, answer, surroundings).kind;
    });
    expect(kinds).toEqual(["failed", "failed", "failed", "failed"]);
  });
});
