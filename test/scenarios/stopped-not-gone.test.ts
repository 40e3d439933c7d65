import { describe, expect, test } from "vitest";
import type { NodeArrayOptions, SimulatorOptions } from "../../src/simulator/options.ts";
import { z } from "zod";
import { oneArray, target } from "./clusters.ts";
import { DAY, created, ready, started, why } from "./deallocated-stage.ts";
import { Stage } from "./stage.ts";
import type { StageOptions } from "./stage-options.ts";

/** docs/protocol.md, Deallocated nodes. */

const DEALLOCATE = { shutdownPolicy: "Deallocate" } as const;

const wants = (stage: Stage, count: number) =>
  stage.during(stage.push(target("demo", count, { expirationInterval: DAY })));

/** All nodes that are up ask to stop, as idle nodes do. */
async function askAll(stage: Stage): Promise<readonly number[]> {
  const asked = String(stage.clock.now());
  return stage.during(Promise.all(stage.readyNodes.map((node) => stage.ask(node, { asked }))));
}

/** A cluster whose nodes were made for demand, ran, and were stopped by their own questions when that was over. */
async function stopped(
  count: number,
  {
    array = {},
    more = {},
    ...options
  }: Partial<StageOptions> & {
    array?: Partial<NodeArrayOptions>;
    more?: Partial<SimulatorOptions>;
  } = {},
): Promise<Stage> {
  const simulator = oneArray("demo", { ...DEALLOCATE, ...array }, more);
  const stage = new Stage({ simulator, ...options });
  await wants(stage, count);
  await stage.pass(120);
  await wants(stage, 0);
  expect(await askAll(stage)).toEqual(Array.from({ length: count }, () => 200));
  await stage.pass(120);
  return stage;
}

const ended = (stage: Stage) => stage.eventsOf("terminate-accepted").map(({ nodeId }) => nodeId);
const kept = (stage: Stage) => stage.eventsOf("deallocate-accepted").map(({ nodeId }) => nodeId);
const ids = (stage: Stage) => stage.eventsOf("node-created").map(({ nodeId }) => nodeId);

describe("a node that is not needed any more", () => {
  test.each([
    { name: "Deallocate", array: DEALLOCATE, phase: { deallocated: 2 } },
    { name: "Terminate", array: { shutdownPolicy: "Terminate" as const }, phase: {} },
  ])("ShutdownPolicy $name: it is done", async ({ array, phase }) => {
    const stage = await stopped(2, { array });
    expect((await stage.state("demo")).nodes.byPhase).toEqual(phase);
    expect(array === DEALLOCATE ? kept(stage) : ended(stage)).toHaveLength(2);
  });

  test("its price is shown where it is configured", async () => {
    const prices = { currency: "EUR", locations: new Map(), proxies: new Map(), deallocated: 0.02 };
    const stage = await stopped(1, { policy: { prices } });
    expect(await why(stage, ids(stage)[0])).toMatch(/; its disks cost 0\.02 EUR an hour$/);
  });

  test("it is shown with since when, until when and at which cost, and is no fault", async () => {
    const stage = await stopped(1);
    expect(await why(stage, ids(stage)[0])).toBe(
      "deallocated since 2026-01-01T00:03:00.000Z: would be started when needed; it is terminated at 2026-01-02T00:03:00.000Z; its disks cost money, how much is not configured (prices.deallocated)",
    );
    expect((await stage.state("demo")).troubles).toEqual([]);
  });

  test("it is started before a new node is created, and ends by its own question again", async () => {
    const stage = await stopped(2);
    await wants(stage, 3);
    await stage.pass(120);
    expect(started(stage).toSorted()).toEqual(ids(stage).slice(0, 2).toSorted());
    expect(created(stage, 2)).toHaveLength(1);
    expect(await ready(stage)).toBe(3);
    await wants(stage, 0);
    expect(await askAll(stage)).toEqual([200, 200, 200]);
    await stage.pass(120);
    expect((await stage.state("demo")).nodes.byPhase).toEqual({ deallocated: 3 });
  });

  test("a scheduler's report that calls it idle has the same effect", async () => {
    const stage = new Stage({ simulator: oneArray("demo", DEALLOCATE) });
    await wants(stage, 1);
    await stage.pass(120);
    const report = () =>
      stage.push({
        ...target("demo", 0, { expirationInterval: DAY }),
        schedulerNodes: stage.readyNodes.map(({ hostname }) => ({ hostname, jobs: [] })),
      });
    for (let minute = 0; minute < 40; minute += 1) {
      await stage.during(report());
      await stage.pass(20);
    }
    expect(kept(stage)).toEqual(ids(stage));
    expect(ended(stage)).toEqual([]);
  });

  test("one that calls itself unhealthy is ended all the same", async () => {
    const stage = new Stage({ simulator: oneArray("demo", DEALLOCATE) });
    await wants(stage, 1);
    await stage.pass(120);
    const [node] = stage.readyNodes;
    if (node === undefined) throw new Error("no node is up");
    expect(await stage.during(stage.ask(node, { reason: "unhealthy" }))).toBe(200);
    expect(ended(stage)).toEqual([node.nodeId]);
  });

  test("so is one that never boots", async () => {
    const simulator = oneArray("demo", DEALLOCATE, { neverBootShare: 1 });
    const stage = new Stage({ simulator, policy: { bootTimeoutSeconds: 300 } });
    await wants(stage, 1);
    await stage.pass(600);
    expect(kept(stage)).toEqual([]);
    expect(ended(stage)).toEqual(ids(stage).slice(0, 1));
  });
});

