import { expect, test } from "vitest";
import { withGroupId } from "../../../src/decide/place/groups.ts";
import type { NodeAttributes } from "../../../src/domain/demand.ts";
import { placementGroup } from "../../../src/domain/ids.ts";

const id = "group-execute-64-1";

test.each<{ name: string; attributes: NodeAttributes | undefined; expected: NodeAttributes }>([
  {
    name: "no attributes",
    attributes: undefined,
    expected: { GroupId: id, Configuration: { cyclecloud: { node: { group_id: id } } } },
  },
  {
    name: "others stay, deep inside of the configuration too",
    attributes: {
      KeepAlive: true,
      Configuration: { a: 1, cyclecloud: { b: 2, node: { c: [3], group_id: "theirs" } } },
    },
    expected: {
      KeepAlive: true,
      GroupId: id,
      Configuration: { a: 1, cyclecloud: { b: 2, node: { c: [3], group_id: id } } },
    },
  },
  {
    name: "an id of their own, in whatever capitals, gives way",
    attributes: { groupid: "theirs", GROUPID: "theirs" },
    expected: { GroupId: id, Configuration: { cyclecloud: { node: { group_id: id } } } },
  },
  {
    name: "what is no object gives way",
    attributes: { Configuration: { cyclecloud: [1] } },
    expected: { GroupId: id, Configuration: { cyclecloud: { node: { group_id: id } } } },
  },
])("$name", ({ attributes, expected }) => {
  expect(withGroupId(attributes, placementGroup(id))).toEqual(expected);
});
