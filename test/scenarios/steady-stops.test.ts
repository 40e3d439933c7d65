import { expect, test } from "vitest";
import { IS_DEEP } from "../property/runs.ts";
import { MACHINE_TYPES, oneArray, target } from "./clusters.ts";
import type { Actor, Send } from "./stage-options.ts";
import { ORIGIN } from "./stage-options.ts";
import { Stage } from "./stage.ts";

const DAY = 86_400;
/** All nodes are looked at for each that asks. */
const NODES = IS_DEEP ? 700 : 250;
const ASKING_SECONDS = IS_DEEP ? 600 : 200;

/** Idle nodes of execute, one of which asks each second. A status takes this long. Sometimes demand comes for the array "other". */
async function stopSteadily(statusSeconds: number) {
  const [cluster] = oneArray("demo").clusters;
  if (cluster === undefined) throw new Error("there is a cluster");
  const [execute] = cluster.arrays;
  if (execute === undefined) throw new Error("there is an array");
  const other = { ...execute, name: "other", machineTypes: ["Standard_D4s_v5"] };
  const stage = new Stage({
    simulator: {
      ...oneArray("demo"),
      machineTypes: MACHINE_TYPES,
      clusters: [{ ...cluster, arrays: [execute, other] }],
    },
    between: (send: Send, clock) => async (request) => {
      const answer = await send(request);
      if (request.path.endsWith("/status")) await clock.sleep(statusSeconds * 1000);
      return answer;
    },
  });
  stage.send(target("demo", NODES, { expirationInterval: DAY }));
  await stage.pass(400);
  stage.send(target("demo", 0, { expirationInterval: DAY }));
  await stage.pass(400);

  const idle = stage.readyNodes;
  const answers: number[] = [];
  let asked = 0;
  const start = stage.clock.now();
  const asker: Actor = {
    nextEventAt: () => start + asked * 1000,
    step: async (now) => {
      const node = idle[asked];
      if (now < start + asked * 1000 || node === undefined) return;
      asked += 1;
      answers.push(await stage.ask(node));
    },
  };
  stage.join(asker);
  const pushedAt: number[] = [];
  for (const count of [1, 2, 3, 4]) {
    await stage.pass(ASKING_SECONDS / 4 - 7.3);
    pushedAt.push(stage.clock.now());
    const nodearrays = [{ Name: "other", TargetCount: count }];
    stage.send({ version: 1, cluster: "demo", requestSet: "other", expirationInterval: DAY, nodearrays });
    await stage.pass(7.3);
  }
  await stage.pass(30);
  const createdAt = stage
    .eventsOf("create-accepted")
    .filter(({ at }) => at > start)
    .map(({ at }) => at);
  const waited = pushedAt.map((at, index) => ((createdAt[index] ?? Number.POSITIVE_INFINITY) - at) / 1000);
  return { answers, waited, stage };
}

test.each([0.2, 4])(
  "one node a second asks to stop and a status takes %d s: new demand waits at most 10 s and a status, stops are granted",
  async (statusSeconds) => {
    const { answers, waited, stage } = await stopSteadily(statusSeconds);
    expect(Math.max(...waited)).toBeLessThanOrEqual(10 + statusSeconds);
    expect(answers.length).toBeGreaterThanOrEqual(ASKING_SECONDS);
    expect(answers.filter((status) => status === 200).length).toBeGreaterThanOrEqual(0.9 * answers.length);
    const { health } = await stage.state("demo");
    expect(health.restingUntil).toBeUndefined();
  },
);

test("demand each second while a status takes 40 s: two looks at most are under way, 13 at most begin in a minute", async () => {
  let underWay = 0;
  let most = 0;
  const begun: number[] = [];
  const stage = new Stage({
    simulator: oneArray("demo"),
    between: (send: Send, clock) => async (request) => {
      const isLook = request.path.endsWith("/status");
      if (isLook) begun.push((clock.now() - ORIGIN) / 1000);
      if (isLook) most = Math.max(most, (underWay += 1));
      await clock.sleep(isLook ? 40_000 : 0);
      if (isLook) underWay -= 1;
      return send(request);
    },
  });
  for (let count = 1; count <= 300; count += 1) {
    stage.send(target("demo", count, { expirationInterval: DAY }));
    await stage.pass(1);
  }
  const inMinute = begun.map((from) => begun.filter((at) => from <= at && at < from + 60).length);
  expect(most).toBe(2);
  expect(Math.max(...inMinute)).toBeLessThanOrEqual(13);
  await stage.pass(200);
  expect(stage.readyNodes).toHaveLength(300);
});
