import { describe, expect, test } from "vitest";
import type { DemandMessage, NodearrayMessage } from "../../src/wire/message.ts";
import { AT_ONCE, oneArray, QUICK } from "./clusters.ts";
import { Stage } from "./stage.ts";
import type { StageOptions } from "./stage.ts";

/** Dynamic node arrays through queue, functions and simulator; what the documentation's own examples show is in autoscale-contract.test.ts. */

const DAY = 86_400;

/** "So many nodes of a dynamic array that extends execute." */
function dynamic(Name: string, TargetCount: number, more: Partial<NodearrayMessage> = {}): NodearrayMessage {
  return { Name, Extends: "execute", Dynamic: true, TargetCount, ...more };
}

function from(
  requestSet: string,
  nodearrays: readonly NodearrayMessage[],
  expirationInterval = DAY,
): DemandMessage {
  return { version: 1, cluster: "demo", requestSet, expirationInterval, nodearrays };
}

/** Ten minutes old: a new record rests before it stops anything. */
async function settledStage(options: Partial<StageOptions> = {}): Promise<Stage> {
  const stage = new Stage({ simulator: oneArray("demo", {}, { timings: AT_ONCE }), ...options });
  await stage.pass(600);
  return stage;
}

async function push(stage: Stage, ...messages: readonly DemandMessage[]): Promise<void> {
  for (const message of messages) await stage.during(stage.push(message));
}

async function shown(stage: Stage, name: string) {
  const { nodearrays } = await stage.state("demo");
  const array = nodearrays.find((one) => one.name === name);
  if (array === undefined) return undefined;
  const { exists, extends: parent, flaggedForRemoval, count: nodes, target, askedBy, problem } = array;
  return { exists, extends: parent, flaggedForRemoval, nodes, target, askedBy, problem };
}

const namesReady = async (stage: Stage): Promise<readonly string[]> =>
  (await stage.state("demo")).nodes.list
    .filter(({ phase }) => phase === "ready")
    .map(({ name }) => name)
    .sort();

test("its nodes are nodes of the array that it extends, are called after it, and know their configuration and where to ask to stop", async () => {
  const configuration = { autoscale: { enabled: true }, application_version: "1.0.0", site: "west" };
  const stage = await settledStage({
    simulator: oneArray("demo", { configuration }, { timings: AT_ONCE }),
  });
  const versioned = dynamic("dynamic_array", 2, { Configuration: { application_version: "1.2.3" } });
  await push(stage, from("standard", [{ Name: "execute", TargetCount: 1 }, versioned]));
  await stage.pass(130);

  expect(await namesReady(stage)).toEqual(["dynamic-array-1", "dynamic-array-2", "execute-1"]);
  expect(stage.eventsOf("node-created").map(({ array }) => array)).toEqual(["execute", "execute", "execute"]);
  expect(
    stage.eventsOf("node-ready").map(({ name, configuration: { application_version, site } }) => ({
      name,
      application_version,
      site,
    })),
  ).toEqual([
    { name: "execute-1", application_version: "1.0.0", site: "west" },
    { name: "dynamic-array-1", application_version: "1.2.3", site: "west" },
    { name: "dynamic-array-2", application_version: "1.2.3", site: "west" },
  ]);
  expect(await shown(stage, "dynamic_array")).toEqual({
    exists: true,
    extends: "execute",
    flaggedForRemoval: false,
    nodes: 2,
    target: { nodes: 2, cores: 0 },
    askedBy: ["standard"],
    problem: undefined,
  });
  const answers = await stage.during(Promise.all(stage.readyNodes.map((node) => stage.ask(node))));
  expect(answers).toEqual([409, 409, 409]);
});

test("while CycleCloud shows nothing of what it accepted, renewals and new targets ask for no more than is missing", async () => {
  const simulator = oneArray("demo", {}, { timings: QUICK, visibilityLagSeconds: 120 });
  const stage = await settledStage({ simulator });
  for (let count = 1; count <= 12; count += 1) {
    await push(stage, from("standard", [{ Name: "execute", TargetCount: 2 }, dynamic("lab", count)]));
    await stage.pass(10);
  }
  await stage.pass(600);
  const created = stage.eventsOf("node-created").map(({ name }) => name.replace(/-\d+$/, ""));
  expect(created.filter((name) => name === "lab")).toHaveLength(12);
  expect(created.filter((name) => name === "execute")).toHaveLength(2);
});

