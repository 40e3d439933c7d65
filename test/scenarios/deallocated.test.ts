import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { oneArray, target } from "./clusters.ts";
import { Death, deathsUpTo } from "./deaths.ts";
import type { Send, StageOptions } from "./stage.ts";
import { Stage } from "./stage.ts";

const requestBody = z.object({ requestId: z.string() });
const DAY = 86_400;
const BOTH = ["Standard_F4s_v2", "Standard_D4s_v5"];

/** A cluster whose first nodes, created by hand, have been shut down and keep their disks; ten minutes have passed. */
async function stageWithDeallocated(
  count: number,
  options: StageOptions,
): Promise<readonly [Stage, string[]]> {
  // Made by hand, so the autoscaler starts them only in an exclusive node array.
  const stage = new Stage({ ...options, policy: { ...options.policy, exclusiveArrays: true } });
  const nodes = { method: "POST", query: {} };
  stage.simulator.request({
    ...nodes,
    path: "/clusters/demo/nodes/create",
    body: { sets: [{ nodearray: "execute", count }] },
  });
  await stage.pass(120);
  const ids = stage.eventsOf("node-created").map(({ nodeId }) => nodeId);
  stage.simulator.request({ ...nodes, path: "/clusters/demo/nodes/shutdown", body: { ids } });
  await stage.pass(480);
  expect(stage.eventsOf("node-deallocated")).toHaveLength(count);
  return [stage, ids];
}

function demo(more: Partial<SimulatorOptions> = {}, machineTypes = ["Standard_F4s_v2"]): SimulatorOptions {
  return oneArray("demo", { shutdownPolicy: "Deallocate", machineTypes }, more);
}

const starts = (stage: Stage) =>
  stage.sent.filter(({ method, path }) => method === "POST" && path.endsWith("/nodes/start"));
const created = (stage: Stage, before: number) =>
  stage
    .eventsOf("node-created")
    .slice(before)
    .map(({ machineType }) => machineType);
const started = (stage: Stage) => stage.eventsOf("start-accepted").map(({ nodeId }) => nodeId);

/** Nodes that the last look showed as Ready. */
const ready = async (stage: Stage) => (await stage.state("demo")).nodes.byPhase["ready"];

async function why(stage: Stage, nodeId: string | undefined): Promise<string | undefined> {
  return (await stage.state("demo")).nodes.list.find((node) => node.nodeId === nodeId)?.why;
}

test("nobody needs them: they stay as they are, and the state page says so", async () => {
  const [stage, ids] = await stageWithDeallocated(2, { simulator: demo() });
  await stage.during(stage.push(target("demo", 0, { expirationInterval: DAY })));
  await stage.pass(3 * 3600);
  expect(starts(stage)).toEqual([]);
  expect(stage.eventsOf("terminate-accepted")).toEqual([]);
  expect(await why(stage, ids[0])).toBe("deallocated: would be started when needed");
});

test("a target of three: the two are started, one is created", async () => {
  const [stage, ids] = await stageWithDeallocated(2, { simulator: demo() });
  await stage.during(stage.push(target("demo", 3, { expirationInterval: DAY })));
  await stage.pass(10);
  expect(started(stage).toSorted()).toEqual(ids.toSorted());
  expect(created(stage, 2)).toEqual(["Standard_F4s_v2"]);
  await stage.pass(3600);
  expect(await ready(stage)).toBe(3);
  expect(starts(stage)).toHaveLength(1);
  expect(created(stage, 2)).toHaveLength(1);
  expect((await stage.state("demo")).plan?.unmetCount).toBe(0);
});

test("jobs get them too, before new nodes", async () => {
  const [stage, ids] = await stageWithDeallocated(2, { simulator: demo() });
  // 9 slots of a core on nodes of 4 cores: 3 nodes.
  const jobs = [{ name: "j", iterations: 9, constraints: [{ ncpus: 1 }] }];
  await stage.during(stage.push({ version: 1, cluster: "demo", jobs, expirationInterval: DAY }));
  await stage.pass(600);
  expect(started(stage).toSorted()).toEqual(ids.toSorted());
  expect(created(stage, 2)).toHaveLength(1);
  expect(await ready(stage)).toBe(3);
});

