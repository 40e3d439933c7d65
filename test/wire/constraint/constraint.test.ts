import { describe, expect, test } from "vitest";
import { writeConstraint } from "../../../src/wire/constraint/constraint-json.ts";
import { readConstraints } from "../../../src/wire/constraint/constraint.ts";
import { JobConstraints } from "../../../src/wire/message/job-constraints.ts";
import { newNotes, Problems } from "../../../src/wire/json/problems.ts";
import { lineOf } from "../context.ts";

function read(value: unknown) {
  const problems = new Problems();
  const constraints = new JobConstraints().read(value, problems, { exclusive: false });
  return { constraints, lines: problems.all().map(lineOf) };
}

describe("the constraints of a job", () => {
  test.each([
    { name: "none", value: undefined, expected: [] },
    { name: "an empty list", value: [], expected: [] },
    { name: "an empty object", value: {}, expected: [] },
    {
      name: "amounts of any resource, the list and its members together",
      value: [{ ncpus: 2, ngpus: 0 }, { "licence-x": 0.5 }],
      expected: [
        { kind: "amount", resource: "licence-x", amount: 0.5 },
        { kind: "amount", resource: "ncpus", amount: 2 },
        { kind: "amount", resource: "ngpus", amount: 0 },
      ],
    },
    {
      name: "a resource named twice: both are taken",
      value: [{ ncpus: 2 }, { ncpus: 1 }],
      expected: [
        { kind: "amount", resource: "ncpus", amount: 1 },
        { kind: "amount", resource: "ncpus", amount: 2 },
      ],
    },
    {
      name: "memory with its unit",
      value: { mem: "memory::1.5T" },
      expected: [{ kind: "amount", resource: "mem", amount: { amount: 1.5, unit: "T" } }],
    },
    {
      name: "texts, patterns and lists to match",
      value: [{ rack: "r*" }, { queue: ["a", 1, null] }, { fast: true }],
      expected: [
        { kind: "resource-choice", resource: "fast", choices: [true] },
        { kind: "resource-choice", resource: "queue", choices: ["a", 1, null] },
        { kind: "resource-choice", resource: "rack", choices: ["r*"] },
      ],
    },
    {
      name: "properties of nodes, in order of preference",
      value: { "node.vm_size": ["Standard_F16", "Standard_F*"], "node.spot": false },
      expected: [
        { kind: "property-choice", property: "spot", choices: [false] },
        { kind: "property-choice", property: "vm_size", choices: ["Standard_F16", "Standard_F*"] },
      ],
    },
    {
      name: "exclusive in scalelib's spellings",
      value: [{ exclusive: "TRUE" }, { "exclusive-task": 1 }, { exclusive_task: "0" }],
      expected: [
        { kind: "exclusive", scope: "job", wanted: true },
        { kind: "exclusive", scope: "task", wanted: false },
        { kind: "exclusive", scope: "task", wanted: true },
      ],
    },
    {
      name: "in no placement group",
      value: { "in-a-placement-group": false },
      expected: [{ kind: "in-a-placement-group", wanted: false }],
    },
    {
      name: "alternatives keep their order, what must all hold does not",
      value: { or: [{ b: "y", a: "x" }, { and: [{ c: 1 }, [{ d: 2 }]] }] },
      expected: [
        {
          kind: "or",
          of: [
            {
              kind: "and",
              of: [
                { kind: "resource-choice", resource: "a", choices: ["x"] },
                { kind: "resource-choice", resource: "b", choices: ["y"] },
              ],
            },
            {
              kind: "and",
              of: [
                { kind: "amount", resource: "c", amount: 1 },
                { kind: "amount", resource: "d", amount: 2 },
              ],
            },
          ],
        },
      ],
    },
    {
      name: "not, and never with its message",
      value: [{ not: { "node.spot": true } }, { never: "closed" }],
      expected: [
        { kind: "never", message: "closed" },
        { kind: "not", of: { kind: "property-choice", property: "spot", choices: [true] } },
      ],
    },
    {
      name: "pools: an amount, and a value that one must have",
      value: { pool: { "licence-x": 2, shift: "night" } },
      expected: [
        { kind: "pool", pool: "licence-x", amount: 2 },
        { kind: "pool-value", pool: "shift", value: "night" },
      ],
    },
    {
      name: "a resource that is called pool",
      value: { pool: 1 },
      expected: [{ kind: "amount", resource: "pool", amount: 1 }],
    },
    {
      name: "no new nodes where capacity lacked lately",
      value: { "capacity-failure-backoff": 300 },
      expected: [{ kind: "capacity-failure-backoff", seconds: 300, written: 300 }],
    },
  ])("$name", ({ value, expected }) => {
    expect(read(value)).toEqual({ constraints: expected, lines: [] });
  });

  const NODE_PROPERTY = expect.stringContaining("a property of nodes: name, nodearray");
  test.each([
    {
      name: "neither list nor object",
      value: "ncpus=2",
      lines: ["constraints: text of 7 characters -> a list of objects, or one object"],
    },
    {
      name: "a list in the list",
      value: [[{ ncpus: 1 }]],
      lines: ["constraints[0]: list of 1 item -> an object"],
    },
    {
      name: "a negative amount",
      value: { ncpus: -1 },
      lines: ["constraints.ncpus: -1 -> a number, 0 or more"],
    },
    {
      name: "an amount without end",
      value: JSON.parse('{"ncpus":1e999}'),
      lines: ["constraints.ncpus: Infinity -> a number, 0 or more"],
    },
    {
      name: "a number in quotes",
      value: [{}, { ncpus: "1" }],
      lines: ['constraints[1].ncpus: "1" -> an amount: a number, or a size such as memory::4g'],
    },
    ...["4GB", "4gb", "4 GiB"].map((mem) => ({
      name: `a size as schedulers print it: ${mem}`,
      value: { mem },
      lines: [
        `constraints.mem: "${mem}" -> an amount: a number of GiB, or a size such as memory::4g (memory::4g?)`,
      ],
    })),
    {
      name: "the same for a property",
      value: { "node.memory": "4GB" },
      lines: ['constraints.node.memory: "4GB" -> a size such as memory::4g (memory::4g?)'],
    },
    {
      name: "true in quotes",
      value: { "node.spot": "True" },
      lines: ['constraints.node.spot: "True" -> true, without quotes'],
    },
    {
      name: "a size without its prefix",
      value: { mem: "4g" },
      lines: ['constraints.mem: "4g" -> a size with its prefix, as in memory::4g (memory::4g?)'],
    },
    {
      name: "a negative size",
      value: { disk: "size::-4g" },
      lines: ['constraints.disk: "size::-4g" -> a size such as memory::4g, or a text without that prefix'],
    },
    {
      name: "a unit that scalelib does not know",
      value: { mem: "memory::4gb" },
      lines: [
        'constraints.mem: "memory::4gb" -> a size such as memory::4g: b, k, m, g, t, p, or upper case for powers of 1000',
      ],
    },
    {
      name: "a placement group and what not",
      value: { "in-a-placement-group": "maybe" },
      lines: ['constraints.in-a-placement-group: "maybe" -> true or false'],
    },
    {
      name: "exclusive and what not",
      value: { exclusive: "maybe" },
      lines: ['constraints.exclusive: "maybe" -> true or false'],
    },
    {
      name: "a key that is nearly ours",
      value: { exlusive: true },
      lines: ['constraints.exlusive: "exlusive" -> the name of a resource, or exclusive (exclusive?)'],
    },
    {
      name: "one alternative",
      value: { or: [{ a: 1 }] },
      lines: ["constraints.or: list of 1 item -> at least two objects: the alternatives, preferred first"],
    },
    {
      name: "an alternative that says nothing",
      value: { xor: [{ a: 1 }, {}] },
      lines: ["constraints.xor[1]: {} -> a constraint"],
    },
    {
      name: "not of a list",
      value: { not: [{ a: 1 }] },
      lines: ["constraints.not: list of 1 item -> one object: what must not hold"],
    },
    {
      name: "no choice at all",
      value: { "node.nodearray": [] },
      lines: ["constraints.node.nodearray: [] -> at least one value"],
    },
    {
      name: "a pool with less than nothing",
      value: { pool: { x: -1 } },
      lines: [
        "constraints.pool.x: -1 -> an amount, 0 or more, or the value that the pool must have",
        "constraints.pool: object with 1 member -> pool names, each with an amount or a value",
      ],
    },
    {
      name: "a key that JavaScript objects cannot hold",
      value: [JSON.parse('{"__proto__":1}')],
      lines: ["constraints[0].__proto__: 1 -> the name of a resource"],
    },
  ])("refuses $name", ({ value, lines }) => {
    expect(read(value).lines).toEqual(lines);
  });

  test("an unknown property of nodes names the nearest", () => {
    const problems = new Problems();
    new JobConstraints().read({ or: [{ a: 1 }, { "node.vmsize": "x" }] }, problems, { exclusive: false });
    expect(problems.all()).toEqual([
      {
        path: "constraints.or[1].node.vmsize",
        found: '"node.vmsize"',
        expected: NODE_PROPERTY,
        didYouMean: "node.vm_size",
      },
    ]);
  });
});

test.each([
  {
    name: "one of each kind",
    value: [
      { ncpus: 1, mem: "memory::4g" },
      { or: [{ "node.spot": [true] }, { a: ["x", "y"] }] },
      { not: { b: null } },
    ],
  },
  { name: "a list where keys repeat", value: [{ and: [{ ncpus: 1 }, { ncpus: 2 }] }] },
  { name: "pools", value: [{ pool: { x: 1 } }, { pool: { shift: "night" } }] },
  { name: "lists of one, which take nothing", value: [{ ncpus: [4], mem: ["memory::4g"], queue: "long" }] },
  { name: "an empty list", value: [{ not: { and: [] } }] },
])("constraints written back read as the same: $name", ({ value }) => {
  const notes = newNotes();
  const constraints = readConstraints(value, "", notes);
  const written = constraints.map(writeConstraint);
  expect(written).toEqual(value);
  expect(readConstraints(written, "", notes)).toEqual(constraints);
  expect(notes).toEqual(newNotes());
});
