import { expect, test } from "vitest";
import { oneArray, target } from "./clusters.ts";
import { madeOf, playBadImage } from "./powers-off.ts";
import { Stage } from "./stage.ts";

const DAY = 86_400;

/** A cluster with this many nodes of pure target demand, all Ready. No scheduler reports. */
async function readyNodes(count: number, more: Parameters<typeof oneArray>[1] = {}): Promise<Stage> {
  const stage = new Stage({ simulator: oneArray("demo", more) });
  await stage.during(stage.push(target("demo", count, { expirationInterval: DAY })));
  await stage.pass(300);
  expect(stage.readyNodes).toHaveLength(count);
  return stage;
}

const created = (stage: Stage): number => stage.eventsOf("node-created").length;

async function nodeOf(stage: Stage, nodeId: string | undefined) {
  const { nodes } = await stage.state("demo");
  return nodes.list.find((node) => node.nodeId === nodeId);
}

test("a node is shut down from inside: its demand gets another node, and the page says so", async () => {
  const stage = await readyNodes(2);
  const [first] = stage.readyNodes;
  stage.simulator.faults.shutDown(first?.nodeId ?? "");
  await stage.pass(300);

  expect(created(stage)).toBe(3);
  expect(stage.readyNodes).toHaveLength(2);
  expect(await nodeOf(stage, first?.nodeId)).toMatchObject({
    phase: "down",
    why: "no capacity: it was Ready, and CycleCloud has shown it as Off since 2026-01-01T00:06:00.000Z; its demand is placed elsewhere, and it still counts against the limits; it is terminated at 2026-01-01T00:11:00.000Z",
  });
});

test("it is started again by somebody: it serves once more, and nothing else is created", async () => {
  const stage = await readyNodes(2);
  const id = stage.readyNodes[0]?.nodeId ?? "";
  stage.simulator.faults.shutDown(id);
  await stage.pass(300);
  stage.simulator.faults.restart(id);
  await stage.pass(300);

  expect(created(stage)).toBe(3);
  expect(stage.readyNodes).toHaveLength(3);
  expect(await nodeOf(stage, id)).toMatchObject({
    phase: "ready",
    why: "needed by standard/nodearray:execute",
  });
});

test("shown as Off by one look only: nothing is created", async () => {
  const stage = await readyNodes(2);
  const id = stage.readyNodes[0]?.nodeId ?? "";
  await stage.pass(59);
  stage.simulator.faults.shutDown(id);
  await stage.pass(2);
  stage.simulator.faults.restart(id);
  await stage.pass(600);

  expect(created(stage)).toBe(2);
  expect(stage.readyNodes).toHaveLength(2);
});

test("a node restarts and comes back: nothing is created", async () => {
  const stage = await readyNodes(2);
  stage.simulator.faults.restart(stage.readyNodes[0]?.nodeId ?? "");
  await stage.pass(600);

  expect(created(stage)).toBe(2);
  expect(stage.readyNodes).toHaveLength(2);
});

test("a node restarts and never comes back: it is waited for until the boot timeout, then replaced, and never stopped", async () => {
  const stage = await readyNodes(2);
  const id = stage.readyNodes[0]?.nodeId ?? "";
  stage.simulator.faults.restart(id, { comesBack: false });
  await stage.pass(1800);
  expect(created(stage)).toBe(2);
  await stage.pass(6 * 3600);

  expect(created(stage)).toBe(3);
  expect(stage.eventsOf("terminate-accepted")).toEqual([]);
  expect(await nodeOf(stage, id)).toMatchObject({ phase: "down" });
});

test("a node of a group is shut down: the group is completed in place", async () => {
  const stage = new Stage({ simulator: oneArray("demo") });
  const nodearrays = [{ Name: "execute", TargetGroupCount: 1, GroupInstanceCount: 2 }];
  await stage.during(stage.push({ version: 1, cluster: "demo", expirationInterval: DAY, nodearrays }));
  await stage.pass(300);
  stage.simulator.faults.shutDown(stage.readyNodes[0]?.nodeId ?? "");
  await stage.pass(300);

  const groups = stage.eventsOf("node-created").map(({ placementGroup }) => placementGroup);
  expect(groups).toEqual(["group-execute-2n-1", "group-execute-2n-1", "group-execute-2n-1"]);
  const { groups: shown } = await stage.state("demo");
  expect(shown).toMatchObject([{ groupsWhole: 1, nodesReady: 2 }]);
});

