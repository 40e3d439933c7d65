import { expect, test } from "vitest";
import { oneArray, target } from "./clusters.ts";
import { Stage } from "./stage.ts";

const MINUTE = 60;

interface Resumed {
  readonly stage: Stage;
  readonly push: (count: number) => Promise<void>;
}

/** Ten nodes are Ready for a set that its scheduler renews each minute. Then the host is down for nine and a half minutes. */
async function afterOutage(expirationInterval = 300): Promise<Resumed> {
  const stage = new Stage({ simulator: oneArray("demo") });
  const push = (count: number) => stage.during(stage.push(target("demo", count, { expirationInterval })));
  await push(10);
  for (let minute = 0; minute < 5; minute += 1) {
    await stage.pass(MINUTE - 1);
    await push(10);
  }
  stage.stopHost();
  await stage.pass(9.5 * MINUTE);
  stage.startHost();
  return { stage, push };
}

test.each([
  { name: "the demand falls", count: 5, expirationInterval: 300, status: 200 },
  { name: "the demand is the same", count: 10, expirationInterval: 300, status: 409 },
  { name: "the demand is the same and never lapsed", count: 10, expirationInterval: 86_400, status: 409 },
])(
  "the scheduler pushes before the first look after an outage, $name: nothing is left to wait for",
  async ({ count, expirationInterval, status }) => {
    const { stage, push } = await afterOutage(expirationInterval);
    await push(count);
    await stage.pass(MINUTE);
    const [node] = stage.readyNodes;
    if (node === undefined) throw new Error("ten nodes are Ready");
    expect((await stage.state("demo")).health.restingUntil).toBeUndefined();
    expect(await stage.during(stage.ask(node))).toBe(status);
  },
);

test("the tick looks before the scheduler pushes: the rest ends with the push", async () => {
  const { stage, push } = await afterOutage();
  await stage.pass(MINUTE);
  expect((await stage.state("demo")).health.restingUntil).toBeDefined();
  await push(5);
  await stage.pass(10);
  expect((await stage.state("demo")).health.restingUntil).toBeUndefined();
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("ten nodes are Ready");
  expect(await stage.during(stage.ask(node))).toBe(200);
});

test("what was pushed just before the outage is not pushed again: scale-down rests until the scheduler speaks", async () => {
  // The last push came seconds after the last observation, and is valid for a day.
  const { stage, push } = await afterOutage(86_400);
  await stage.pass(MINUTE);
  expect((await stage.state("demo")).health.restingUntil).toBeDefined();
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("ten nodes are Ready");
  expect(await stage.during(stage.ask(node))).toBe(503);
  await push(5);
  await stage.pass(MINUTE);
  expect(await stage.during(stage.ask(node))).toBe(200);
});
