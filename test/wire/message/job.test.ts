import { describe, expect, test } from "vitest";
import { lineOf, readMembers, updateOf } from "../context.ts";

const jobsOf = (jobs: unknown) => updateOf(readMembers({ jobs })).demand.demands;
const rejectedOf = (jobs: unknown) =>
  updateOf(readMembers({ jobs })).demand.rejectedJobs.map(({ name, problems }) => ({
    name,
    lines: problems.map(lineOf),
  }));

const plain = {
  kind: "job",
  id: "a",
  name: "a",
  constraints: [],
  iterations: 1,
  colocated: false,
  placed: [],
  priority: 0,
  position: 0,
};

const JOB_KEYS =
  "one of the keys name, user, priority, iterations, node-count, constraints, colocated, packing-strategy, executing-hostnames, placed, span, spot, walltime, exclusive, iterations-remaining, metadata";

describe("constraints that several jobs have", () => {
  test("are read for each of them, whatever came before", () => {
    const jobs = [
      { name: "a", constraints: { ncpus: 2 } },
      { name: "b", constraints: { ncpus: 2 }, exclusive: true },
      { name: "c", constraints: { ncpus: 2 } },
      { name: "d", constraints: { ncpus: "two" } },
      { name: "e", constraints: { ncpus: "two" } },
      { name: "f" },
    ];
    const two = { kind: "amount", resource: "ncpus", amount: 2 };
    const alone = { kind: "exclusive", scope: "job", wanted: true };
    expect(jobsOf(jobs)).toMatchObject([
      { name: "a", constraints: [two] },
      { name: "b", constraints: [alone, two] },
      { name: "c", constraints: [two] },
      { name: "f", constraints: [] },
    ]);
    expect(rejectedOf(jobs)).toMatchObject([
      { name: "d", lines: [expect.stringMatching(/^jobs\[3\]\.constraints/)] },
      { name: "e", lines: [expect.stringMatching(/^jobs\[4\]\.constraints/)] },
    ]);
  });
});

