import { describe, expect, test } from "vitest";
import { AT_ONCE, oneArray, QUICK } from "./clusters.ts";
import { dynamic, from, namesReady, push, settledStage, shown } from "./dynamic-stage.ts";

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
