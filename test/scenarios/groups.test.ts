import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { NodeArrayOptions, SimulatorOptions } from "../../src/simulator/options.ts";
import { SENDER_RULE } from "../support/sender-rule.ts";
import { oneArray } from "./clusters.ts";
import { Death, deathsUpTo } from "./deaths.ts";
import { Stage } from "./stage.ts";

const DAY = 86_400;
const F4 = "Standard_F4s_v2";
const D4 = "Standard_D4s_v5";
const BOTH = [F4, D4];

/** "So many groups of 64 cores": 16 nodes each. */
function groupsOf64(count: number, more: object = {}, requestSet = "standard") {
  const asked = { Name: "execute", TargetGroupCount: count, GroupCoreCount: 64, ...more };
  return { version: 1, cluster: "demo", requestSet, nodearrays: [asked], expirationInterval: DAY } as const;
}

const demo = (more: Partial<NodeArrayOptions> = {}): SimulatorOptions =>
  oneArray("demo", { maxPlacementGroupSize: 16, ...more });

/** Nodes created so far, by placement group. */
function createdByGroup(stage: Stage): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { machineType, placementGroup = "none" } of stage.eventsOf("node-created")) {
    const key = `${machineType}/${placementGroup}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

const groupsOf = async (stage: Stage) => (await stage.state("demo")).groups;

/** The groups of the only grouped array: id, state, nodes there of those wanted. */
async function shownGroups(stage: Stage): Promise<readonly string[]> {
  const [array] = await groupsOf(stage);
  return (array?.groups ?? []).map(
    ({ id = "none", state, nodes, nodesWanted }) => `${id}: ${state}, ${nodes} of ${nodesWanted}`,
  );
}

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

test("not filled in ten minutes: all of it is released, the next machine type is tried, and there it stays", async () => {
  const stage = new Stage({ simulator: demo({ machineTypes: BOTH, capacity: { [F4]: 10 } }) });
  await stage.during(stage.push(groupsOf64(1)));
  // Found lacking by the look after the create, that of the tick at 0 s.
  await stage.pass(595);
  expect(createdByGroup(stage)).toEqual({ [`${F4}/group-execute-64-1`]: 10 });
  await stage.pass(45);
  expect(createdByGroup(stage)).toEqual({
    [`${F4}/group-execute-64-1`]: 10,
    [`${D4}/group-execute-64-2`]: 16,
  });
  const { backoffs, plan } = await stage.state("demo");
  expect(backoffs.map(({ bucket, cause, message }) => [bucket, cause, message])).toContainEqual([
    `execute/${F4}`,
    "fell-short",
    `execute/${F4}/group-execute-64-1 had 10 of 16 nodes of a group after 600 s; they are released`,
  ]);
  expect(plan?.unmetCount).toBe(0);
  await stage.pass(40);
  expect(await shownGroups(stage)).toEqual([
    "group-execute-64-2: whole, 16 of 16",
    "group-execute-64-1: given-up, 10 of 16",
  ]);
  const { list } = (await stage.state("demo")).nodes;
  expect(list.filter(({ released }) => released !== undefined)).toHaveLength(10);
  expect(list[0]?.released).toMatch(
    /^its group group-execute-64-1 was given up at .*, as it had only 10 of 16 nodes$/,
  );
  // Released nodes go when they ask, those of the group that took their place do not.
  const released = stage.readyNodes.slice(0, 10);
  expect(await Promise.all(released.map((node) => stage.ask(node)))).toEqual(released.map(() => 200));
  await stage.pass(300);
  const others = stage.readyNodes;
  expect(others).toHaveLength(16);
  expect(await Promise.all(others.map((node) => stage.ask(node)))).toEqual(others.map(() => 409));
  stage.simulator.faults.setCapacity("execute", F4, undefined);
  await stage.pass(4 * 3600);
  expect(stage.eventsOf("node-created")).toHaveLength(26);
  expect(await shownGroups(stage)).toEqual(["group-execute-64-2: whole, 16 of 16"]);
});

describe("a group that loses a node", () => {
  async function stageWithGroup(more: Partial<NodeArrayOptions> = {}): Promise<Stage> {
    const stage = new Stage({ simulator: demo(more) });
    await stage.during(stage.push(groupsOf64(1)));
    await stage.pass(300);
    expect(await shownGroups(stage)).toEqual(["group-execute-64-1: whole, 16 of 16"]);
    return stage;
  }

  test("is completed in place", async () => {
    const stage = await stageWithGroup({ machineTypes: BOTH });
    const [lost] = stage.readyNodes;
    stage.simulator.faults.vanish([lost?.nodeId ?? ""]);
    await stage.pass(300);
    expect(createdByGroup(stage)).toEqual({ [`${F4}/group-execute-64-1`]: 17 });
    expect(await shownGroups(stage)).toEqual(["group-execute-64-1: whole, 16 of 16"]);
  });

  test("and cannot be completed in ten minutes is replaced as a whole; nodes with jobs stay, the others are stopped", async () => {
    const stage = await stageWithGroup({ machineTypes: BOTH });
    const [lost, busy, idle] = stage.readyNodes;
    stage.simulator.faults.vanish([lost?.nodeId ?? ""]);
    stage.simulator.faults.setCapacity("execute", F4, 0);
    const others = [busy, idle].map((node, i) => ({
      hostname: node?.hostname ?? "",
      jobs: i === 0 ? ["17"] : [],
      state: "closed",
    }));
    // The scheduler reports every 20 s for 40 minutes: one of the group's nodes runs a job, another is idle and closed.
    for (let i = 0; i < 30; i += 1) {
      await stage.during(stage.push({ ...groupsOf64(1), schedulerNodes: others }));
      await stage.pass(20);
    }
    expect(await shownGroups(stage)).toEqual(["group-execute-64-1: filling, 15 of 16"]);
    expect(stage.eventsOf("terminate-accepted")).toEqual([]);
    for (let i = 0; i < 90; i += 1) {
      await stage.during(stage.push({ ...groupsOf64(1), schedulerNodes: others }));
      await stage.pass(20);
    }
    expect(createdByGroup(stage)).toEqual({
      [`${F4}/group-execute-64-1`]: 16,
      [`${D4}/group-execute-64-2`]: 16,
    });
    expect(stage.eventsOf("terminate-accepted").map(({ nodeId }) => nodeId)).toEqual([idle?.nodeId]);
    expect(await shownGroups(stage)).toEqual([
      "group-execute-64-2: whole, 16 of 16",
      "group-execute-64-1: given-up, 14 of 16",
    ]);
  });

  test("whose bucket is no more is replaced once a lost node of it is believed to be gone", async () => {
    const stage = await stageWithGroup({ machineTypes: BOTH });
    const [lost] = stage.readyNodes;
    stage.simulator.faults.setInvalid("execute", F4, "DisabledMachineType");
    stage.simulator.faults.vanish([lost?.nodeId ?? ""]);
    await stage.pass(121);
    expect(createdByGroup(stage)).toEqual({
      [`${F4}/group-execute-64-1`]: 16,
      [`${D4}/group-execute-64-2`]: 16,
    });
  });
});

test("where there is no other machine type, what was given up is filled again once its bucket has paused", async () => {
  const stage = new Stage({ simulator: demo({ capacity: { [F4]: 10 } }) });
  await stage.during(stage.push(groupsOf64(1)));
  await stage.pass(680);
  expect(await shownGroups(stage)).toEqual(["group-execute-64-1: given-up, 10 of 16"]);
  stage.simulator.faults.setCapacity("execute", F4, undefined);
  await stage.pass(600);
  expect(createdByGroup(stage)).toEqual({ [`${F4}/group-execute-64-1`]: 16 });
  expect(await shownGroups(stage)).toEqual(["group-execute-64-1: whole, 16 of 16"]);
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
    // A node that is lost is replaced; nodes of one group too many may go.
    stage.simulator.faults.vanish([stage.readyNodes[0]?.nodeId ?? ""]);
    await stage.pass(300);
    expect(createdByGroup(stage)).toEqual({ [`${F4}/none`]: 33 });
    await stage.during(stage.push(groupsOf64(1)));
    await stage.pass(60);
    const answers = await Promise.all(stage.readyNodes.map((node) => stage.ask(node)));
    expect(answers.filter((status) => status === 200)).toHaveLength(16);
  });
});

test("both machine types are short for ever: each has its ten minutes, and no node too many is asked for", async () => {
  const stage = new Stage({ simulator: demo({ machineTypes: BOTH, capacity: { [F4]: 10, [D4]: 12 } }) });
  await stage.during(stage.push(groupsOf64(1)));
  const turns: { readonly id: string; readonly minute: number }[] = [];
  for (let minute = 0; minute < 240; minute += 1) {
    await stage.pass(60);
    const [array] = await groupsOf(stage);
    const filling = array?.groups.find(({ state }) => state === "filling")?.id;
    if (filling !== undefined && filling !== turns.at(-1)?.id) turns.push({ id: filling, minute });
  }
  const lengths = turns.slice(1).map(({ minute }, i) => minute - (turns[i]?.minute ?? 0));
  expect(turns.length).toBeGreaterThan(8);
  expect(Math.min(...lengths)).toBeGreaterThanOrEqual(10);
  expect(createdByGroup(stage)).toEqual({
    [`${F4}/group-execute-64-1`]: 10,
    [`${D4}/group-execute-64-2`]: 12,
  });
});

test.each(deathsUpTo(6))(
  "a process that dies $when its request $number: the group that is short is given up once, the next is whole",
  async (at) => {
    const death = new Death(at);
    const stage = new Stage({
      simulator: { ...demo({ machineTypes: BOTH, capacity: { [F4]: 10 } }), visibilityLagSeconds: 15 },
      between: death.between,
    });
    await stage.pass(10);
    death.arm();
    stage.send(groupsOf64(1));
    await stage.pass(1900);
    expect(createdByGroup(stage)).toEqual({
      [`${F4}/group-execute-64-1`]: 10,
      [`${D4}/group-execute-64-2`]: 16,
    });
    expect(await shownGroups(stage)).toEqual([
      "group-execute-64-2: whole, 16 of 16",
      "group-execute-64-1: given-up, 10 of 16",
    ]);
  },
);