test("stop_enabled: false in a request keeps the nodes of that array from being stopped for idleness, though a scheduler reports them idle", async () => {
  const stage = await settledStage();
  const off = { cyclecloud: { cluster: { autoscale: { stop_enabled: false } } } };
  const arrays = [{ Name: "execute", TargetCount: 1 }, dynamic("lab", 1, { Configuration: off })];
  await push(stage, from("standard", arrays));
  await stage.pass(130);
  const hosts = stage.readyNodes.map(({ hostname }) => ({ hostname, jobs: [], state: "closed" }));
  for (let minute = 0; minute < 12; minute += 1) {
    await push(stage, { ...from("standard", []), schedulerNodes: hosts });
    await stage.pass(60);
  }
  expect(stage.eventsOf("terminate-accepted").map(({ name }) => name)).toEqual(["execute-1"]);
  const { nodes } = await stage.state("demo");
  expect(nodes.list.map(({ name, why }) => `${name} ${why}`)).toEqual([
    "lab-1 stays: its configuration switches autostop off (cyclecloud.cluster.autoscale.stop_enabled)",
  ]);
});

describe("what a set says no more", () => {
  test("lapse: nothing is stopped, nothing new comes, and the array is not flagged; nodes that ask may go, and it goes with the last", async () => {
    const stage = await settledStage();
    await push(stage, from("standard", [dynamic("lab", 3)], 300));
    await stage.pass(400);
    expect(await shown(stage, "lab")).toMatchObject({
      nodes: 3,
      target: { nodes: 0 },
      askedBy: [],
      flaggedForRemoval: false,
    });
    const [one, two, three] = stage.readyNodes;
    if (one === undefined || two === undefined || three === undefined)
      throw new Error("three nodes expected");
    expect(await stage.during(stage.ask(one))).toBe(200);
    await stage.pass(130);
    expect(await shown(stage, "lab")).toMatchObject({ nodes: 2 });
    expect(await stage.during(Promise.all([stage.ask(two), stage.ask(three)]))).toEqual([200, 200]);
    await stage.pass(130);
    expect(await shown(stage, "lab")).toBeUndefined();
    expect(stage.eventsOf("node-created")).toHaveLength(3);
  });

  test("an array of the cluster that is left out has no target any more, and its nodes may go when they ask", async () => {
    const stage = await settledStage();
    await push(stage, from("standard", [{ Name: "execute", TargetCount: 2 }]));
    await stage.pass(130);
    await push(stage, from("standard", [dynamic("lab", 1)]));
    await stage.pass(130);
    expect(await shown(stage, "execute")).toMatchObject({ nodes: 2, target: { nodes: 0 }, askedBy: [] });
    const answers = await stage.during(Promise.all(stage.readyNodes.map((node) => stage.ask(node))));
    expect(answers).toEqual([200, 200, 409]);
    await stage.pass(130);
    expect(await namesReady(stage)).toEqual(["lab-1"]);
  });

  test("nodes that are terminating do not count towards a target", async () => {
    const slowToGo = { ...AT_ONCE, secondsToTerminate: 600 };
    const stage = await settledStage({ simulator: oneArray("demo", {}, { timings: slowToGo }) });
    await push(stage, from("standard", [dynamic("lab", 2)]));
    await stage.pass(130);
    await push(stage, from("standard", [dynamic("lab", 0)]));
    const asked = await stage.during(Promise.all(stage.readyNodes.map((node) => stage.ask(node))));
    expect(asked).toEqual([200, 200]);
    await push(stage, from("standard", [dynamic("lab", 2)]));
    await stage.pass(130);
    expect(await namesReady(stage)).toEqual(["lab-3", "lab-4"]);
    expect((await stage.state("demo")).nodes.byPhase).toEqual({ going: 2, ready: 2 });
  });

  test("left out: flagged; named again: as it was, with the nodes that it had", async () => {
    const stage = await settledStage();
    await push(stage, from("standard", [dynamic("lab", 2)]));
    await stage.pass(130);
    await push(stage, from("standard", []));
    await stage.pass(130);
    expect(await shown(stage, "lab")).toMatchObject({ nodes: 2, flaggedForRemoval: true, askedBy: [] });
    await push(stage, from("standard", [dynamic("lab", 2)]));
    await stage.pass(130);
    expect(await shown(stage, "lab")).toMatchObject({
      nodes: 2,
      flaggedForRemoval: false,
      askedBy: ["standard"],
    });
    expect(stage.eventsOf("node-created")).toHaveLength(2);
  });
});

