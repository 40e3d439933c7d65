import { describe, expect, test } from "vitest";
import { z } from "zod";
import { target } from "./clusters.ts";
import { Death, deathsUpTo } from "./deaths.ts";
import type { Send } from "./stage-options.ts";
import {
  DAY,
  created,
  demo,
  ready,
  stageWithDeallocated,
  started,
  starts,
  why,
} from "./deallocated-stage.ts";

const requestBody = z.object({ requestId: z.string() });

test("nobody needs them: they stay as they are, and the state page says so", async () => {
  const [stage, ids] = await stageWithDeallocated(2, { simulator: demo() });
  await stage.during(stage.push(target("demo", 0, { expirationInterval: DAY })));
  await stage.pass(3 * 3600);
  expect(starts(stage)).toEqual([]);
  expect(stage.eventsOf("terminate-accepted")).toEqual([]);
  expect(await why(stage, ids[0])).toBe(
    "deallocated since 2026-01-01T00:03:00.000Z: would be started when needed; it is terminated at 2026-01-02T00:03:00.000Z; its disks cost money, how much is not configured (prices.deallocated)",
  );
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
  // 9 slots of one core on nodes of 4 cores: 3 nodes.
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

describe("an owner that is gone before it sends", () => {
  /** The first start is lost, and its sender gets no answer. `ids`: those of all starts. */
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
