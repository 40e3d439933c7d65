import { expect, test } from "vitest";
import { AuditFeed } from "../../src/local/play/audit-feed.ts";
import { auditedLimits, clusterFor, simulatorOptions } from "../../src/local/play/cluster.ts";
import { AGENT_TIMES } from "../../src/local/play/play.ts";
import { SchedulerAgent } from "../../src/local/play/scheduler-agent.ts";
import { compressWorkload } from "../../src/local/workload/compressed-workload.ts";
import { SchedulerModel } from "../../src/local/workload/scheduler-model.ts";
import { oneArray, target } from "./clusters.ts";
import { ORIGIN } from "./stage-options.ts";
import { Stage } from "./stage.ts";

const MINUTE = 60;
const DAY = 86_400;

test.each([{ seed: 1 }, { seed: 2 }, { seed: 3 }])(
  "host stopped for 15 minutes under load and started again: no needed node is stopped (seed $seed)",
  async ({ seed }) => {
    const cluster = clusterFor(128, 4);
    const stage = new Stage({ simulator: simulatorOptions(cluster, seed) });
    const feed = new AuditFeed(auditedLimits(cluster));
    const scheduler = new SchedulerModel({
      maxSlots: 128,
      observer: { hostBusy: (event) => feed.busy(event), hostIdle: (event) => feed.idle(event) },
    });
    const { jobs } = compressWorkload({ jobs: 150, seed, hours: 1.5, maxProcessors: 128 });
    const agent = new SchedulerAgent(
      scheduler,
      jobs,
      {
        push: async (message) => stage.send(message),
        askStop: async (stopUrl, { instance }) => ({
          status: await stage.ask({ stopUrl, instanceId: instance }),
        }),
      },
      { cluster: cluster.name, requestSet: "standard", ...AGENT_TIMES },
      ORIGIN,
      (at, slots, expiresAt) => feed.auditor.demand({ at, slots, expiresAt }),
    );
    stage.simulator.onEvent((event) => {
      if (feed.handle(event, scheduler)) agent.touch();
    });
    stage.join(agent);

    await stage.pass(40 * MINUTE);
    while (stage.readyNodes.length <= 4) await stage.pass(MINUTE);
    stage.stopHost();
    await stage.pass(15 * MINUTE);
    stage.startHost();
    await stage.pass(12 * 60 * MINUTE);

    const audit = feed.auditor.report(stage.clock.now());
    expect(audit.busyNodesStopped).toBe(0);
    expect(audit.limitsExceeded).toBe(0);
    expect(audit.nodesBeyondDemand).toBe(0);
    expect(scheduler.statistics().completed).toBe(150);
    expect(stage.readyNodes).toEqual([]);
  },
);

test("after 15 minutes without the host an idle node is told to wait while demand is unknown, and to stay or go when it is known", async () => {
  const stage = new Stage({ simulator: oneArray("demo") });
  await stage.during(stage.push(target("demo", 10, { expirationInterval: 300 })));
  await stage.pass(5 * MINUTE - 10);
  await stage.during(stage.push(target("demo", 10, { expirationInterval: 300 })));
  await stage.pass(20);
  const [first, second] = stage.readyNodes;
  if (first === undefined || second === undefined) throw new Error("ten nodes are Ready");
  expect(await stage.during(stage.ask(first))).toBe(409);

  stage.stopHost();
  await stage.pass(15 * MINUTE + 20);
  expect(await stage.ask(first)).toBe(0);
  stage.startHost();
  // Before the first observation: the last one is too old.
  expect(await stage.during(stage.ask(first))).toBe(503);
  await stage.pass(30);
  expect((await stage.state("demo")).health.restingUntil).toBeDefined();
  // After it: no scheduler has said yet what is needed.
  expect(await stage.during(stage.ask(first))).toBe(503);
  await stage.during(stage.push(target("demo", 9, { expirationInterval: DAY })));
  await stage.pass(10);
  expect((await stage.state("demo")).health.restingUntil).toBeUndefined();
  expect(await stage.during(stage.ask(first))).toBe(200);
  expect(await stage.during(stage.ask(second))).toBe(409);
  expect(stage.eventsOf("terminate-accepted").map(({ nodeId }) => nodeId)).toEqual([first.nodeId]);
  expect(stage.eventsOf("node-created")).toHaveLength(10);
});

test("demand that lapsed while the host was away and is not pushed again ends the rest after one default interval of 300 s", async () => {
  const stage = new Stage({ simulator: oneArray("demo") });
  await stage.during(stage.push(target("demo", 10, { expirationInterval: 400 })));
  await stage.pass(5 * MINUTE);
  stage.stopHost();
  await stage.pass(15 * MINUTE);
  stage.startHost();
  await stage.pass(4 * MINUTE);
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("ten nodes are Ready");
  expect(await stage.during(stage.ask(node))).toBe(503);
  expect(stage.eventsOf("terminate-accepted")).toEqual([]);
  await stage.pass(2 * MINUTE);
  expect(await stage.during(stage.ask(node))).toBe(200);
});
