import { expect, test } from "vitest";
import { oneArray, target } from "./clusters.ts";
import { Stage } from "./stage.ts";
import { isFields } from "../../src/domain/fields.ts";

const DAY = 86_400;

const created = (stage: Stage): number => stage.eventsOf("node-created").length;
const stopped = (stage: Stage): number => stage.eventsOf("terminate-accepted").length;

/** 100 Ready nodes that are needed. Once `unclear` is set, that many records have no TargetState. */
async function hundredNodes(callMs = 0): Promise<{ stage: Stage; unclear: { count: number } }> {
  const unclear = { count: 0 };
  const stage = new Stage({
    simulator: oneArray("demo", { machineTypes: ["Standard_F4s_v2", "Standard_D4s_v5"] }),
    between: (send, clock) => async (request) => {
      if (callMs > 0) await clock.sleep(callMs);
      const answer = await send(request);
      const { body } = answer;
      if (!request.path.endsWith("/status") || !isFields(body) || !Array.isArray(body["nodes"]))
        return answer;
      const nodes = body["nodes"].map((node: unknown, i: number) => {
        if (i >= unclear.count || !isFields(node)) return node;
        const { TargetState: _gone, ...rest } = node;
        return rest;
      });
      return { ...answer, body: { ...body, nodes } };
    },
  });
  await stage.during(stage.push(target("demo", 100, { expirationInterval: DAY })));
  await stage.pass(600);
  expect(stage.readyNodes).toHaveLength(100);
  return { stage, unclear };
}

test("40 of 100 are unclear for ever: a tenth is replaced, and none is stopped", async () => {
  const { stage, unclear } = await hundredNodes();
  unclear.count = 40;
  await stage.pass(5 * 3600);
  // A tenth of 100 nodes, and then one more because the array has 110.
  expect(created(stage)).toBe(111);
  expect(stopped(stage)).toBe(0);
});

test("all 100 are shut down from inside: ten are replaced, and the page says what becomes of the others", async () => {
  const { stage } = await hundredNodes();
  for (const { nodeId } of stage.readyNodes) stage.simulator.faults.shutDown(nodeId);
  await stage.pass(3600);
  expect(created(stage)).toBe(111);
  const { nodes } = await stage.state("demo");
  expect(nodes.byPhase).toEqual({ down: 100, ready: 11 });
  expect(nodes.list[99]?.why).toContain("it still counts as present");
});

test("all 100 fail after they were Ready, and no scheduler reports: ten are replaced", async () => {
  const { stage } = await hundredNodes();
  for (const { nodeId } of stage.readyNodes) stage.simulator.faults.failNode(nodeId, "GPU lost");
  await stage.pass(3600);
  expect(created(stage)).toBe(111);
  expect(stopped(stage)).toBe(0);
});

test("50 of 150 fail before they are Ready: all are stopped, a tenth is replaced elsewhere at once, the rest 5 s later", async () => {
  const { stage } = await hundredNodes(200);
  await stage.during(stage.push(target("demo", 150, { expirationInterval: DAY })));
  await stage.pass(30);
  const young = stage.eventsOf("node-created").slice(100);
  for (const { nodeId } of young) stage.simulator.faults.failNode(nodeId, "no such image");
  await stage.pass(30);
  expect([created(stage), stopped(stage)]).toEqual([165, 50]);
  await stage.pass(10);
  expect(created(stage)).toBe(200);
  await stage.pass(120);
  expect(stage.readyNodes).toHaveLength(150);
});
