import { describe, expect, test } from "vitest";
import type { NodeArrayOptions } from "../../src/simulator/options.ts";
import { Death, deathsUpTo } from "./deaths.ts";
import { Stage } from "./stage.ts";
import { BOTH, D4, F4, createdByGroup, demo, groupsOf, groupsOf64, shownGroups } from "./groups-stage.ts";

test("not filled in ten minutes: all of it is released, the next machine type is tried, and there it stays", async () => {
  const stage = new Stage({ simulator: demo({ machineTypes: BOTH, capacity: { [F4]: 10 } }) });
  await stage.during(stage.push(groupsOf64(1)));
  // The observation after the create found the group lacking: that of the tick at 0 s.
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
    /^its group group-execute-64-1 was given up at .*, because it had only 10 of 16 nodes$/,
  );
  // Released nodes may stop when they ask. Those of the group that took their place may not.
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
