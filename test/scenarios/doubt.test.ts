import { describe, expect, test } from "vitest";
import type { Answer } from "../../src/adapters/cyclecloud/transport.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { oneArray, QUICK, target } from "./clusters.ts";
import { playOmissions, withoutNodes } from "./left-out.ts";
import { ORIGIN } from "./stage-options.ts";
import { Stage } from "./stage.ts";
import { isFields } from "../../src/domain/fields.ts";

const DAY = 86_400;

/** Changes the nodes of a status. */
type Change = (nodes: readonly unknown[]) => readonly unknown[];

interface Liar {
  readonly stage: Stage;
  /** Changes all statuses from now on. Undefined: they are true again. */
  readonly lie: (change: Change | undefined) => void;
}

/** A cluster with this many Ready nodes that are needed. 0: no demand yet. */
async function liar(count: number, more: Partial<SimulatorOptions> = {}): Promise<Liar> {
  let lie: Change | undefined;
  const stage = new Stage({
    simulator: oneArray("demo", {}, more),
    between: (send) => async (request) => {
      const answer = await send(request);
      return lie === undefined || !request.path.endsWith("/status") ? answer : changed(answer, lie);
    },
  });
  if (count > 0) {
    await stage.during(stage.push(target("demo", count, { expirationInterval: DAY })));
    await stage.pass(600);
    expect(stage.readyNodes).toHaveLength(count);
  }
  return {
    stage,
    lie: (change) => {
      lie = change;
    },
  };
}

function changed(answer: Answer, change: Change): Answer {
  if (!isFields(answer.body) || !Array.isArray(answer.body["nodes"])) return answer;
  return { ...answer, body: { ...answer.body, nodes: change(answer.body["nodes"]) } };
}

const withoutTargetState: Change = (nodes) =>
  nodes.map((node) => {
    if (!isFields(node)) return node;
    const { TargetState: _gone, ...rest } = node;
    return rest;
  });

const created = (stage: Stage): number => stage.eventsOf("node-created").length;
const stopped = (stage: Stage): number => stage.eventsOf("terminate-accepted").length;

async function troublesOf(stage: Stage, kind: string): Promise<readonly string[]> {
  const { troubles } = await stage.state("demo");
  return troubles.filter((trouble) => trouble.kind === kind).map(({ text }) => text);
}

describe("records without TargetState", () => {
  test("all of them from the first look on: 3 of 20 are replaced once their time is up, and none is stopped", async () => {
    const { stage, lie } = await liar(0);
    lie(withoutTargetState);
    await stage.during(stage.push(target("demo", 20, { expirationInterval: DAY })));
    await stage.pass(2400);
    expect(created(stage)).toBe(20);
    await stage.pass(3 * 3600);
    expect(created(stage)).toBe(23);
    expect(stopped(stage)).toBe(0);
    expect(await troublesOf(stage, "node-unclear")).toHaveLength(1);
  });

  test("all of them from some moment on: 3 of 20 are replaced once their time is up, and none is stopped", async () => {
    const { stage, lie } = await liar(20);
    lie(withoutTargetState);
    await stage.pass(2400);
    expect(created(stage)).toBe(20);
    await stage.pass(3600);
    expect(created(stage)).toBe(23);
    expect(stopped(stage)).toBe(0);
  });

  test("in most of them for nine minutes: the status is not believed, and nothing changes", async () => {
    const { stage, lie } = await liar(20);
    lie((nodes) => [...withoutTargetState(nodes.slice(0, 11)), ...nodes.slice(11)]);
    await stage.pass(540);
    expect((await stage.state("demo")).health.trouble).toEqual({
      kind: "suspicious",
      message:
        "found 11 of 20 node records without a known TargetState, expected it in each; if that continues, it is accepted from 2026-01-01T00:21:00.000Z on",
    });
    lie(undefined);
    await stage.pass(600);
    expect(created(stage)).toBe(20);
    expect((await stage.state("demo")).health.ok).toBe(true);
  });
});

describe("losses that go on (a spot wave)", () => {
  test("half of 100 nodes, then 2 a minute: they are replaced while it goes on", async () => {
    const { stage } = await liar(100);
    stage.simulator.faults.vanish(stage.readyNodes.slice(0, 50).map(({ nodeId }) => nodeId));
    for (let minute = 0; minute < 25; minute += 1) {
      stage.simulator.faults.vanish(stage.readyNodes.slice(0, 2).map(({ nodeId }) => nodeId));
      await stage.pass(60);
      if (minute >= 5) expect(stage.readyNodes.length).toBeGreaterThanOrEqual(90);
    }
    await stage.pass(300);
    expect(created(stage)).toBe(200);
    expect(stage.readyNodes).toHaveLength(100);
    expect(stopped(stage)).toBe(0);
    expect(await troublesOf(stage, "nodes-removed")).toEqual([
      expect.stringContaining("100 nodes were removed in the last hour, and not by the autoscaler"),
    ]);
  });
});

