import { describe, expect, test } from "vitest";
import { lineOf, readMembers, updateOf } from "../context.ts";

/** Jobs as scalelib's Job.to_dict() writes them, and as drivers fill them in (scalelib.md 12). */

const jobsOf = (jobs: unknown) => updateOf(readMembers({ jobs })).demand.demands;
const linesOf = (job: unknown) =>
  updateOf(readMembers({ jobs: [job] })).demand.rejectedJobs.flatMap(({ problems }) => problems.map(lineOf));

/** All nine keys that Job.to_dict() writes. */
const written = {
  name: "j",
  constraints: [{ ncpus: 2 }],
  iterations: 1,
  "iterations-remaining": 1,
  "node-count": 0,
  colocated: false,
  "packing-strategy": "pack",
  "executing-hostnames": [],
  metadata: {},
};

const lowered = {
  kind: "job",
  id: "j",
  name: "j",
  constraints: [{ kind: "amount", resource: "ncpus", amount: 2 }],
  iterations: 1,
  colocated: false,
  placed: [],
  priority: 0,
  position: 0,
};

describe("a job as scalelib writes it", () => {
  test.each([
    { name: "a single slot", job: {}, expected: {} },
    {
      name: "an array of which a part runs already: what remains is to be placed",
      job: { iterations: 100, "iterations-remaining": 60 },
      expected: { iterations: 60 },
    },
    {
      name: "an array whose running slots are named: all of it, with what runs",
      job: { iterations: 10, "iterations-remaining": 6, "executing-hostnames": ["h1", "h1", "h2", "h3"] },
      expected: {
        iterations: 10,
        placed: [
          { hostname: "h1", iterations: 2 },
          { hostname: "h2", iterations: 1 },
          { hostname: "h3", iterations: 1 },
        ],
      },
    },
    {
      name: "a running slot of a driver that leaves iterations-remaining as it was: nothing more is asked",
      job: { "executing-hostnames": ["h1"] },
      expected: { iterations: 1, placed: [{ hostname: "h1", iterations: 1 }] },
    },
    {
      name: "a job that runs on more hosts than its iterations say: it has what it has",
      job: { "executing-hostnames": ["h1", "h2"] },
      expected: {
        iterations: 2,
        placed: [
          { hostname: "h1", iterations: 1 },
          { hostname: "h2", iterations: 1 },
        ],
      },
    },
    {
      name: "nothing remains and nothing runs: it asks for nothing",
      job: { iterations: 4, "iterations-remaining": 0 },
      expected: { iterations: 0 },
    },
    {
      name: "more remains than iterations say: the library places what remains",
      job: { "iterations-remaining": 5 },
      expected: { iterations: 5 },
    },
    {
      name: "four nodes packed: iterations do not multiply, and some of the nodes will do",
      job: { iterations: 4, "iterations-remaining": 4, "node-count": 4 },
      expected: { nodeCount: 4, partial: true },
    },
    {
      name: "an ordinary PBS job: one node packed is one slot",
      job: { "node-count": 1 },
      expected: {},
    },
    {
      name: "an MPI job of PBS, scattered: all of its nodes or none",
      job: { "node-count": 4, "packing-strategy": "scatter" },
      expected: { nodeCount: 4 },
    },
    {
      name: "packed nodes that belong together: all of them or none",
      job: { "node-count": 4, colocated: true, constraints: [{ "in-a-placement-group": true, ncpus: 2 }] },
      expected: {
        nodeCount: 4,
        colocated: true,
        constraints: [
          { kind: "in-a-placement-group", wanted: true },
          { kind: "amount", resource: "ncpus", amount: 2 },
        ],
      },
    },
    {
      name: "packed nodes of which one is there: a slot on each host, however often it is named",
      job: { "node-count": 4, "executing-hostnames": ["h1", "h1"] },
      expected: { nodeCount: 4, partial: true, placed: [{ hostname: "h1", iterations: 1 }] },
    },
    {
      name: "packed nodes that all run, two of them on one host: nothing more is asked",
      job: { "node-count": 4, "executing-hostnames": ["h1", "h1", "h2", "h2"] },
      expected: {
        iterations: 4,
        placed: [
          { hostname: "h1", iterations: 2 },
          { hostname: "h2", iterations: 2 },
        ],
      },
    },
    {
      name: "metadata, kept with its keys in order",
      job: { metadata: { job_state: "queued", a: { z: [1, { y: 1, b: null }], c: true } } },
      expected: { metadata: { a: { c: true, z: [1, { b: null, y: 1 }] }, job_state: "queued" } },
    },
  ])("$name", ({ job, expected }) => {
    const { rejectedJobs, demands } = updateOf(readMembers({ jobs: [{ ...written, ...job }] })).demand;
    expect(rejectedJobs).toEqual([]);
    expect(demands).toEqual([{ ...lowered, ...expected }]);
  });
});

