import { describe, expect, test } from "vitest";
import type { Problem } from "../../src/domain/demand.ts";
import { readConstraints } from "../../src/wire/constraint.ts";
import { lineOf } from "./context.ts";

function read(value: unknown) {
  const problems: Problem[] = [];
  const requirements = readConstraints(value, problems);
  return { requirements, lines: problems.map(lineOf) };
}

const none = { needs: {}, exclusive: false, colocated: false };

describe("constraints", () => {
  test.each([
    { name: "none", value: undefined, expected: none },
    { name: "an empty list", value: [], expected: none },
    {
      name: "amounts of any resource, the list and its members together",
      value: [{ ncpus: 2, ngpus: 0 }, { "licence-x": 0.5 }],
      expected: { ...none, needs: { "licence-x": 0.5, ncpus: 2, ngpus: 0 } },
    },
    {
      name: "memory with scalelib's prefix",
      value: { mem: "memory::4g" },
      expected: { ...none, needs: { mem: 4 } },
    },
    { name: "memory as a size", value: { mem: "size::512m" }, expected: { ...none, needs: { mem: 0.5 } } },
    {
      name: "memory in units of 1000",
      value: { mem: "8T" },
      expected: { ...none, needs: { mem: 7450.580596923828 } },
    },
    {
      name: "memory as a bare number is bytes",
      value: { mem: 1_073_741_824 },
      expected: { ...none, needs: { mem: 1 } },
    },
    { name: "exclusive", value: { exclusive: true }, expected: { ...none, exclusive: true } },
    {
      name: "exclusive in scalelib's other spellings",
      value: { exclusive: "TRUE" },
      expected: { ...none, exclusive: true },
    },
    { name: "exclusive as a number", value: { exclusive: 1 }, expected: { ...none, exclusive: true } },
    { name: "not exclusive", value: { exclusive: "0" }, expected: none },
    {
      name: "a placement group",
      value: [{ "in-a-placement-group": true }],
      expected: { ...none, colocated: true },
    },
    {
      name: "one VM size",
      value: { "node.vm_size": "Standard_F4" },
      expected: { ...none, machineTypes: ["Standard_F4"] },
    },
    {
      name: "arrays in order of preference",
      value: { "node.nodearray": ["b", "a"] },
      expected: { ...none, arrays: ["b", "a"] },
    },
  ])("$name", ({ value, expected }) => {
    expect(read(value)).toEqual({ requirements: expected, lines: [] });
  });

  const SIZE =
    'a size such as "4g" or "memory::4g" (b, k, m, g, t, p; upper case for powers of 1000), or a number of bytes';
  const UNDERSTOOD =
    "an amount of a resource (ncpus, mem, ngpus, ...), exclusive, in-a-placement-group, node.vm_size or node.nodearray";
  const AMOUNT = "a number, the amount: other values are not supported yet";
  test.each([
    {
      name: "neither list nor object",
      value: "ncpus=2",
      lines: ['constraints: "ncpus=2" -> a list of objects, or one object'],
    },
    {
      name: "a list in the list",
      value: [[{ ncpus: 1 }]],
      lines: ['constraints[0]: [{"ncpus":1}] -> an object'],
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
      name: "a text to match",
      value: [{}, { ncpus: "1" }],
      lines: [`constraints[1].ncpus: "1" -> ${AMOUNT}`],
    },
    {
      name: "a choice of a resource",
      value: { queue: ["a", "b"] },
      lines: [`constraints.queue: ["a","b"] -> ${AMOUNT}`],
    },
    {
      name: "a unit that scalelib does not know",
      value: { mem: "4gb" },
      lines: [`constraints.mem: "4gb" -> ${SIZE}`],
    },
    { name: "negative memory", value: { mem: "-4g" }, lines: [`constraints.mem: "-4g" -> ${SIZE}`] },
    {
      name: "no placement group, which scalelib reads as one",
      value: { "in-a-placement-group": false },
      lines: ["constraints.in-a-placement-group: false -> true, or leave the key out"],
    },
    {
      name: "exclusive and what not",
      value: { exclusive: "maybe" },
      lines: ['constraints.exclusive: "maybe" -> true or false'],
    },
    {
      name: "a pattern",
      value: { "node.vm_size": ["Standard_F*"] },
      lines: ['constraints.node.vm_size: ["Standard_F*"] -> names in full: patterns are not supported yet'],
    },
    {
      name: "no choice at all",
      value: { "node.nodearray": [] },
      lines: ["constraints.node.nodearray: [] -> a name, or a list of names, preferred first"],
    },
    {
      name: "a choice of numbers",
      value: { "node.nodearray": ["a", 1] },
      lines: ['constraints.node.nodearray: ["a",1] -> a name, or a list of names, preferred first'],
    },
    {
      name: "a property that is not supported yet",
      value: { "node.spot": true },
      lines: [`constraints.node.spot: true -> ${UNDERSTOOD}: "node.spot" is not supported yet`],
    },
    {
      name: "an alternative, not supported yet",
      value: { or: [{ ncpus: 1 }, { ncpus: 2 }] },
      lines: [`constraints.or: [{"ncpus":1},{"ncpus":2}] -> ${UNDERSTOOD}: "or" is not supported yet`],
    },
    {
      name: "a pool, not supported yet",
      value: { pool: { "licence-x": 1 } },
      lines: [`constraints.pool: {"licence-x":1} -> ${UNDERSTOOD}: "pool" is not supported yet`],
    },
    {
      name: "an object that nobody reads",
      value: { ncpus: { min: 1 } },
      lines: [`constraints.ncpus: {"min":1} -> ${AMOUNT}`],
    },
    {
      name: "a resource named twice",
      value: [{ ncpus: 1 }, { ncpus: 2 }],
      lines: ['constraints[1].ncpus: 2 -> "ncpus" named only once in a job'],
    },
    {
      name: "a key that JavaScript objects cannot hold",
      value: [JSON.parse('{"__proto__":1}')],
      lines: ["constraints[0].__proto__: 1 -> the name of a resource"],
    },
  ])("refuses $name", ({ value, lines }) => {
    expect(read(value).lines).toEqual(lines);
  });
});