describe("a status that has lost some nodes, while its buckets still name them", () => {
  test.each([30, 49, 51, 99])(
    "%s of 100, once: nothing is created, and a lost node is told to wait",
    async (lost) => {
      const { stage, lie } = await liar(100);
      const [node] = stage.readyNodes;
      if (node === undefined) throw new Error("there are 100 nodes");
      lie((nodes) => nodes.slice(lost));
      await stage.pass(61);
      lie(undefined);
      expect(await stage.during(stage.ask(node))).toBe(503);
      await stage.pass(600);
      expect(created(stage)).toBe(100);
      expect(stage.readyNodes).toHaveLength(100);
      expect(await stage.during(stage.ask(node))).toBe(409);
    },
  );

  test("for two minutes: nothing is created; for five: what it lacks is", async () => {
    const { stage, lie } = await liar(100);
    lie((nodes) => nodes.slice(49));
    await stage.pass(170);
    expect(created(stage)).toBe(100);
    await stage.pass(130);
    expect(created(stage)).toBe(149);
  });
});

describe("a status that leaves out nodes, also of its names and counts", () => {
  // A node that three statuses in a row leave out by chance is taken for gone: in about one such hour of ten, and not in this one.
  test("2 % of 100, drawn anew each time, for an hour: none is made twice", async () => {
    expect(await playOmissions({ seed: 2, nodes: 100, share: 0.02, hours: 1 })).toEqual({
      tooMany: 0,
      toldAndNotStopped: 0,
    });
  });

  test("ten of 20, for 50 s in which demand brings an observation each 8 s: none is made twice", async () => {
    const from = ORIGIN + 610_000;
    const stage = new Stage({
      simulator: oneArray("demo"),
      between: (send, clock) => async (request) => {
        const answer = await send(request);
        const isLate = clock.now() >= from && clock.now() < from + 50_000;
        if (!isLate || !request.path.endsWith("/status")) return answer;
        return withoutNodes(answer, (name) => /-([1-9]|10)$/.test(String(name)));
      },
    });
    for (const count of [20, 21, 22, 23, 24, 25, 26]) {
      await stage.during(stage.push(target("demo", count, { expirationInterval: DAY })));
      await stage.pass(count === 20 ? 611 : 8);
    }
    await stage.pass(600);
    expect(created(stage)).toBe(26);
  });

  test("a node of a quiet cluster is gone: it is replaced within 95 s of the first status without it", async () => {
    const { stage } = await liar(5);
    const [node] = stage.readyNodes;
    stage.simulator.faults.vanish([node?.nodeId ?? ""]);
    const since = stage.clock.now();
    while (created(stage) < 6 && stage.clock.now() < since + 600_000) await stage.pass(5);
    // The next tick is 60 s later at most.
    expect(stage.clock.now() - since).toBeLessThanOrEqual(155_000);
    expect(stage.readyNodes).toHaveLength(4);
  });
});

describe("nodes that go before they were Ready, and not by us", () => {
  test("their bucket is paused as for nodes that fail, and a trouble says it", async () => {
    const { stage } = await liar(0, { timings: { ...QUICK, secondsToAcquire: 600 } });
    await stage.during(stage.push(target("demo", 30, { expirationInterval: DAY })));
    let gone = 0;
    for (let second = 0; second < 5400; second += 5) {
      // Long enough for an observation to show them.
      const due = stage.eventsOf("node-created").filter(({ at }) => at + 70_000 <= stage.clock.now());
      stage.simulator.faults.vanish(due.slice(gone).map(({ nodeId }) => nodeId));
      gone = due.length;
      await stage.pass(5);
    }
    // After pauses of 60, 120, 240, 480, 960 and 1800 s.
    expect(created(stage)).toBeLessThanOrEqual(7 * 30);
    expect(await troublesOf(stage, "nodes-removed")).toHaveLength(1);
  });

  test("somebody else stops Ready nodes: a trouble counts them", async () => {
    const { stage } = await liar(10);
    const [a, b] = stage.readyNodes.map(({ nodeId }) => nodeId);
    const send = (nodeId: string) =>
      stage.simulator.request({
        method: "POST",
        path: "/clusters/demo/nodes/terminate",
        query: {},
        body: { ids: [nodeId] },
      });
    send(a ?? "");
    send(b ?? "");
    await stage.pass(300);
    expect(created(stage)).toBe(12);
    expect(await troublesOf(stage, "nodes-removed")).toEqual([
      expect.stringContaining("2 nodes were removed in the last hour, and not by the autoscaler"),
    ]);
  });
});
