import { expect, test } from "vitest";
import type { Answer } from "../../src/adapters/cyclecloud/transport.ts";
import { oneArray, target } from "./clusters.ts";
import { Stage } from "./stage.ts";

const DAY = 86_400;

/** The status without the array "execute". Its nodes are listed. */
function withoutArray(answer: Answer): Answer {
  const { body } = answer;
  if (typeof body !== "object" || body === null) throw new Error("a status is an object");
  return { ...answer, body: { ...body, nodearrays: [] } };
}

test("CycleCloud lists nodes of an array that it does not list: they wait, and nothing of them is forgotten", async () => {
  let isHalf = false;
  const stage = new Stage({
    simulator: oneArray("demo"),
    between: (send) => async (request) => {
      const answer = await send(request);
      return isHalf && request.path.endsWith("/status") ? withoutArray(answer) : answer;
    },
  });
  const push = (count: number) =>
    stage.during(stage.push(target("demo", count, { expirationInterval: DAY })));
  await push(5);
  await stage.pass(300);
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("five nodes are Ready");
  isHalf = true;
  await stage.pass(600);
  expect(await stage.during(stage.ask(node))).toBe(503);
  expect((await stage.state("demo")).troubles).toContainEqual({
    kind: "nodearray-missing",
    text: "CycleCloud lists nodes of node array execute, but not the node array: execute-1, execute-2, execute-3, execute-4, execute-5 serve no demand, and are not stopped",
    count: 5,
  });
  // Less is needed, and still nothing says which of the nodes.
  await push(3);
  await stage.pass(60);
  expect(await stage.during(stage.ask(node))).toBe(503);
  isHalf = false;
  await stage.pass(60);
  expect(await stage.during(stage.ask(node))).toBe(200);
  await push(4);
  await stage.pass(600);
  expect(stage.eventsOf("node-created")).toHaveLength(5);
  expect(stage.eventsOf("terminate-accepted").map(({ nodeId }) => nodeId)).toEqual([node.nodeId]);
});
