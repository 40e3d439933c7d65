import { describe, expect, test } from "vitest";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import { oneArray, target } from "./clusters.ts";
import { HostsStage } from "./hosts-stage.ts";
import type { ReadyNode } from "./ready-nodes.ts";

/** Nodes of one array have the same stop URL: what they can do with it. Two hosts answer. */

const LASTING = { expirationInterval: 86_400 };

/** A cluster with this many Ready nodes of "execute" that the app has observed, after the rest of a new record. */
async function stageOf(
  count: number,
): Promise<{ readonly stage: HostsStage; readonly nodes: readonly ReadyNode[] }> {
  const stage = new HostsStage({ simulator: oneArray("demo") });
  await stage.pass(10);
  stage.push(target("demo", count, LASTING));
  await stage.pass(600);
  expect(stage.readyNodes).toHaveLength(count);
  return { stage, nodes: stage.readyNodes };
}

const nobodyNeeds = (stage: HostsStage, more: Partial<DemandMessage> = {}) =>
  stage.push({ ...target("demo", 0, LASTING), revision: stage.clock.now(), ...more });
const askUnhealthy = (stage: HostsStage, node: ReadyNode, at = 0) =>
  stage.told(node, stage.hosts[at], { reason: "unhealthy" });

describe("a stranger calls the neighbours unhealthy", () => {
  test("nodes at work stay, on whatever host he asks; once their jobs are over they go", async () => {
    const { stage, nodes } = await stageOf(3);
    const report = (jobs: readonly string[]) =>
      stage.push({
        ...target("demo", 3, LASTING),
        revision: stage.clock.now(),
        schedulerNodes: nodes.map(({ hostname }) => ({ hostname, jobs: [...jobs] })),
      });
    report(["job-1"]);
    await stage.pass(5);
    for (const [at, node] of nodes.entries())
      expect(await askUnhealthy(stage, node, at % 2)).toEqual({
        status: 409,
        undrain: false,
        why: "job job-1 is on it",
      });
    await stage.pass(120);
    expect(stage.count("terminate-accepted")).toBe(0);
    report([]);
    await stage.pass(5);
    for (const node of nodes) expect(await askUnhealthy(stage, node)).toMatchObject({ status: 200 });
  });

  test("of ten nodes of which nobody reports three go, also when the host dies in between", async () => {
    const { stage, nodes } = await stageOf(10);
    const statuses: (number | undefined)[] = [];
    for (const [at, node] of nodes.entries()) {
      if (at === 2) stage.hosts[0]?.die();
      statuses.push((await askUnhealthy(stage, node, at < 2 ? 0 : 1))?.status);
    }
    expect(statuses).toEqual([200, 200, 200, 409, 409, 409, 409, 409, 409, 409]);
    await stage.pass(120);
    expect(stage.count("terminate-accepted")).toBe(3);
  });
});

test("a stranger asks for a node with a time that never comes: the node's own question is answered when nobody needs it", async () => {
  const { stage, nodes } = await stageOf(1);
  const [node] = nodes;
  if (node === undefined) throw new Error("there is one node");
  const ask = (asked: number) => stage.told(node, stage.hosts[0], { asked: String(asked) });
  expect(await ask(Number.MAX_SAFE_INTEGER)).toMatchObject({ status: 409 });
  nobodyNeeds(stage);
  await stage.pass(5);
  expect(await ask(stage.clock.now())).toMatchObject({ status: 200 });
});

describe("a node with a token of its own", () => {
  const OWN = { "x-node-token": "8oE1x0bqY2Zkq3rVJb5vNw5cQm1h2TzS" };
  const STRANGER = { "x-node-token": "a-stranger-has-another-one" };

  test("bound at its first call: no neighbour stops it by asking, it stops itself; also after plans and on another host", async () => {
    const { stage, nodes } = await stageOf(2);
    const [mine] = nodes;
    if (mine === undefined) throw new Error("there are two nodes");
    const first = await stage.told(mine, stage.hosts[0], { begin: "no" }, 30, OWN);
    expect(first).toMatchObject({ status: 503, undrain: true, why: "no stop of this node is under way" });
    nobodyNeeds(stage);
    await stage.pass(1200);
    stage.hosts[0]?.die();
    for (const headers of [{}, STRANGER])
      for (const query of [{}, { reason: "unhealthy" }])
        expect(await stage.told(mine, stage.hosts[1], query, 30, headers)).toMatchObject({
          status: 403,
          undrain: true,
        });
    expect(stage.stoppedAt(mine.nodeId)).toBeUndefined();
    expect(await stage.told(mine, stage.hosts[1], {}, 30, OWN)).toMatchObject({ status: 200 });
    expect(stage.stoppedAt(mine.nodeId)).toBeDefined();
  });

  test("its neighbour, whose script keeps nothing, goes by a plain question as before", async () => {
    const { stage, nodes } = await stageOf(2);
    const [mine, plain] = nodes;
    if (mine === undefined || plain === undefined) throw new Error("there are two nodes");
    await stage.told(mine, stage.hosts[0], { begin: "no" }, 30, OWN);
    nobodyNeeds(stage);
    await stage.pass(5);
    expect(await stage.told(plain, stage.hosts[1])).toMatchObject({ status: 200 });
    expect(stage.stoppedAt(plain.nodeId)).toBeDefined();
  });
});
