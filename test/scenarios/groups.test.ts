import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { SENDER_RULE } from "../support/sender-rule.ts";
import { Stage } from "./stage.ts";
import {
  BOTH,
  D4,
  DAY,
  F4,
  createdByGroup,
  demo,
  groupsOf,
  groupsOf64,
  shownGroups,
} from "./groups-stage.ts";

const nodeBody = z.object({
  nodes: z.array(
    z.object({
      PlacementGroupId: z.string(),
      GroupId: z.string(),
      Configuration: z.object({
        custom: z.number(),
        cyclecloud: z.object({ node: z.object({ group_id: z.string(), mine: z.boolean() }) }),
        autoscale: z.object({ stop_callback: z.string() }),
      }),
    }),
  ),
});

test("four groups of 64 cores: 64 nodes in four placement groups, each with its id on the node and in its configuration", async () => {
  const senders = [{ ...SENDER_RULE, attributes: ["Configuration"] }];
  const stage = new Stage({ simulator: demo(), policy: { senders } });
  const Configuration = { custom: 7, cyclecloud: { node: { mine: true } } };
  await stage.during(stage.push(groupsOf64(4, { Configuration })));
  await stage.pass(120);
  const answer = stage.simulator.request({ method: "GET", path: "/clusters/demo/nodes", query: {} });
  const { nodes } = nodeBody.parse(answer.body);
  const ids = nodes.map(({ GroupId }) => GroupId);
  expect(nodes.map(({ PlacementGroupId }) => PlacementGroupId)).toEqual(ids);
  expect(nodes.map(({ Configuration: { cyclecloud } }) => cyclecloud.node.group_id)).toEqual(ids);
  expect(createdByGroup(stage)).toEqual({
    [`${F4}/group-execute-64-1`]: 16,
    [`${F4}/group-execute-64-2`]: 16,
    [`${F4}/group-execute-64-3`]: 16,
    [`${F4}/group-execute-64-4`]: 16,
  });
  const [array] = await groupsOf(stage);
  expect(array).toMatchObject({
    name: "execute:64",
    extends: "execute",
    requestSets: ["standard"],
    groupsWanted: 4,
    groupsWhole: 4,
    nodes: 64,
    nodesReady: 64,
  });
});

test("a partial grant: what came is kept, and the same group is filled once there is capacity again", async () => {
  const stage = new Stage({ simulator: demo({ machineTypes: BOTH, capacity: { [F4]: 10 } }) });
  await stage.during(stage.push(groupsOf64(1)));
  await stage.pass(30);
  expect(await shownGroups(stage)).toEqual(["group-execute-64-1: filling, 10 of 16"]);
  expect((await stage.state("demo")).plan?.unmet).toHaveLength(1);
  stage.simulator.faults.setCapacity("execute", F4, 6);
  await stage.pass(1200);
  expect(createdByGroup(stage)).toEqual({ [`${F4}/group-execute-64-1`]: 16 });
  expect(await shownGroups(stage)).toEqual(["group-execute-64-1: whole, 16 of 16"]);
  expect((await stage.state("demo")).plan?.unmet).toEqual([]);
  expect(stage.eventsOf("terminate-accepted")).toEqual([]);
});

test("each group is of one machine type, from the beginning of the list until there is no more", async () => {
  const stage = new Stage({
    simulator: demo({ machineTypes: BOTH, capacity: { [D4]: 40 } }),
  });
  await stage.during(stage.push(groupsOf64(4, { MachineType: [D4, F4] })));
  await stage.pass(120);
  expect(createdByGroup(stage)).toEqual({
    [`${D4}/group-execute-64-1`]: 16,
    [`${D4}/group-execute-64-2`]: 16,
    [`${D4}/group-execute-64-3`]: 8,
    [`${F4}/group-execute-64-5`]: 16,
  });
});

test("two sets ask for execute:64: the larger count wins, and once one lapses its groups are free to go", async () => {
  const stage = new Stage({ simulator: demo() });
  await stage.during(stage.push({ ...groupsOf64(3, {}, "many"), expirationInterval: 300 }));
  await stage.during(stage.push(groupsOf64(2, {}, "few")));
  await stage.pass(200);
  expect(stage.eventsOf("node-created")).toHaveLength(48);
  expect(
    (await groupsOf(stage)).map(({ name, groupsWanted, requestSets }) => [name, groupsWanted, requestSets]),
  ).toEqual([["execute:64", 3, ["few", "many"]]]);
  await stage.pass(400);
  const [array] = await groupsOf(stage);
  expect([array?.groupsWanted, array?.requestSets]).toEqual([2, ["few"]]);
  expect(array?.groups.map(({ state }) => state)).toEqual(["whole", "whole", "spare"]);
  const nodes = stage.readyNodes;
  const answers = await Promise.all(nodes.map((node) => stage.ask(node)));
  expect(answers.filter((status) => status === 200)).toHaveLength(16);
  expect(answers.filter((status) => status === 409)).toHaveLength(32);
});

test("groups by instances are execute:16n, and groups of 128 cores an array of their own", async () => {
  const stage = new Stage({ simulator: demo({ maxPlacementGroupSize: 40 }) });
  const nodearrays = [
    { Name: "execute", TargetGroupCount: 1, GroupInstanceCount: 16 },
    { Name: "execute", TargetGroupCount: 2, GroupCoreCount: 64 },
    { Name: "execute", TargetGroupCount: 1, GroupCoreCount: 128 },
  ];
  await stage.during(stage.push({ version: 1, cluster: "demo", nodearrays, expirationInterval: DAY }));
  await stage.pass(120);
  expect(createdByGroup(stage)).toEqual({
    [`${F4}/group-execute-16n-1`]: 16,
    [`${F4}/group-execute-64-1`]: 16,
    [`${F4}/group-execute-64-2`]: 16,
    [`${F4}/group-execute-128-1`]: 32,
  });
  expect((await groupsOf(stage)).map(({ name, nodes }) => [name, nodes])).toEqual([
    ["execute:128", 32],
    ["execute:16n", 16],
    ["execute:64", 32],
  ]);
});

describe("where CycleCloud shows no placement groups", () => {
  const without: SimulatorOptions = demo({ maxPlacementGroupSize: 0 });
  test.each([
    { name: "their largest size is 0", simulator: without },
    {
      name: "nothing is said of their size",
      simulator: { ...without, quirks: { omitBucketFields: ["maxPlacementGroupSize", "placementGroups"] } },
    },
  ])("nodes come ungrouped, and the state says so: $name", async ({ simulator }) => {
    const stage = new Stage({ simulator });
    await stage.during(stage.push(groupsOf64(2)));
    await stage.pass(300);
    expect(createdByGroup(stage)).toEqual({ [`${F4}/none`]: 32 });
    const [array] = await groupsOf(stage);
    expect(array).toMatchObject({ name: "execute:64", nodes: 32, nodesReady: 32, groupsWhole: 2 });
    expect(array?.ungrouped).toBe(
      "CycleCloud shows no placement groups for these VM sizes: ordinary nodes, as many as the groups have",
    );
    // A lost node is replaced. Nodes of a surplus group may stop.
    stage.simulator.faults.vanish([stage.readyNodes[0]?.nodeId ?? ""]);
    await stage.pass(300);
    expect(createdByGroup(stage)).toEqual({ [`${F4}/none`]: 33 });
    await stage.during(stage.push(groupsOf64(1)));
    await stage.pass(60);
    const answers = await Promise.all(stage.readyNodes.map((node) => stage.ask(node)));
    expect(answers.filter((status) => status === 200)).toHaveLength(16);
  });
});