describe("its end", () => {
  test("after its time, and it is gone", async () => {
    const stage = await stopped(2);
    await stage.pass(DAY - 300);
    expect(ended(stage)).toEqual([]);
    // A cluster without demand is observed each quarter of an hour.
    await stage.pass(1200);
    expect(ended(stage).toSorted()).toEqual(ids(stage).toSorted());
    expect((await stage.state("demo")).nodes.count).toBe(0);
    const told = await stage.explain("demo", { kind: "node", node: ids(stage)[0] ?? "" });
    const { text } = z.object({ body: z.object({ text: z.string() }) }).parse(told).body;
    expect(text).toContain("it had been deallocated for its deallocatedTimeout");
  });

  test("its own time, and never", async () => {
    const policy = { deallocatedTimeout: { every: 600 } } as const;
    const stage = await stopped(1, { policy });
    await stage.pass(720);
    expect(ended(stage)).toEqual(ids(stage));
    const never = await stopped(1, { policy: { deallocatedTimeout: { every: "never" } } });
    await never.pass(2 * DAY);
    expect(ended(never)).toEqual([]);
    expect(await why(never, ids(never)[0])).toContain("it is not terminated: the configuration leaves it");
  });

  test("at once, where it holds the quota of a family that demand of another array needs: as many as are needed", async () => {
    const simulator: SimulatorOptions = {
      ...oneArray("demo"),
      clusters: [
        {
          name: "demo",
          arrays: [
            { name: "execute", region: "westeurope", machineTypes: ["Standard_F4s_v2"], ...DEALLOCATE },
            { name: "other", region: "westeurope", machineTypes: ["Standard_D4s_v5"] },
          ],
        },
      ],
      quotas: { regional: { westeurope: 16 } },
    };
    const stage = await stopped(3, { simulator });
    const other = { version: 1, cluster: "demo", requestSet: "other", expirationInterval: DAY } as const;
    await stage.during(stage.push({ ...other, nodearrays: [{ Name: "other", TargetCount: 3 }] }));
    await stage.pass(300);
    expect(ended(stage)).toHaveLength(2);
    expect(await ready(stage)).toBe(3);
    expect(started(stage)).toEqual([]);
    // The region's quota is used up, and ending the last one would serve no more of a target that four nodes cannot meet.
    await stage.during(stage.push({ ...other, nodearrays: [{ Name: "other", TargetCount: 4 }] }));
    await stage.pass(300);
    expect(ended(stage)).toHaveLength(3);
    expect(await ready(stage)).toBe(4);
  });

  test("not where that would not help", async () => {
    const stage = await stopped(2, {
      more: { quotas: { family: { standardFSv2Family: 8, standardDSv5Family: 0 } } },
      array: { machineTypes: ["Standard_F4s_v2", "Standard_D4s_v5"] },
    });
    const jobs = [{ name: "big", iterations: 1, constraints: [{ ncpus: 1, memory: "12g" }] }];
    await stage.during(stage.push({ version: 1, cluster: "demo", jobs, expirationInterval: DAY }));
    await stage.pass(600);
    expect(ended(stage)).toEqual([]);
  });

  test("not while KeepAlive is set, and not where a person deallocated it in an array that terminates", async () => {
    const stage = await stopped(1, { policy: { deallocatedTimeout: { every: 600 } } });
    stage.simulator.faults.keepAlive(ids(stage)[0] ?? "", true);
    await stage.pass(7200);
    const path = "/clusters/demo/nodes/deallocate";
    const plain = new Stage({ simulator: oneArray("demo") });
    await wants(plain, 1);
    await plain.pass(120);
    plain.simulator.request({ method: "POST", path, query: {}, body: { ids: ids(plain) } });
    await wants(plain, 0);
    await plain.pass(2 * DAY);
    expect(ended(plain)).toEqual([]);
    expect(await why(plain, ids(plain)[0])).toBe("deallocated: would be started when needed");
    expect(ended(stage)).toEqual([]);
    expect(await why(stage, ids(stage)[0])).toBe("stays: KeepAlive is set");
  });
});

