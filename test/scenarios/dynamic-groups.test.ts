import { expect, test } from "vitest";
import type { NodearrayMessage } from "../../src/wire/message/message.ts";
import { AT_ONCE, oneArray } from "./clusters.ts";
import { dynamic, from, namesReady, push, settledStage } from "./dynamic-stage.ts";

test("groups of a dynamic array have placement groups of their own, and jobs of the array that it extends stay out of them", async () => {
  const stage = await settledStage();
  const groups: NodearrayMessage = {
    Name: "lab",
    Extends: "execute",
    Dynamic: true,
    TargetGroupCount: 2,
    GroupInstanceCount: 2,
    Configuration: { shift: "day" },
  };
  await push(stage, from("standard", [groups]));
  await stage.pass(130);
  await push(stage, {
    ...from("jobs", []),
    jobs: [{ name: "mpi", "node-count": 3, colocated: true, constraints: [{ ncpus: 4 }] }],
  });
  await stage.pass(130);
  // A node whose attributes differ from its group's would stay in Acquiring (the simulator's scaleSetAttributesMustMatch).
  expect(await namesReady(stage)).toEqual([
    "execute-1",
    "execute-2",
    "execute-3",
    "lab-1",
    "lab-2",
    "lab-3",
    "lab-4",
  ]);
});

test("a group that lost a node is completed in place, unless its array is defined anew meanwhile: then a new one takes its place", async () => {
  const stage = await settledStage();
  const groups = (shift: string): NodearrayMessage => ({
    Name: "lab",
    Extends: "execute",
    Dynamic: true,
    TargetGroupCount: 1,
    GroupInstanceCount: 3,
    Configuration: { shift },
  });
  const lose = async (name: string): Promise<void> => {
    const { nodes } = await stage.state("demo");
    stage.simulator.faults.vanish(
      nodes.list.filter((node) => node.name === name).map(({ nodeId }) => nodeId),
    );
    await stage.pass(130);
  };
  await push(stage, from("standard", [groups("day")]));
  await stage.pass(130);
  await lose("lab-1");
  const placed = () => stage.eventsOf("node-created").map(({ placementGroup }) => placementGroup);
  expect(new Set(placed())).toEqual(new Set(["group-lab-3n-1"]));
  expect(placed()).toHaveLength(4);
  await push(stage, from("standard", [groups("night")]));
  await stage.pass(130);
  // A whole group meets the demand. A node that is added later would differ from the others.
  expect(placed()).toHaveLength(4);
  await lose("lab-2");
  expect(placed().slice(4)).toEqual(["group-lab-3n-2", "group-lab-3n-2", "group-lab-3n-2"]);
});

test("where there are no placement groups, groups of a dynamic array are ordinary nodes of it", async () => {
  const stage = await settledStage({
    simulator: oneArray("demo", { maxPlacementGroupSize: 0 }, { timings: AT_ONCE }),
  });
  await push(stage, from("standard", [dynamic("lab", 1)]));
  await stage.pass(130);
  const groups = { Extends: "execute", Dynamic: true, TargetGroupCount: 2, GroupInstanceCount: 2 };
  await push(stage, from("standard", [{ Name: "lab", ...groups }]));
  await stage.pass(130);
  expect(await namesReady(stage)).toEqual(["lab-1", "lab-2", "lab-3", "lab-4"]);
});