test("in an array that is full the shut-down node holds its place: the demand is unmet, and the reason names the limit", async () => {
  const stage = await readyNodes(2, { maxCount: 2 });
  const id = stage.readyNodes[0]?.nodeId ?? "";
  stage.simulator.faults.shutDown(id);
  await stage.pass(300);

  expect(created(stage)).toBe(2);
  const { plan } = await stage.state("demo");
  expect(plan?.unmet).toMatchObject([
    { id: "nodearray:execute", reasons: ["node array execute: 2 of 2 nodes used, 1 more needed, 0 left"] },
  ]);
});

test("a node fails after it was Ready, and no scheduler reports: it is replaced, shown, and not stopped", async () => {
  const stage = await readyNodes(2);
  const id = stage.readyNodes[0]?.nodeId ?? "";
  stage.simulator.faults.failNode(id, "GPU lost");
  await stage.pass(300);

  expect(created(stage)).toBe(3);
  expect(stage.eventsOf("terminate-accepted")).toEqual([]);
  expect(await nodeOf(stage, id)).toMatchObject({
    phase: "failed",
    why: "failed (GPU lost) after it was Ready: no capacity, but jobs may still run on it; it is stopped by its own callback, or when a scheduler reports it idle",
  });
});

test("a node is shut down from inside, with no demand and no report: it is terminated after downTimeout", async () => {
  const stage = await readyNodes(2);
  await stage.during(stage.push(target("demo", 0, { expirationInterval: DAY })));
  const id = stage.readyNodes[0]?.nodeId ?? "";
  const at = stage.clock.now();
  stage.simulator.faults.shutDown(id);
  await stage.pass(3600);

  const ended = stage.eventsOf("terminate-accepted");
  expect(ended.map(({ nodeId }) => nodeId)).toEqual([id]);
  // The observation that showed it first came within a minute.
  expect(Number(ended[0]?.at) - at).toBeGreaterThanOrEqual(300_000);
  expect(Number(ended[0]?.at) - at).toBeLessThanOrEqual(361_000);
  expect((await stage.state("demo")).nodes.list.map(({ nodeId }) => nodeId)).not.toContain(id);
});

test("60 nodes show Off at once: none ends within the hour, and the page says why and until when", async () => {
  const stage = await readyNodes(60);
  for (const { nodeId } of stage.readyNodes) stage.simulator.faults.shutDown(nodeId);
  await stage.pass(3540);

  expect(stage.eventsOf("terminate-accepted")).toEqual([]);
  const { troubles } = await stage.state("demo");
  expect(troubles.map(({ kind }) => kind)).toContain("down-wave");
  expect(troubles.find(({ kind }) => kind === "down-wave")?.text).toContain(
    "node array execute: 60 nodes are down at once, the first since 2026-01-01T00:06:00.000Z, so each waits at least an hour; the first is terminated at 2026-01-01T01:06:00.000Z",
  );
});

test("60 nodes become Unavailable at once: none is ended, in six hours", async () => {
  const stage = await readyNodes(60);
  for (const { nodeId } of stage.readyNodes) stage.simulator.faults.failNode(nodeId, "access lost");
  await stage.pass(6 * 3600);

  expect(stage.eventsOf("terminate-accepted")).toEqual([]);
});

test("an image that powers itself off 5 minutes after Ready: its bucket pauses, and another one takes the demand", async () => {
  const stage = await playBadImage({ bootMinutes: 3, offMinutes: 5, hasOther: true }, 8);
  expect(madeOf(stage, "bad")).toBeLessThanOrEqual(30);
  expect(madeOf(stage, "good")).toBe(10);
  expect(stage.readyNodes).toHaveLength(10);
});

test("there is no other bucket: one node at a time is tried, ever more rarely, and the page says so", async () => {
  const stage = await playBadImage({ bootMinutes: 3, offMinutes: 5, hasOther: false }, 24);
  expect(madeOf(stage, "bad")).toBeLessThanOrEqual(30);
  const { troubles } = await stage.state("demo");
  expect(troubles.find(({ kind }) => kind === "backing-off")?.text).toMatch(
    /^bad\/Standard_F4s_v2 .* \(went-down\): /,
  );
});

test("the image is mended: within two hours a node is tried, and half an hour after it is Ready all are created", async () => {
  const image = { bootMinutes: 3, offMinutes: 5, hasOther: false, mendedAtMinute: 360 };
  const stage = await playBadImage(image, 6 + 2 + 1);
  expect(stage.readyNodes).toHaveLength(10);
});