describe("which keys say that a job is written as scalelib writes it", () => {
  const job = { name: "j", constraints: [{ ncpus: 2 }], iterations: 3, "node-count": 2 };
  test.each([
    { name: "none: iterations on each of the nodes", more: {}, expected: { iterations: 3, nodeCount: 2 } },
    {
      name: "scatter, which is ours as well",
      more: { "packing-strategy": "scatter" },
      expected: { iterations: 3, nodeCount: 2 },
    },
    {
      name: "pack with a node-count",
      more: { "packing-strategy": "pack" },
      expected: { iterations: 1, nodeCount: 2, partial: true },
    },
    {
      name: "iterations-remaining",
      more: { "iterations-remaining": 3 },
      expected: { iterations: 1, nodeCount: 2 },
    },
    { name: "metadata", more: { metadata: {} }, expected: { iterations: 1, nodeCount: 2 } },
  ])("$name", ({ more, expected }) => {
    expect(jobsOf([{ ...job, ...more }])).toEqual([{ ...lowered, ...expected }]);
  });

  test("pack without a node-count is ours as well: all iterations, running ones among them", () => {
    const ours = { name: "j", iterations: 3, "packing-strategy": "pack", "executing-hostnames": ["h1"] };
    expect(jobsOf([ours])).toMatchObject([{ iterations: 3, placed: [{ hostname: "h1", iterations: 1 }] }]);
  });
});

const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });

describe("what is refused of it", () => {
  test.each([
    {
      name: "metadata that is no object",
      job: { metadata: ["a"] },
      lines: ["jobs[0].metadata: list of 1 item -> an object of at most 4096 characters of JSON"],
    },
    {
      name: "metadata that is too long",
      job: { metadata: { a: "x".repeat(4096) } },
      lines: [`jobs[0].metadata: object with 1 member -> an object of at most 4096 characters of JSON`],
    },
    {
      name: "metadata that is too deep",
      job: { metadata: nested(9) },
      lines: ["jobs[0].metadata: object with 1 member -> at most 8 levels of nesting"],
    },
    {
      name: "a key that cannot be copied",
      job: JSON.parse('{"metadata":{"a":{"__proto__":1}}}'),
      lines: ["jobs[0].metadata: object with 1 member -> a value without the key __proto__"],
    },
    {
      name: "iterations-remaining that are no count",
      job: { "iterations-remaining": -1 },
      lines: ["jobs[0].iterations-remaining: -1 -> a whole number, 0 or more"],
    },
    {
      name: "scatter without a node-count, which the library does not survive either",
      job: { "packing-strategy": "scatter" },
      lines: ['jobs[0].packing-strategy: "scatter" -> scatter only with a node-count of 1 or more'],
    },
  ])("$name", ({ job, lines }) => {
    expect(linesOf({ ...written, ...job })).toEqual(lines);
  });

  test("8 levels and 4096 characters are taken", () => {
    expect(jobsOf([{ ...written, metadata: nested(8) }])).toHaveLength(1);
    // {"a":"..."} is 8 characters more.
    expect(jobsOf([{ ...written, metadata: { a: "x".repeat(4088) } }])).toHaveLength(1);
  });
});
