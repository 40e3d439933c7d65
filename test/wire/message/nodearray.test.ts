import { describe, expect, test } from "vitest";
import { problemLines, readMembers, updateOf } from "../context.ts";

const targets = (nodearrays: unknown) => updateOf(readMembers({ nodearrays })).demand.demands;
const execute = { array: "execute", priority: 0, position: 0 };

describe("a node array's target", () => {
  test.each([
    {
      name: "by nodes",
      nodearrays: [{ Name: "execute", TargetCount: 3 }],
      expected: [
        { ...execute, kind: "target", id: "nodearray:execute", amount: { unit: "nodes", count: 3 } },
      ],
    },
    {
      name: "of nothing, as a bare object",
      nodearrays: { Name: "execute", TargetCoreCount: 0 },
      expected: [
        { ...execute, kind: "target", id: "nodearray:execute", amount: { unit: "cores", count: 0 } },
      ],
    },
    {
      name: "with VM sizes in order of preference",
      nodearrays: [{ Name: "execute", TargetCount: 1, MachineType: ["Standard_HC44rs", "Standard_D4v3"] }],
      expected: [
        {
          ...execute,
          kind: "target",
          id: "nodearray:execute",
          amount: { unit: "nodes", count: 1 },
          machineTypes: ["Standard_HC44rs", "Standard_D4v3"],
        },
      ],
    },
    {
      name: "with node attributes, whatever they are called",
      nodearrays: [
        {
          Name: "execute",
          TargetCount: 1,
          Configuration: { b: 1, a: [{ d: null, c: "x" }] },
          Priority: 7,
          Dynamic: false,
        },
      ],
      expected: [
        {
          ...execute,
          kind: "target",
          id: "nodearray:execute",
          amount: { unit: "nodes", count: 1 },
          attributes: { Configuration: { a: [{ c: "x", d: null }], b: 1 }, Priority: 7 },
        },
      ],
    },
    {
      name: "several times for one array: ids stay apart",
      nodearrays: [
        { Name: "execute", TargetCount: 3 },
        { Name: "execute", TargetCoreCount: 64 },
        { Name: "execute", TargetGroupCount: 1, GroupInstanceCount: 16 },
        { Name: "execute", TargetGroupCount: 2, GroupCoreCount: 16 },
      ],
      expected: [
        { ...execute, kind: "target", id: "nodearray:execute", amount: { unit: "nodes", count: 3 } },
        {
          ...execute,
          kind: "target",
          id: "nodearray:execute#2",
          amount: { unit: "cores", count: 64 },
          position: 1,
        },
        {
          ...execute,
          kind: "groups",
          id: "nodearray:execute:16n",
          groups: 1,
          size: { unit: "nodes", count: 16 },
          position: 2,
        },
        {
          ...execute,
          kind: "groups",
          id: "nodearray:execute:16",
          groups: 2,
          size: { unit: "cores", count: 16 },
          position: 3,
        },
      ],
    },
  ])("$name", ({ nodearrays, expected }) => {
    expect(targets(nodearrays)).toEqual(expected);
  });

  test("a dynamic array's parent stands in its place, so that the digest does not depend on how the sender wrote it", () => {
    const item = { Extends: "execute", Dynamic: true, Name: "d", GroupCoreCount: 8, TargetGroupCount: 2 };
    const [groups] = targets([item]);
    expect(JSON.stringify(groups)).toBe(
      '{"array":"d","extends":"execute","groups":2,"id":"nodearray:d:8","kind":"groups","position":0,"priority":0,"size":{"count":8,"unit":"cores"}}',
    );
  });

  test("the cluster's own name is dropped, and another one refuses the message", () => {
    const entry = { Name: "execute", TargetCount: 1 };
    const [target] = targets([{ ...entry, ClusterName: "prod" }]);
    expect(target).not.toHaveProperty("attributes");
    expect(problemLines(readMembers({ nodearrays: [entry, { ...entry, ClusterName: "test" }] }))).toEqual([
      'nodearrays[1].ClusterName: "test" -> "prod", the cluster of the message, or leave the key out',
    ]);
  });

  test("attributes come out with their keys in order", () => {
    const [target] = targets([{ Name: "execute", Zone: 1, TargetCount: 1, Configuration: { b: 1, a: 2 } }]);
    expect(JSON.stringify(target)).toBe(
      '{"amount":{"count":1,"unit":"nodes"},"array":"execute","attributes":{"Configuration":{"a":2,"b":1},"Zone":1},"id":"nodearray:execute","kind":"target","position":0,"priority":0}',
    );
  });
});