describe("a node that is started again", () => {
  const manage = (stage: Stage, action: string) =>
    stage.simulator.request({
      method: "POST",
      path: `/clusters/demo/nodes/${action}`,
      query: {},
      body: { ids: ids(stage) },
    });

  test("by a person, with a job, without demand and without a report: it is never stopped", async () => {
    const stage = await stopped(1);
    await stage.pass(600);
    manage(stage, "start");
    await stage.pass(2 * DAY);
    expect(stage.readyNodes).toHaveLength(1);
    expect(kept(stage)).toHaveLength(1);
    expect(ended(stage)).toEqual([]);
    expect(await why(stage, ids(stage)[0])).toBe(
      "stays: not needed; busy state unknown: no report and no callback yet",
    );
  });

  test("a question from before, which comes when it runs a job, begins no stop", async () => {
    const stage = await stopped(1);
    const asked = String(stage.clock.now() - 100_000);
    manage(stage, "start");
    await stage.pass(90);
    const [node] = stage.readyNodes;
    if (node === undefined) throw new Error("it is not up");
    expect(await stage.during(stage.ask(node, { asked }))).toBe(503);
    // An older script sends no time.
    expect(await stage.during(stage.ask(node))).toBe(503);
    await stage.pass(600);
    expect(kept(stage)).toHaveLength(1);
    expect(await stage.during(stage.ask(node))).toBe(200);
  });

  test("the answer to its deallocation is lost, and another tool starts it at once: the late request counts as ours", async () => {
    const stage = new Stage({ simulator: oneArray("demo", DEALLOCATE) });
    await wants(stage, 1);
    await stage.pass(120);
    stage.simulator.faults.failNext({ method: "POST", pathIncludes: "/nodes/deallocate" }, 1, {
      dropRequest: true,
    });
    await wants(stage, 0);
    const [node] = stage.readyNodes;
    if (node === undefined) throw new Error("no node is up");
    stage.send(target("demo", 0, { expirationInterval: DAY }));
    const answer = stage.ask(node, { asked: String(stage.clock.now()) });
    await stage.pass(1);
    manage(stage, "deallocate");
    await stage.during(answer);
    await stage.pass(40);
    // Ours may still arrive, so that a new node is created.
    await wants(stage, 1);
    await stage.pass(20);
    expect(started(stage)).toEqual([]);
    expect(created(stage, 1)).toHaveLength(1);
    await stage.pass(300);
    await wants(stage, 2);
    await stage.pass(60);
    expect(started(stage)).toEqual([node.nodeId]);
  });

  test("its end is lost, and demand comes: it is not started while the end may arrive", async () => {
    const stage = await stopped(1, { policy: { deallocatedTimeout: { every: 600 } } });
    stage.simulator.faults.failNext({ method: "POST", pathIncludes: "/nodes/terminate" }, 1, {
      dropRequest: true,
    });
    while (stage.sent.every(({ path }) => !path.endsWith("/nodes/terminate"))) await stage.pass(10);
    await wants(stage, 1);
    await stage.pass(20);
    expect(started(stage)).toEqual([]);
    expect(created(stage, 1)).toHaveLength(1);
    await stage.pass(300);
    expect(ended(stage)).toEqual(ids(stage).slice(0, 1));
  });

  test("its boot timeout counts from the start", async () => {
    const stage = await stopped(1, { policy: { bootTimeoutSeconds: 300 } });
    await stage.pass(3600);
    stage.simulator.faults.setCapacity("execute", "Standard_F4s_v2", 0);
    await wants(stage, 1);
    await stage.pass(270);
    expect(ended(stage)).toEqual([]);
    await stage.pass(120);
    expect(ended(stage)).toEqual(ids(stage).slice(0, 1));
  });
});

test("a node that shuts itself down is deallocated, and demand does not start it", async () => {
  const stage = new Stage({ simulator: oneArray("demo", DEALLOCATE) });
  await wants(stage, 1);
  await stage.pass(120);
  const [node = ""] = ids(stage);
  stage.simulator.faults.shutDown(node);
  await wants(stage, 0);
  await stage.pass(1200);
  expect(kept(stage)).toEqual([node]);
  expect(await why(stage, node)).toContain("demand does not start it, because it had shut itself down");
  await wants(stage, 1);
  await stage.pass(60);
  expect(started(stage)).toEqual([]);
  expect(created(stage, 1)).toHaveLength(1);
});

test("a ShutdownPolicy that is neither word is told, and counts as Terminate", async () => {
  const stage = new Stage({
    simulator: oneArray("demo"),
    between: (send) => async (request) => {
      const answer = await send(request);
      const text = JSON.stringify(answer.body ?? null).replaceAll('"Terminate"', '"Hibernate"');
      return { ...answer, body: JSON.parse(text) as unknown };
    },
  });
  await wants(stage, 1);
  await stage.pass(120);
  const { troubles } = await stage.state("demo");
  expect(troubles.filter(({ kind }) => kind === "shutdown-policy")).toHaveLength(1);
  await wants(stage, 0);
  expect(await askAll(stage)).toEqual([200]);
  expect(ended(stage)).toHaveLength(1);
});