describe("what cannot be", () => {
  test("two sets that define one name differently are both accepted; the first one's counts, and the plan names both for the other", async () => {
    const stage = await settledStage();
    await push(stage, from("day", [dynamic("lab", 2, { Configuration: { shift: "day" } })]));
    await stage.pass(130);
    await push(stage, from("night", [dynamic("lab", 1, { Configuration: { shift: "night" } })]));
    await stage.pass(130);
    const disputed =
      'dynamic node array "lab" is defined differently by the request sets day, night: it belongs to day, which defined it first, until that set lapses or leaves it out';
    expect(await shown(stage, "lab")).toMatchObject({
      exists: true,
      nodes: 2,
      askedBy: ["day"],
      problem: undefined,
    });
    const { plan } = await stage.state("demo");
    expect(plan?.unmet.map(({ id, reasons }) => ({ id, reasons }))).toEqual([
      { id: "nodearray:lab", reasons: [disputed] },
    ]);
    await push(stage, from("night", [dynamic("lab", 3, { Configuration: { shift: "day" } })]));
    await stage.pass(130);
    expect(await shown(stage, "lab")).toMatchObject({
      nodes: 3,
      target: { nodes: 3 },
      askedBy: ["day", "night"],
      problem: undefined,
    });
  });

  test("an array that extends an unknown one is unmet and shown, with the nearest name", async () => {
    const stage = await settledStage();
    await push(stage, from("standard", [dynamic("lab", 2, { Extends: "exceute" })]));
    await stage.pass(130);
    const problem =
      'dynamic node array "lab" extends "exceute", which the cluster does not have (nearest: execute; known: execute)';
    expect(await shown(stage, "lab")).toMatchObject({ exists: false, problem });
    expect((await stage.state("demo")).plan?.unmet).toEqual([{ id: "nodearray:lab", reasons: [problem] }]);
    expect(stage.eventsOf("node-created")).toEqual([]);
  });

  test("in an array with one placement group, nodes of other attributes are refused before CycleCloud leaves them in Acquiring for ever", async () => {
    const simulator = oneArray("demo", { placementGroupId: "only" }, { timings: AT_ONCE });
    const stage = await settledStage({ simulator });
    await push(
      stage,
      from("standard", [
        { Name: "execute", TargetCount: 1 },
        dynamic("lab", 1, { Configuration: { shift: "day" } }),
      ]),
    );
    await stage.pass(130);
    expect(await namesReady(stage)).toEqual(["execute-1"]);
    expect(stage.eventsOf("node-created")).toHaveLength(1);
    expect((await stage.state("demo")).plan?.unmet).toEqual([
      {
        id: "nodearray:lab",
        reasons: [
          "lab/Standard_F4s_v2/only: the nodes in its placement group only have other attributes, and those of one scale set must be the same",
        ],
      },
    ]);
  });
});

test("new attributes of an array with one placement group wait until its nodes are gone; the same ones do not", async () => {
  const simulator = oneArray("demo", { placementGroupId: "only" }, { timings: AT_ONCE });
  const stage = await settledStage({ simulator });
  const target = (TargetCount: number, version: number) =>
    from("standard", [{ Name: "execute", TargetCount, Configuration: { version } }]);
  await push(stage, target(1, 1));
  await stage.pass(130);
  await push(stage, target(2, 1));
  await stage.pass(130);
  expect(await namesReady(stage)).toEqual(["execute-1", "execute-2"]);
  await push(stage, target(3, 2));
  await stage.pass(130);
  expect(stage.eventsOf("node-created")).toHaveLength(2);
  expect((await stage.state("demo")).plan?.unmet).toEqual([
    {
      id: "nodearray:execute",
      reasons: [
        "execute/Standard_F4s_v2/only: the nodes in its placement group only have other attributes, and those of one scale set must be the same",
      ],
    },
  ]);
});

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
  // A node of other attributes than its group would stay in Acquiring (the simulator's scaleSetAttributesMustMatch).
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
  // Whole, it is as good as asked for; what is missing later would not be like the rest.
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

test("300 sets, each with a dynamic array of its own: each has its node, and its definition is sent with no other's", async () => {
  const stage = await settledStage();
  const sets = Array.from({ length: 300 }, (_, i) =>
    from(`job-${i}`, [dynamic(`array-${i}`, 1, { Configuration: { number: i } })]),
  );
  await push(stage, ...sets);
  await stage.pass(300);
  const ready = stage
    .eventsOf("node-ready")
    .map(({ name, configuration }) => [name, configuration["number"]]);
  expect(ready).toHaveLength(300);
  expect(new Map(ready.map(([name, number]) => [String(name), number]))).toEqual(
    new Map(Array.from({ length: 300 }, (_, i) => [`array-${i}-1`, i])),
  );
}, 60_000);
