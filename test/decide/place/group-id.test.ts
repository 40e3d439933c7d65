import { expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { NodeAttributes } from "../../../src/domain/demand.ts";
import { groups, NOW, offer, world } from "../../golden/small-world.ts";
import { policy } from "../../golden/refusal-scenario.ts";

const id = "pg-execute-2n-1";

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
  const supply = world([offer("execute/D4", 4, [], { maxPlacementGroupSize: 10 })]);
  const demand = groups(1, 2, attributes && { attributes });
  const [made] = allocate(supply, [demand], policy, NOW).creates;
  expect([made?.bucket.placementGroup, made?.attributes]).toEqual([id, expected]);
});
