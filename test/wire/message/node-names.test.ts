import { describe, expect, test } from "vitest";
import { BOUNDS } from "../../../src/wire/json/bounds.ts";
import { problemLines, readMembers, updateOf } from "../context.ts";

const read = (nodearrays: unknown) => readMembers({ nodearrays });
const entry = (more: object) => [{ Name: "htc", ...more }];

describe("a target that names its nodes", () => {
  const common = { array: "htc", kind: "target", priority: 0, position: 0, id: "nodearray:htc:names" };

  test.each([
    { NodeNames: ["htc-1", "htc-4", "htc-1"], names: ["htc-1", "htc-4"] },
    { NodeNames: "htc-[1,4]", names: ["htc-1", "htc-4"] },
    { NodeNames: [], names: [] },
  ])("$NodeNames", ({ NodeNames, names }) => {
    const amount = { unit: "nodes", count: names.length };
    expect(updateOf(read(entry({ NodeNames }))).demand.demands).toEqual([
      { ...common, amount, named: { names } },
    ]);
  });

  test("a list and the host list of the same names are the same demand", () => {
    const [list, text] = [["htc-1", "htc-2"], "htc-[1-2]"].map((NodeNames) =>
      updateOf(read(entry({ NodeNames }))),
    );
    expect(list?.digest).toBe(text?.digest);
  });

  test("with all that may stand beside it", () => {
    const more = { MachineType: "F4", PlacementGroup: "rack-1", Since: 1_763_636_400_000, Together: true };
    expect(updateOf(read(entry({ NodeNames: "a", ...more }))).demand.demands).toEqual([
      {
        ...common,
        amount: { unit: "nodes", count: 1 },
        machineTypes: ["F4"],
        named: { names: ["a"], group: "rack-1", since: 1_763_636_400_000, together: true },
      },
    ]);
  });

  test.each([
    [{ NodeNames: 3 }, "nodearrays[0].NodeNames: 3 -> a list of node names"],
    [{ NodeNames: ["ok", "a b"] }, 'nodearrays[0].NodeNames[1]: "a b" -> a node name'],
    [{ NodeNames: ["htc-%d"] }, 'nodearrays[0].NodeNames[0]: "htc-%d" -> a node name'],
    [{ NodeNames: "htc-[1-" }, 'nodearrays[0].NodeNames: "htc-[1-" -> a name'],
    [{ NodeNames: "n[1-30000]" }, `at most ${BOUNDS.nodeNames} names`],
    [{ NodeNames: "a", TargetCount: 1 }, "only one of TargetCount"],
    [{ NodeNames: "a", Dynamic: true, Extends: "x" }, "nodearrays[0].Dynamic"],
    [{ NodeNames: "a", Since: 1_763_636_400 }, "nodearrays[0].Since"],
    [{ NodeNames: "a", Together: "yes" }, "nodearrays[0].Together"],
    [{ NodeNames: "a", "replace-when-idle": true }, "only with TargetCount or TargetCoreCount"],
    [{ TargetCount: 1, "replace-when-idle": "yes" }, "nodearrays[0].replace-when-idle"],
    [{ TargetCount: 1, Since: 1_763_636_400_000 }, "nodearrays[0].Since"],
    [{ Nodenames: "a" }, "NodeNames"],
  ])("%j is refused", (more, line) => {
    expect(problemLines(read(entry(more))).join("\n")).toContain(line);
  });

  test("the names of all entries together have a bound", () => {
    const half = `n[1-${BOUNDS.nodeNames / 2}]`;
    expect(
      updateOf(read([...entry({ NodeNames: half }), ...entry({ NodeNames: half })])).demand.demands,
    ).toHaveLength(2);
    const three = [half, half, "one-more"].flatMap((NodeNames) => entry({ NodeNames }));
    expect(problemLines(read(three)).join("\n")).toContain("names in one message");
  });
});
