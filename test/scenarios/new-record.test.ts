import { expect, test } from "vitest";
import { oneArray, target } from "./clusters.ts";
import { ORIGIN } from "./stage-options.ts";
import { Stage } from "./stage.ts";

/** A host that starts with an empty table, beside a cluster that may have nodes. */
function newStage(visibilityLagSeconds = 0): Stage {
  const stage = new Stage({ simulator: oneArray("demo", {}, { visibilityLagSeconds }) });
  stage.stopHost();
  return stage;
}

/** The creates and stops of an autoscaler after it has lost its table. */
function createBefore(stage: Stage, count: number, requestId: string): void {
  const set = { count, nodearray: "execute", definition: { machineType: "Standard_F4s_v2" } };
  stage.simulator.request({
    method: "POST",
    path: "/clusters/demo/nodes/create",
    query: {},
    body: { requestId, sets: [set] },
  });
}

const created = (stage: Stage) =>
  stage.eventsOf("node-created").map(({ at }) => Math.round((at - ORIGIN) / 1000));

test("a create that the lost record has sent does not show yet: the new record waits until it shows, and nothing is made twice", async () => {
  const stage = newStage(30);
  createBefore(stage, 8, "before-1");
  await stage.pass(40);
  createBefore(stage, 12, "before-2");
  stage.startHost();
  await stage.during(stage.push(target("demo", 20, { expirationInterval: 3600 })));
  await stage.pass(600);
  expect(created(stage)).toHaveLength(20);
});

test("what is missing is created after one tick, and the state page says why it waits", async () => {
  const stage = newStage();
  createBefore(stage, 3, "before");
  await stage.pass(10);
  stage.startHost();
  await stage.during(stage.push(target("demo", 5, { expirationInterval: 3600 })));
  await stage.pass(5);
  expect(created(stage)).toEqual([0, 0, 0]);
  expect((await stage.state("demo")).troubles.map(({ text }) => text)).toContain(
    "the autoscaler's record of this cluster is new or was restored, and the cluster has nodes: nothing is created before 2026-01-01T00:01:10.000Z, so that earlier creates show first",
  );
  await stage.pass(100);
  expect(created(stage)).toEqual([0, 0, 0, 70, 70]);
  expect((await stage.state("demo")).troubles).not.toContainEqual(
    expect.objectContaining({ kind: "health", text: expect.stringContaining("nothing is created before") }),
  );
});

test("a new record over an empty cluster creates at once", async () => {
  const stage = newStage();
  await stage.pass(10);
  stage.startHost();
  await stage.during(stage.push(target("demo", 5, { expirationInterval: 3600 })));
  await stage.pass(2);
  expect(created(stage)).toEqual([10, 10, 10, 10, 10]);
  // Nodes of its own requests do not make it wait.
  await stage.pass(10);
  await stage.during(stage.push(target("demo", 7, { expirationInterval: 3600 })));
  await stage.pass(6);
  expect(created(stage)).toHaveLength(7);
});

test("before its first tick a cluster is starting, for five minutes at most: then the timer does not run", async () => {
  const stage = newStage();
  expect(await stage.probe("demo")).toMatchObject({ ok: false, starting: true });
  expect((await stage.state("demo")).health.starting).toBe(true);
  await stage.pass(301);
  expect((await stage.state("demo")).health.starting).toBeUndefined();
  const late = await stage.probe("demo");
  expect(late).toMatchObject({ ok: false });
  expect(late.starting).toBeUndefined();
  stage.startHost();
  await stage.pass(70);
  expect(await stage.probe("demo")).toMatchObject({ ok: true });
});