describe("a bad target rejects the message", () => {
  const TARGETS = "TargetCount, TargetCoreCount, TargetGroupCount, NodeNames";
  const NAME =
    'text of 1 to 200 characters, without "/", "\\", "%2F", control and direction characters, and not "." or ".."';
  test.each([
    {
      name: "no object",
      item: 5,
      lines: ["nodearrays[0]: 5 -> an object: a node array with its target"],
    },
    { name: "no name", item: { TargetCount: 1 }, lines: [`nodearrays[0].Name: nothing -> ${NAME}`] },
    {
      name: "two targets",
      item: { Name: "execute", TargetCount: 1, TargetCoreCount: 4 },
      lines: [`nodearrays[0]: {"TargetCount":1,"TargetCoreCount":4} -> only one of ${TARGETS}`],
    },
    { name: "no target", item: { Name: "execute" }, lines: [`nodearrays[0]: ["Name"] -> one of ${TARGETS}`] },
    {
      name: "a target misspelt",
      item: { Name: "execute", TargetCuont: 4 },
      lines: [`nodearrays[0]: ["Name","TargetCuont"] -> one of ${TARGETS} (TargetCount?)`],
    },
    {
      name: "a known key in other capitals",
      item: { Name: "execute", TargetCount: 4, machineType: "x" },
      lines: ['nodearrays[0]: "machineType" -> the key MachineType, in these capitals (MachineType?)'],
    },
    {
      name: "a negative target",
      item: { Name: "execute", TargetCount: -1 },
      lines: ["nodearrays[0].TargetCount: -1 -> a whole number, 0 or more"],
    },
    {
      name: "a fraction of a core",
      item: { Name: "execute", TargetCoreCount: 1.5 },
      lines: ["nodearrays[0].TargetCoreCount: 1.5 -> a whole number, 0 or more"],
    },
    {
      name: "a target as text",
      item: { Name: "execute", TargetCoreCount: "128" },
      lines: ['nodearrays[0].TargetCoreCount: "128" -> a whole number, 0 or more'],
    },
    {
      name: "groups without a size",
      item: { Name: "execute", TargetGroupCount: 4 },
      lines: [
        'nodearrays[0]: {"TargetGroupCount":4} -> TargetGroupCount with exactly one of GroupCoreCount, GroupInstanceCount',
      ],
    },
    {
      name: "groups with two sizes",
      item: { Name: "execute", TargetGroupCount: 4, GroupCoreCount: 8, GroupInstanceCount: 2 },
      lines: [
        'nodearrays[0]: {"TargetGroupCount":4,"GroupCoreCount":8,"GroupInstanceCount":2} -> TargetGroupCount with exactly one of GroupCoreCount, GroupInstanceCount',
      ],
    },
    {
      name: "groups of nothing",
      item: { Name: "execute", TargetGroupCount: 4, GroupCoreCount: 0 },
      lines: ["nodearrays[0].GroupCoreCount: 0 -> a whole number, 1 or more"],
    },
    {
      name: "a group size without groups",
      item: { Name: "execute", TargetCount: 4, GroupCoreCount: 8 },
      lines: [
        'nodearrays[0]: {"TargetCount":4,"GroupCoreCount":8} -> GroupCoreCount or GroupInstanceCount only with TargetGroupCount',
      ],
    },
    {
      name: "VM sizes that are none",
      item: { Name: "execute", TargetCount: 1, MachineType: [] },
      lines: ["nodearrays[0].MachineType: [] -> a VM size, or a list of VM sizes, preferred first"],
    },
    {
      name: "a configuration that is no object",
      item: { Name: "execute", TargetCount: 1, Configuration: "x" },
      lines: ["nodearrays[0].Configuration: text of 1 character -> an object"],
    },
    {
      name: "an attribute that cannot be copied",
      item: JSON.parse('{"Name":"execute","TargetCount":1,"Configuration":{"a":{"__proto__":1}}}'),
      lines: ["nodearrays[0].Configuration: object with 1 member -> a value without the key __proto__"],
    },
    {
      name: "a dynamic array that extends none: the reason is said",
      item: { Name: "d", TargetCount: 3, Dynamic: true },
      lines: [
        'nodearrays[0].Extends: nothing -> the node array of the cluster that it extends, as in "Extends": "execute": the API of CycleCloud makes no node arrays, only nodes in an array of the template; the attributes of this entry go over those of that array',
      ],
    },
    {
      name: "a dynamic array that extends itself",
      item: { Name: "d", Extends: "d", TargetCount: 3, Dynamic: true },
      lines: ['nodearrays[0].Extends: "d" -> another node array than itself'],
    },
    {
      name: "an array that extends another and is not dynamic",
      item: { Name: "d", Extends: "execute", TargetCount: 3 },
      lines: ['nodearrays[0].Extends: "execute" -> no such key without Dynamic: true'],
    },
    {
      name: "Dynamic as text",
      item: { Name: "d", TargetCount: 3, Dynamic: "yes" },
      lines: ["nodearrays[0].Dynamic: text of 3 characters -> true or false"],
    },
    {
      name: "several things at once",
      item: { Name: "", TargetCount: -1, GroupCoreCount: 0 },
      lines: [
        `nodearrays[0].Name: "" -> ${NAME}`,
        "nodearrays[0].TargetCount: -1 -> a whole number, 0 or more",
        "nodearrays[0].GroupCoreCount: 0 -> a whole number, 1 or more",
        'nodearrays[0]: {"TargetCount":-1,"GroupCoreCount":0} -> GroupCoreCount or GroupInstanceCount only with TargetGroupCount',
      ],
    },
  ])("$name", ({ item, lines }) => {
    expect(problemLines(readMembers({ nodearrays: [item] }))).toEqual(lines);
  });

  test("one dynamic array defined in two ways by one message", () => {
    const one = { Name: "d", Extends: "execute", Dynamic: true, Configuration: { a: 1, b: 2 } };
    const same = { ...one, Configuration: { b: 2, a: 1 }, TargetGroupCount: 1, GroupCoreCount: 8 };
    const another = { ...one, Configuration: { a: 1, b: 3 }, TargetCoreCount: 4 };
    const message = readMembers({ nodearrays: [{ ...one, TargetCount: 3 }, same, another] });
    expect(problemLines(message)).toEqual([
      'nodearrays[2]: {"Name":"d","Extends":"execute"} -> the Extends, MachineType and attributes that nodearrays[0] gives this dynamic array',
    ]);
  });

  test("nesting of 64 levels is taken, of 65 not", () => {
    // The message, its list and the entry are three; Configuration is the fourth.
    const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
    const message = (levels: number) =>
      readMembers({ nodearrays: [{ Name: "execute", TargetCount: 1, Configuration: nested(levels) }] });
    expect(message(61).kind).toBe("update");
    expect(problemLines(message(62))).toEqual([
      `nodearrays[0].Configuration${".a".repeat(61)}: one level more -> at most 64 levels of nesting`,
    ]);
  });
});