describe("a start is not seen at once", () => {
  test.each([
    { name: "a status lags by up to 40 s", simulator: demo({ visibilityLagSeconds: 40 }), frozen: 0 },
    { name: "a status shows nothing new for 10 minutes", simulator: demo(), frozen: 600 },
  ])("$name: no second start, nothing created in its place", async ({ simulator, frozen }) => {
    const [stage, ids] = await stageWithDeallocated(2, { simulator });
    if (frozen > 0) stage.simulator.faults.freezeLag();
    await stage.during(stage.push(target("demo", 2, { expirationInterval: DAY })));
    await stage.during(stage.push(target("demo", 2, { expirationInterval: DAY })));
    await stage.pass(frozen);
    stage.simulator.faults.thawLag();
    await stage.pass(600);
    expect(started(stage).toSorted()).toEqual(ids.toSorted());
    expect(starts(stage)).toHaveLength(1);
    expect(created(stage, 2)).toEqual([]);
    expect(await ready(stage)).toBe(2);
  });

  test("what is needed besides is created while it is not seen", async () => {
    const [stage] = await stageWithDeallocated(2, { simulator: demo() });
    stage.simulator.faults.freezeLag();
    await stage.during(stage.push(target("demo", 2, { expirationInterval: DAY })));
    await stage.pass(30);
    await stage.during(stage.push(target("demo", 5, { expirationInterval: DAY })));
    await stage.pass(30);
    stage.simulator.faults.thawLag();
    await stage.pass(600);
    expect(created(stage, 2)).toHaveLength(3);
    expect(await ready(stage)).toBe(5);
  });
});

describe("the answer to a start is lost", () => {
  test.each([
    { name: "after its effect", failure: { dropAnswer: true } as const, requests: 1 },
    {
      name: "after its effect, and the operation shows late",
      failure: { dropAnswer: true } as const,
      lag: 30,
      requests: 1,
    },
    {
      name: "with the request: decided again after a minute",
      failure: { dropRequest: true } as const,
      requests: 2,
    },
    { name: "as a 409, after its effect", failure: { status: 409, afterEffect: true } as const, requests: 1 },
  ])("$name", async ({ failure, lag = 0, requests }) => {
    const quirks = { operationsLagSeconds: lag };
    const [stage, ids] = await stageWithDeallocated(2, {
      simulator: demo({ quirks, visibilityLagSeconds: 20 }),
    });
    stage.simulator.faults.failNext({ method: "POST", pathIncludes: "/nodes/start" }, 1, failure);
    await stage.during(stage.push(target("demo", 3, { expirationInterval: DAY })));
    await stage.pass(900);
    expect(starts(stage)).toHaveLength(requests);
    expect(started(stage).toSorted()).toEqual(ids.toSorted());
    expect(created(stage, 2)).toHaveLength(1);
    expect(await ready(stage)).toBe(3);
  });
});

describe("a node that does not start", () => {
  test("refused: its bucket is paused, and the other bucket serves in its place", async () => {
    const [stage, ids] = await stageWithDeallocated(2, { simulator: demo({}, BOTH) });
    const [good = "", broken = ""] = ids;
    stage.simulator.faults.refuseStart(broken, "The disk is gone");
    await stage.during(stage.push(target("demo", 2, { expirationInterval: DAY })));
    await stage.pass(20);
    expect(started(stage)).toEqual([good]);
    expect(created(stage, 2)).toEqual(["Standard_D4s_v5"]);
    const { backoffs } = await stage.state("demo");
    expect(backoffs.map(({ bucket, cause, message }) => [bucket, cause, message])).toEqual([
      ["execute/Standard_F4s_v2", "refused", "execute-2: The disk is gone"],
    ]);
    expect(await why(stage, broken)).toMatch(
      /^deallocated: not started again before .*, as The disk is gone$/,
    );
    await stage.pass(3600);
    expect(starts(stage)).toHaveLength(1);
    expect(await ready(stage)).toBe(2);
  });

  test("refused where there is no other bucket: a new node after the pause, and the broken one is left alone", async () => {
    const [stage, [broken = ""]] = await stageWithDeallocated(1, { simulator: demo() });
    stage.simulator.faults.refuseStart(broken, "The disk is gone");
    await stage.during(stage.push(target("demo", 1, { expirationInterval: DAY })));
    await stage.pass(50);
    expect(created(stage, 1)).toEqual([]);
    await stage.pass(70);
    expect(created(stage, 1)).toHaveLength(1);
    await stage.pass(600);
    expect(starts(stage)).toHaveLength(1);
    expect(await ready(stage)).toBe(1);
  });

  test("accepted, and still Deallocated after the grace: created elsewhere, in words", async () => {
    const [stage, [node = ""]] = await stageWithDeallocated(1, { simulator: demo({}, BOTH) });
    stage.simulator.faults.freezeLag();
    await stage.during(stage.push(target("demo", 1, { expirationInterval: DAY })));
    await stage.pass(890);
    expect(created(stage, 1)).toEqual([]);
    expect(await why(stage, node)).toBe("deallocated, and asked to start for standard/nodearray:execute");
    // The tick at 900 s, whose pause lasts 60 s.
    await stage.pass(40);
    expect(created(stage, 1)).toEqual(["Standard_D4s_v5"]);
    const { backoffs } = await stage.state("demo");
    expect(backoffs.map(({ bucket, cause }) => [bucket, cause])).toEqual([
      ["execute/Standard_F4s_v2", "boot-failed"],
    ]);
    expect(backoffs[0]?.message).toMatch(
      /^execute-1 was still Deallocated 9\d\d s after CycleCloud accepted its start$/,
    );
    expect(starts(stage)).toHaveLength(1);
  });

  test("accepted, and it never gets its VM: stopped at the boot timeout, counted from the start", async () => {
    const [stage, [node = ""]] = await stageWithDeallocated(1, { simulator: demo({}, BOTH) });
    stage.simulator.faults.setCapacity("execute", "Standard_F4s_v2", 0);
    await stage.during(stage.push(target("demo", 1, { expirationInterval: DAY })));
    await stage.pass(3590);
    expect(stage.eventsOf("terminate-accepted")).toEqual([]);
    await stage.pass(130);
    expect(stage.eventsOf("terminate-accepted").map(({ nodeId }) => nodeId)).toEqual([node]);
    expect(created(stage, 1)).toEqual(["Standard_D4s_v5"]);
  });

  test("its quota was given away meanwhile: refused in CycleCloud's words", async () => {
    const [stage] = await stageWithDeallocated(1, {
      simulator: demo({
        quirks: { deallocatedHoldsQuota: false },
        quotas: { family: { standardFSv2Family: 4 }, usedByOthers: {} },
      }),
    });
    stage.simulator.request({
      method: "POST",
      path: "/clusters/demo/nodes/create",
      query: {},
      body: { sets: [{ nodearray: "execute", count: 1, nodeAttributes: { KeepAlive: true } }] },
    });
    await stage.pass(120);
    await stage.during(stage.push(target("demo", 2, { expirationInterval: DAY })));
    await stage.pass(20);
    const { backoffs, plan } = await stage.state("demo");
    expect(backoffs[0]?.message).toBe("execute-1: the quota of family standardFSv2Family was reached");
    expect(plan?.unmetCount).toBe(1);
  });
});