describe("a job", () => {
  test.each([
    { name: "with its name alone, as a bare object", jobs: { name: "a" }, expected: [plain] },
    {
      name: "with everything that is honoured today",
      jobs: [
        {
          name: "a",
          user: "eva",
          priority: -2.5,
          iterations: 12,
          constraints: [
            { ncpus: 2, mem: "memory::4g" },
            { ngpus: 1 },
            { exclusive: true },
            { "node.vm_size": ["Standard_D4v3", "Standard_D8v3"] },
            { "node.nodearray": "execute" },
          ],
          colocated: true,
          "packing-strategy": "pack",
          placed: [
            { hostname: "h2", iterations: 3 },
            { hostname: "h1", iterations: 9 },
          ],
        },
      ],
      expected: [
        {
          ...plain,
          user: "eva",
          priority: -2.5,
          iterations: 12,
          constraints: [
            { kind: "exclusive", scope: "job", wanted: true },
            { kind: "amount", resource: "mem", amount: { amount: 4, unit: "g" } },
            { kind: "amount", resource: "ncpus", amount: 2 },
            { kind: "amount", resource: "ngpus", amount: 1 },
            { kind: "property-choice", property: "nodearray", choices: ["execute"] },
            { kind: "property-choice", property: "vm_size", choices: ["Standard_D4v3", "Standard_D8v3"] },
          ],
          colocated: true,
          placed: [
            { hostname: "h1", iterations: 9 },
            { hostname: "h2", iterations: 3 },
          ],
        },
      ],
    },
    {
      name: "spread over nodes",
      jobs: [
        {
          name: "a",
          "node-count": 4,
          iterations: 2,
          "packing-strategy": "scatter",
          placed: [{ hostname: "h1", iterations: 8 }],
        },
      ],
      expected: [{ ...plain, nodeCount: 4, iterations: 2, placed: [{ hostname: "h1", iterations: 8 }] }],
    },
    {
      name: "with a node-count of 0, which is none",
      jobs: [{ name: "a", "node-count": 0 }],
      expected: [plain],
    },
    {
      name: "with executing hosts: each mention is one slot",
      jobs: [{ name: "a", iterations: 4, "executing-hostnames": ["h2", "h1", "h2"] }],
      expected: [
        {
          ...plain,
          iterations: 4,
          placed: [
            { hostname: "h1", iterations: 1 },
            { hostname: "h2", iterations: 2 },
          ],
        },
      ],
    },
    {
      name: "in a placement group by constraint",
      jobs: [{ name: "a", constraints: { "in-a-placement-group": true } }],
      expected: [{ ...plain, constraints: [{ kind: "in-a-placement-group", wanted: true }] }],
    },
    {
      name: "that may span buckets and take nodes that may be evicted",
      jobs: [{ name: "a", "node-count": 2, span: true, spot: "allow" }],
      expected: [{ ...plain, nodeCount: 2, span: true, spot: "allow" }],
    },
    {
      name: "that refuses such nodes, another that takes no others, and a span that is none",
      jobs: [
        { name: "a", spot: "never", span: false },
        { name: "b", spot: "only" },
      ],
      expected: [
        { ...plain, spot: "never" },
        { ...plain, id: "b", name: "b", position: 1, spot: "only" },
      ],
    },
    {
      name: "with a walltime, which changes nothing yet",
      jobs: [{ name: "a", walltime: 3600 }],
      expected: [plain],
    },
    {
      name: "that is the second of two: its position",
      jobs: [{ name: "b" }, { name: "a" }],
      expected: [
        { ...plain, id: "b", name: "b" },
        { ...plain, position: 1 },
      ],
    },
  ])("$name", ({ jobs, expected }) => {
    expect(jobsOf(jobs)).toEqual(expected);
  });

  test("comes after the targets of its message in rank", () => {
    const read = readMembers({
      jobs: [{ name: "a" }],
      nodearrays: [
        { Name: "x", TargetCount: 1 },
        { Name: "y", TargetCount: 1 },
      ],
    });
    expect(updateOf(read).demand.demands.map(({ id, position }) => ({ id, position }))).toEqual([
      { id: "nodearray:x", position: 0 },
      { id: "nodearray:y", position: 1 },
      { id: "a", position: 2 },
    ]);
  });

  test("is written with its keys in order, so that its text is canonical", () => {
    const [job] = jobsOf({
      user: "eva",
      placed: [{ iterations: 1, hostname: "h" }],
      "node-count": 2,
      constraints: [{ "node.vm_size": "D4" }, { "node.nodearray": "x" }, { ncpus: 1 }],
      name: "a",
    });
    expect(JSON.stringify(job)).toBe(
      '{"colocated":false,"constraints":[{"amount":1,"kind":"amount","resource":"ncpus"},{"choices":["x"],"kind":"property-choice","property":"nodearray"},{"choices":["D4"],"kind":"property-choice","property":"vm_size"}],"id":"a","iterations":1,"kind":"job","name":"a","nodeCount":2,"placed":[{"hostname":"h","iterations":1}],"position":0,"priority":0,"user":"eva"}',
    );
  });
});

