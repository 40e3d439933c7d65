import { describe, expect, test } from "vitest";
import type { Answer } from "../../src/adapters/cyclecloud/transport.ts";
import { oneArray, target } from "./clusters.ts";
import type { StageOptions } from "./stage-options.ts";
import { Stage } from "./stage.ts";

const DAY = 86_400;

/** Two hundred nodes, Ready and needed. */
async function twoHundredNodes(more: Partial<StageOptions> = {}): Promise<Stage> {
  const stage = new Stage({ simulator: oneArray("demo"), ...more });
  await stage.during(stage.push(target("demo", 200, { expirationInterval: DAY })));
  await stage.pass(600);
  expect(stage.readyNodes).toHaveLength(200);
  return stage;
}

function expectUntouched(stage: Stage): void {
  expect(stage.eventsOf("node-created")).toHaveLength(200);
  expect(stage.eventsOf("terminate-accepted")).toEqual([]);
  expect(stage.readyNodes).toHaveLength(200);
}

describe("a status that falsely says empty: 0 of 200 nodes terminated and 0 created", () => {
  test("once, with every count at zero", async () => {
    const stage = await twoHundredNodes();
    stage.simulator.faults.falseEmptyStatus(1);
    await stage.pass(60);
    expect((await stage.state("demo")).troubles).toEqual([
      {
        kind: "node-missing",
        text: "execute-1, execute-2, execute-3, execute-4, execute-5 and 195 more are not listed by CycleCloud: counted as present until 2026-01-01T00:12:00.000Z or later, and as removed after that",
        count: 200,
      },
    ]);
    await stage.pass(3600);
    expectUntouched(stage);
    expect((await stage.state("demo")).health.ok).toBe(true);
  });

  test("twice within a minute, the second time because new demand asks for a look", async () => {
    const stage = await twoHundredNodes();
    await stage.pass(20);
    stage.simulator.faults.falseEmptyStatus(2);
    const looks = stage.eventsOf("status-read").length;
    await stage.during(stage.push(target("demo", 200, { requestSet: "a", expirationInterval: DAY })));
    await stage.pass(10);
    await stage.during(stage.push(target("demo", 200, { requestSet: "b", expirationInterval: DAY })));
    await stage.pass(10);
    expect(stage.eventsOf("status-read").length - looks).toBe(2);
    await stage.pass(3600);
    expectUntouched(stage);
  });

  test("with no nodes, but counts that contradict it", async () => {
    let lies = 0;
    const stage = await twoHundredNodes({
      between: (send) => async (request) => {
        const answer = await send(request);
        if (lies === 0 || !request.path.endsWith("/status")) return answer;
        lies -= 1;
        return withoutNodes(answer);
      },
    });
    lies = 1;
    await stage.pass(60);
    expect((await stage.state("demo")).health.trouble).toEqual({
      kind: "unexpected",
      message:
        "GET /clusters/demo/status: nodes: found no node, expected the 200 active nodes that the buckets count",
    });
    await stage.pass(3600);
    expectUntouched(stage);
    expect(lies).toBe(0);
  });

  test("just when the target has been lowered: the surplus is not stopped, and a node that calls is told to wait", async () => {
    const stage = await twoHundredNodes();
    const [node] = stage.readyNodes;
    if (node === undefined) throw new Error("there are 200 nodes");
    stage.simulator.faults.falseEmptyStatus(1);
    await stage.during(stage.push(target("demo", 50, { expirationInterval: DAY })));
    await stage.pass(10);
    expect(await stage.during(stage.ask(node))).toBe(503);
    expectUntouched(stage);
    await stage.pass(120);
    expect(await stage.during(stage.ask(node))).toBe(200);
  });
});

test("an emptiness that two looks a minute apart agree on is believed: 200 nodes that have vanished are replaced", async () => {
  const stage = await twoHundredNodes();
  stage.simulator.faults.vanish(stage.readyNodes.map(({ nodeId }) => nodeId));
  await stage.pass(50);
  await stage.pass(10);
  expect(stage.eventsOf("node-created")).toHaveLength(200);
  await stage.pass(70);
  expect(stage.eventsOf("node-created")).toHaveLength(400);
  await stage.pass(600);
  expect(stage.readyNodes).toHaveLength(200);
});

function withoutNodes(answer: Answer): Answer {
  if (typeof answer.body !== "object" || answer.body === null) return answer;
  return { ...answer, body: { ...answer.body, nodes: [] } };
}