test("a quota full of deallocated nodes does not keep them from being started", async () => {
  const [stage] = await stageWithDeallocated(2, {
    simulator: demo({ quotas: { family: { standardFSv2Family: 8 } } }),
  });
  await stage.during(stage.push(target("demo", 2, { expirationInterval: DAY })));
  await stage.pass(300);
  expect(await ready(stage)).toBe(2);
});

test("CycleCloud's 409 without a word of the id: nothing came of it after a minute, so the bucket rests", async () => {
  const [stage] = await stageWithDeallocated(1, { simulator: demo({}, BOTH) });
  stage.simulator.faults.failNext({ method: "POST", pathIncludes: "/nodes/start" }, 1000, {
    status: 409,
    body: { Message: "locked" },
  });
  await stage.during(stage.push(target("demo", 1, { expirationInterval: DAY })));
  await stage.pass(50);
  expect(created(stage, 1)).toEqual([]);
  await stage.pass(200);
  expect(created(stage, 1)).toEqual(["Standard_D4s_v5"]);
  expect(starts(stage)).toHaveLength(1);
});

describe("an owner that is gone before it sends", () => {
  /** The first start reaches nobody, and nobody hears of it; `ids` are those of all starts. */
  const losing = (ids: unknown[]) => (send: Send) => (request: Parameters<Send>[0]) => {
    if (!request.path.endsWith("/nodes/start")) return send(request);
    ids.push(requestBody.parse(request.body).requestId);
    return ids.length > 1 ? send(request) : new Promise<never>(() => undefined);
  };

  test("another asks for the id, and decides the start again, under an id of its own", async () => {
    const ids: unknown[] = [];
    const [stage, nodes] = await stageWithDeallocated(2, { simulator: demo(), between: losing(ids) });
    stage.send(target("demo", 2, { expirationInterval: DAY }));
    await stage.pass(600);
    expect(started(stage).toSorted()).toEqual(nodes.toSorted());
    expect(new Set(ids).size).toBe(2);
    expect(created(stage, 2)).toEqual([]);
    expect(await ready(stage)).toBe(2);
  });

  test("is not missed by anybody: once nobody needs the nodes, they are not started", async () => {
    const ids: unknown[] = [];
    const [stage] = await stageWithDeallocated(2, { simulator: demo(), between: losing(ids) });
    stage.send(target("demo", 2, { expirationInterval: DAY }));
    await stage.pass(30);
    expect(ids).toHaveLength(1);
    stage.send(target("demo", 0, { expirationInterval: DAY }));
    await stage.pass(600);
    expect(ids).toHaveLength(1);
    expect((await stage.state("demo")).nodes.byPhase).toEqual({ deallocated: 2 });
  });
});

test.each(deathsUpTo(8))(
  "a process that dies $when its request $number: each node is started once, and one is created",
  async (at) => {
    const death = new Death(at);
    const [stage, ids] = await stageWithDeallocated(2, {
      simulator: demo({ visibilityLagSeconds: 15 }),
      between: death.between,
    });
    await stage.pass(10);
    death.arm();
    stage.send(target("demo", 3, { expirationInterval: DAY }));
    await stage.pass(900);
    expect(started(stage).toSorted()).toEqual(ids.toSorted());
    expect(created(stage, 2)).toHaveLength(1);
    expect(await ready(stage)).toBe(3);
    expect(stage.eventsOf("terminate-accepted")).toEqual([]);
  },
);