describe("a bad job is rejected by itself", () => {
  test("and the good ones around it stand, in their places", () => {
    const read = updateOf(
      readMembers({ jobs: [{ name: "good" }, { name: "bad", iterations: 0 }, 17, { name: "fine" }] }),
    );
    expect(read.demand.demands.map(({ id, position }) => ({ id, position }))).toEqual([
      { id: "good", position: 0 },
      { id: "fine", position: 3 },
    ]);
    expect(read.demand.rejectedJobs).toEqual([
      {
        name: "bad",
        problems: [{ path: "jobs[1].iterations", found: "0", expected: "a whole number, 1 or more" }],
      },
      {
        name: "#2",
        problems: [{ path: "jobs[2]", found: "17", expected: "an object: a job with its name" }],
      },
    ]);
  });

  test.each([
    { name: "without a name", job: { iterations: 1 }, lines: ["jobs[0].name: nothing -> text, not empty"] },
    { name: "with a number for a name", job: { name: 17 }, lines: ["jobs[0].name: 17 -> text, not empty"] },
    {
      name: "with a name that belongs to targets",
      job: { name: "nodearray:execute" },
      lines: ['jobs[0].name: "nodearray:execute" -> a name that does not begin with "nodearray:"'],
    },
    {
      name: "with an unknown key",
      job: { name: "a", node_count: 2 },
      lines: [`jobs[0]: "node_count" -> ${JOB_KEYS} (node-count?)`],
    },
    {
      name: "with wrong types everywhere",
      job: {
        name: "a",
        user: 1,
        priority: "high",
        iterations: 1.5,
        "node-count": -1,
        constraints: 5,
        colocated: "yes",
        "packing-strategy": "spread",
        "executing-hostnames": "h1",
        span: 1,
        spot: "maybe",
        walltime: 0,
      },
      lines: [
        "jobs[0].span: 1 -> true or false",
        'jobs[0].spot: "maybe" -> one of never, allow, only',
        "jobs[0].walltime: 0 -> a number of seconds above 0",
        "jobs[0].user: 1 -> text, not empty",
        "jobs[0].priority: text of 4 characters -> a number",
        "jobs[0].iterations: 1.5 -> a whole number, 1 or more",
        "jobs[0].node-count: -1 -> a whole number, 0 or more",
        'jobs[0].packing-strategy: "spread" -> one of pack, scatter',
        "jobs[0].executing-hostnames: text of 2 characters -> a list of texts",
        "jobs[0].colocated: text of 3 characters -> true or false",
        "jobs[0].constraints: 5 -> a list of objects, or one object",
      ],
    },
    {
      name: "scattered over nobody knows how many nodes",
      job: { name: "a", "packing-strategy": "scatter" },
      lines: ['jobs[0].packing-strategy: "scatter" -> scatter only with a node-count of 1 or more'],
    },
    {
      name: "placed in two ways",
      job: { name: "a", placed: [], "executing-hostnames": [] },
      lines: ["jobs[0].placed: [] -> either placed or executing-hostnames, not both"],
    },
    {
      name: "running on more slots than it has",
      job: { name: "a", iterations: 2, "executing-hostnames": ["h1", "h2", "h3"] },
      lines: [
        "jobs[0].executing-hostnames: list of 3 items -> at most 2 slots in all, not 3: iterations counts running ones too",
      ],
    },
    {
      name: "with bad entries in placed",
      job: {
        name: "a",
        iterations: 9,
        placed: [
          { hostname: "h1" },
          5,
          { hostname: "", iterations: 1, slots: 2 },
          { hostname: "h3", iterations: 0 },
        ],
      },
      lines: [
        "jobs[0].placed[0].iterations: nothing -> a whole number, 1 or more",
        "jobs[0].placed[1]: 5 -> an object with hostname and iterations",
        'jobs[0].placed[2]: "slots" -> one of the keys hostname, iterations',
        'jobs[0].placed[2].hostname: "" -> text, not empty',
        "jobs[0].placed[3].iterations: 0 -> a whole number, 1 or more",
      ],
    },
    {
      name: "placed on a host twice",
      job: {
        name: "a",
        iterations: 9,
        placed: [
          { hostname: "h", iterations: 1 },
          { hostname: "h", iterations: 2 },
        ],
      },
      lines: ["jobs[0].placed: list of 2 items -> each host only once"],
    },
  ])("$name", ({ job, lines }) => {
    expect(rejectedOf([job]).map((rejected) => rejected.lines)).toEqual([lines]);
    expect(jobsOf([job])).toEqual([]);
  });

  test("the second of one name", () => {
    expect(jobsOf([{ name: "a", iterations: 2 }, { name: "a" }])).toHaveLength(1);
    expect(rejectedOf([{ name: "a", iterations: 2 }, { name: "a" }])).toEqual([
      { name: "a", lines: ['jobs[1].name: "a" -> a name that no other job of the message has'] },
    ]);
  });
});
