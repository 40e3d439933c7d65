import { expect, test } from "vitest";
import type { Policy } from "../../src/domain/policy.ts";
import { instant } from "../../src/domain/units.ts";
import { machineType } from "../../src/domain/ids.ts";
import { oneArray, target } from "./clusters.ts";
import { Stage } from "./stage.ts";
import type { StageOptions } from "./stage-options.ts";

/** Each node from the plan that asked for it until it went, through the real doors: messages, ticks, the stop URL. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const F4 = machineType("Standard_F4s_v2");
const PRICES: NonNullable<Policy["prices"]> = {
  currency: "USD",
  locations: new Map([["westeurope", new Map([["standard_f4s_v2", { machineType: F4, onDemand: 0.2 }]])]]),
  proxies: new Map(),
};

function newStage(more: Partial<StageOptions> = {}): Stage {
  const policy = { prices: PRICES, idleTimeoutSeconds: 5 * MINUTE, ...more.policy };
  return new Stage({ simulator: oneArray("demo"), ...more, policy });
}

const long = (count: number) => target("demo", count, { expirationInterval: DAY });
const seconds = (time: string | undefined): number => Date.parse(time ?? "") / 1000;

test("a node's whole life: asked for, Ready, needed, told to stop by its own question, gone; the same when the ledger has forgotten it", async () => {
  const stage = newStage();
  await stage.pass(2 * MINUTE);
  await stage.during(stage.push(long(1)));
  await stage.pass(10 * MINUTE);
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("no node is Ready");
  const [plan] = await stage.keptPlans("demo");
  const running = (await stage.nodeHistory("demo")).rows;
  expect(running).toMatchObject([
    {
      nodeId: node.nodeId,
      name: "execute-1",
      array: "execute",
      countsFor: "execute",
      machineType: "Standard_F4s_v2",
      madeBy: "us",
      phase: "ready",
      askedByPlan: plan,
      requestSets: ["standard"],
      notNeededSince: undefined,
      draining: undefined,
      goneAt: undefined,
      why: undefined,
      pricePerHour: 0.2,
      currency: "USD",
    },
  ]);
  await stage.during(stage.push(long(0)));
  await stage.pass(2 * MINUTE);
  // As the scripts do: 503 until CycleCloud has accepted the stop.
  const asked = stage.clock.now() / 1000;
  await stage.during(stage.ask(node));
  await stage.pass(10 * MINUTE);
  const [gone] = (await stage.nodeHistory("demo")).rows;
  if (gone === undefined) throw new Error("the node has no history");
  expect(gone).toMatchObject({
    nodeId: node.nodeId,
    phase: "gone",
    askedByPlan: plan,
    requestSets: ["standard"],
    draining: "callback",
    why: `plan ${gone.drainingByPlan} stopped it, because it asked to be stopped and was not needed`,
  });
  const moments = [gone.askedAt, gone.firstSeenAt, gone.firstNeededAt, gone.firstReadyAt, gone.lastNeededAt];
  const ends = [gone.notNeededSince, gone.drainingSince, gone.stopAcceptedAt, gone.goneAt];
  const inOrder = [...moments, ...ends].map(seconds);
  expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
  // It boots in 60 s, and an observation a minute shows it.
  expect(seconds(gone.firstReadyAt) - seconds(gone.askedAt)).toBeGreaterThanOrEqual(60);
  expect(seconds(gone.firstReadyAt) - seconds(gone.askedAt)).toBeLessThan(130);
  expect(seconds(gone.drainingSince)).toBeCloseTo(asked, 0);
  const hours = (seconds(gone.goneAt) - seconds(gone.firstSeenAt)) / HOUR;
  expect(gone.hours).toBeCloseTo(hours, 3);
  expect(gone.cost).toBeCloseTo(hours * 0.2, 4);

  // The ledger remembers it for an hour.
  await stage.pass(3 * HOUR);
  expect(await stage.backUp("demo")).toMatchObject({ bodies: { ledger: new Map() } });
  expect((await stage.nodeHistory("demo")).rows).toEqual([gone]);
  for (const name of [node.nodeId, "execute-1", node.hostname.toUpperCase(), node.instanceId]) {
    const told = await stage.explain("demo", { kind: "node", node: name });
    expect(told).toMatchObject({ kind: "explained", body: { nodeId: node.nodeId, history: gone } });
  }
  const told = await stage.explain("demo", { kind: "node", node: "execute-1" });
  const lines = told.kind === "explained" ? told.body.text.split("\n") : [];
  expect(lines).toEqual([
    `node execute-1 of execute, host ${node.hostname} (${node.nodeId}), made for array execute; it was a Standard_F4s_v2`,
    `has been gone since ${gone.goneAt}: ${gone.why}`,
    `asked for ${gone.askedAt} by plan ${plan}, first seen ${gone.firstSeenAt}, Ready ${gone.firstReadyAt}, first needed ${gone.firstNeededAt} by standard, last needed ${gone.lastNeededAt}, told to stop ${gone.drainingSince}`,
    `it was there for ${hours.toFixed(2)} hours and cost ${(hours * 0.2).toFixed(2)} USD`,
  ]);
  expect(await stage.explain("demo", { kind: "node", node: "execute-2" })).toMatchObject({ kind: "unknown" });

  stage.stopHost();
  await stage.pass(30 * DAY);
  stage.startHost({ isNew: true });
  await stage.pass(HOUR);
  expect((await stage.nodeHistory("demo")).rows).toEqual([]);
  expect(await stage.explain("demo", { kind: "node", node: node.nodeId })).toMatchObject({ kind: "unknown" });
});

test("a node that never boots: told to stop at its boot timeout, never Ready", async () => {
  const stage = newStage({
    simulator: oneArray("demo", {}, { neverBootShare: 1 }),
    policy: { bootTimeoutSeconds: 10 * MINUTE },
  });
  await stage.during(stage.push(target("demo", 1, { expirationInterval: 12 * MINUTE })));
  await stage.pass(3 * HOUR);
  const { rows } = await stage.nodeHistory("demo");
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) {
    expect(row).toMatchObject({
      draining: "boot-timeout",
      firstReadyAt: undefined,
      notNeededSince: undefined,
    });
    expect(row.why).toContain("because it was not Ready within its boot timeout");
    expect(seconds(row.drainingSince) - seconds(row.firstSeenAt)).toBeGreaterThanOrEqual(10 * MINUTE);
  }
});

test("a node that a person ends in CycleCloud: the app did not stop it", async () => {
  const stage = newStage();
  await stage.during(stage.push(long(1)));
  await stage.pass(10 * MINUTE);
  const [node] = stage.readyNodes;
  stage.simulator.request({
    method: "POST",
    query: {},
    path: "/clusters/demo/nodes/terminate",
    body: { ids: [node?.nodeId] },
  });
  await stage.pass(3 * HOUR);
  const rows = (await stage.nodeHistory("demo")).rows.filter(({ goneAt }) => goneAt !== undefined);
  expect(rows).toMatchObject([
    {
      nodeId: node?.nodeId,
      draining: undefined,
      drainingSince: undefined,
      why: "this app did not stop it; it was ended in CycleCloud, or its machine was lost or evicted",
    },
  ]);
});

test("a node that another tool made: no plan asked for it; without prices no cost", async () => {
  const stage = new Stage({ simulator: oneArray("demo") });
  await stage.pass(MINUTE);
  stage.simulator.request({
    method: "POST",
    query: {},
    path: "/clusters/demo/nodes/create",
    body: { sets: [{ nodearray: "execute", count: 1 }], requestId: "theirs" },
  });
  await stage.pass(10 * MINUTE);
  const { rows } = await stage.nodeHistory("demo");
  expect(rows).toMatchObject([
    { madeBy: "another tool", phase: "ready", askedAt: undefined, askedByPlan: undefined, requestSets: [] },
  ]);
  expect(rows).toMatchObject([{ firstNeededAt: undefined, pricePerHour: undefined, cost: undefined }]);
  const told = await stage.explain("demo", { kind: "node", node: "execute-1" });
  expect(told).toMatchObject({ body: { history: { madeBy: "another tool" } } });
});

test("the app dies between the ask and its answer: asked for when the plan was made, by its number", async () => {
  let isDead = false;
  const stage = newStage({
    between: (send) => async (request) => {
      const answer = await send(request);
      if (isDead || !request.path.endsWith("/nodes/create")) return answer;
      isDead = true;
      return new Promise(() => undefined);
    },
  });
  await stage.pass(MINUTE);
  stage.send(long(1));
  await stage.pass(20);
  stage.stopHost();
  const { record } = await stage.backUp("demo");
  expect(record).toMatchObject({ intents: [{ sent: "never" }], inFlight: [] });
  stage.startHost({ isNew: true });
  await stage.pass(20 * MINUTE);
  expect(stage.eventsOf("node-created")).toHaveLength(1);
  const { rows } = await stage.nodeHistory("demo");
  const [asked] = record.intents;
  expect(rows).toMatchObject([{ phase: "ready", askedByPlan: asked?.plan, requestSets: ["standard"] }]);
  expect(seconds(rows[0]?.askedAt)).toBe((asked?.committedAt ?? 0) / 1000);
});

test("the process dies before the tick that would keep a node: a later tick keeps it", async () => {
  const stage = newStage();
  await stage.during(stage.push(long(1)));
  await stage.pass(10 * MINUTE);
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("no node is Ready");
  await stage.during(stage.push(long(0)));
  await stage.pass(MINUTE);
  await stage.during(stage.ask(node));
  // Plans by demand show that it has gone. No tick runs, so that nothing is kept.
  stage.stopTimer();
  stage.wakesArrive = "never";
  await stage.pass(50);
  await stage.during(stage.push(long(0)));
  await stage.pass(5 * MINUTE);
  stage.stopHost();
  await stage.pass(20 * MINUTE);
  stage.wakesArrive = "once";
  stage.startHost({ isNew: true });
  stage.startTimer();
  await stage.pass(3 * HOUR);
  expect((await stage.nodeHistory("demo")).rows).toMatchObject([
    { nodeId: node.nodeId, draining: "callback" },
  ]);
});

test("a time: nodes that were there then, in pages", async () => {
  const stage = newStage();
  await stage.during(stage.push(long(5)));
  await stage.pass(10 * MINUTE);
  const half = stage.clock.now();
  await stage.during(stage.push(long(0)));
  await stage.pass(2 * MINUTE);
  for (const node of stage.readyNodes) await stage.during(stage.ask(node));
  await stage.pass(3 * HOUR);
  await stage.during(stage.push(long(2)));
  await stage.pass(10 * MINUTE);
  const names = async (range: Parameters<Stage["nodeHistory"]>[1] = {}) =>
    (await stage.nodeHistory("demo", range)).rows.map(({ phase, nodeId }) => `${phase} ${nodeId}`);
  const all = await names();
  expect(all.map((one) => one.split(" ")[0])).toEqual([...Array(2).fill("ready"), ...Array(5).fill("gone")]);
  expect(await names({ to: half })).toEqual(all.slice(2));
  expect(await names({ from: instant(stage.clock.now() - 2 * HOUR * 1000) })).toEqual(all.slice(0, 2));
  const paged: string[] = [];
  for (let after: string | undefined, pages = 0; pages === 0 || after !== undefined; pages += 1) {
    const page = await stage.nodeHistory("demo", { limit: 3, ...(after === undefined ? {} : { after }) });
    paged.push(...page.rows.map(({ phase, nodeId }) => `${phase} ${nodeId}`));
    after = page.next;
  }
  expect(paged).toEqual(all);
});
