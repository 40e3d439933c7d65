import { expect, test } from "vitest";
import { oneArray, target } from "./clusters.ts";
import { Stage } from "./stage.ts";

const DAY = 86_400;
const UNKNOWN = "stays: not needed; busy state unknown: no report and no callback yet";

/** Ten nodes of pure target demand, Ready and working. No scheduler reports, and a working node does not call. */
async function tenWorkingNodes(): Promise<Stage> {
  const stage = new Stage({ simulator: oneArray("demo") });
  await stage.during(stage.push(target("demo", 10, { expirationInterval: DAY })));
  await stage.pass(300);
  expect(stage.readyNodes).toHaveLength(10);
  return stage;
}

test("target lowered from 10 to 5 while all ten work and no scheduler reports: 0 terminated in 24 hours, and the page says why each stays", async () => {
  const stage = await tenWorkingNodes();
  await stage.during(stage.push(target("demo", 5, { expirationInterval: DAY })));
  await stage.pass(DAY / 2);
  await stage.during(stage.push(target("demo", 5, { expirationInterval: DAY })));
  await stage.pass(DAY / 2);

  expect(stage.eventsOf("terminate-accepted")).toEqual([]);
  expect(stage.eventsOf("node-created")).toHaveLength(10);
  const { nodes } = await stage.state("demo");
  expect(nodes.list.map(({ why }) => why).sort()).toEqual([
    "needed by standard/nodearray:execute",
    "needed by standard/nodearray:execute",
    "needed by standard/nodearray:execute",
    "needed by standard/nodearray:execute",
    "needed by standard/nodearray:execute",
    UNKNOWN,
    UNKNOWN,
    UNKNOWN,
    UNKNOWN,
    UNKNOWN,
  ]);
});

test("the scheduler falls silent for good and its demand lapses while all ten work: 0 terminated in 24 hours", async () => {
  const stage = new Stage({ simulator: oneArray("demo") });
  await stage.during(stage.push(target("demo", 10, { expirationInterval: 600 })));
  await stage.pass(DAY);

  expect(stage.readyNodes).toHaveLength(10);
  expect(stage.eventsOf("terminate-accepted")).toEqual([]);
  const { nodes } = await stage.state("demo");
  expect(nodes.list.map(({ why }) => why)).toEqual(Array.from({ length: 10 }, () => UNKNOWN));
});

test("of ten nodes five are not needed and call: those five go at once, and the working ones stay", async () => {
  const stage = await tenWorkingNodes();
  await stage.during(stage.push(target("demo", 5, { expirationInterval: DAY })));
  await stage.pass(300);
  const idle = stage.readyNodes.slice(0, 5);
  const answers = await stage.during(Promise.all(idle.map((node) => stage.ask(node))));
  await stage.pass(DAY / 2);

  expect(answers).toEqual([200, 200, 200, 200, 200]);
  expect(new Set(stage.eventsOf("terminate-accepted").map(({ nodeId }) => nodeId))).toEqual(
    new Set(idle.map(({ nodeId }) => nodeId)),
  );
  expect(stage.readyNodes).toHaveLength(5);
  expect(stage.eventsOf("node-created")).toHaveLength(10);
});
