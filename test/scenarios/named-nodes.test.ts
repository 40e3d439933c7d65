import { expect, test } from "vitest";
import { arrayName } from "../../src/domain/ids.ts";
import type { NodeArrayOptions } from "../../src/simulator/options.ts";
import type { NodearrayMessage } from "../../src/wire/message/message.ts";
import { SENDER_RULE } from "../support/sender-rule.ts";
import { oneArray } from "./clusters.ts";
import { demo, stageWithDeallocated } from "./deallocated-stage.ts";
import type { Send } from "./stage-options.ts";
import { Stage } from "./stage.ts";

/** Targets that name their nodes, from the message to the node and back. */

const DAY = 86_400;
const HTC = "execute";

const ask = (nodearrays: readonly NodearrayMessage[], more: object = {}) => ({
  version: 1 as const,
  cluster: "demo",
  requestSet: "slurm",
  expirationInterval: DAY,
  nodearrays,
  ...more,
});

const names = (NodeNames: string | readonly string[], more: object = {}) =>
  ask([{ Name: HTC, NodeNames, ...more }]);

const stageOf = (array: Partial<NodeArrayOptions> = {}) => new Stage({ simulator: oneArray("demo", array) });

/** The names of all nodes that were ever created, in order. */
const created = (stage: Stage): readonly string[] => stage.eventsOf("node-created").map(({ name }) => name);

const shown = async (stage: Stage) => (await stage.requestSet("demo", "slurm"))?.names ?? [];

/** The names of the nodes that are Ready and not being stopped. */
const ready = (stage: Stage): readonly string[] => {
  const ids = new Map(stage.eventsOf("node-created").map(({ nodeId, name }) => [nodeId, name]));
  return stage.readyNodes.map(({ nodeId }) => ids.get(nodeId) ?? nodeId);
};

/** The host of the only node, or of the first. */
const hostIn = (stage: Stage): string => stage.readyNodes[0]?.hostname ?? "none";

const states = async (stage: Stage) => (await shown(stage)).map(({ name, state }) => `${name} ${state}`);

test("exactly the named nodes come, each is ready, and they go without a wait when their names are taken back", async () => {
  const stage = stageOf();
  await stage.during(stage.push(names(["execute-4", "execute-1"])));
  await stage.pass(20);
  expect(await states(stage)).toEqual(["execute-4 coming", "execute-1 coming"]);
  await stage.pass(400);
  expect(created(stage)).toEqual(["execute-4", "execute-1"]);
  expect(await states(stage)).toEqual(["execute-4 ready", "execute-1 ready"]);
  const schedulerNodes = stage.readyNodes.map(({ hostname }) => ({ hostname, jobs: [], state: "closed" }));
  await stage.during(stage.push(names(["execute-4"], {})));
  for (let i = 0; i < 6; i += 1) {
    await stage.during(stage.push({ ...names(["execute-4"]), schedulerNodes }));
    await stage.pass(20);
  }
  expect(ready(stage)).toEqual(["execute-4"]);
  expect(created(stage)).toHaveLength(2);
});

test("a limit gives room to the first names; the others are refused with the limit, and are made for a newer resume only", async () => {
  const stage = stageOf({ maxCount: 2 });
  await stage.during(stage.push(names("execute-[1-3]", { Since: 1_700_000_000_000 })));
  await stage.pass(300);
  expect(await states(stage)).toEqual(["execute-1 ready", "execute-2 ready", "execute-3 refused"]);
  const [, , refused] = await shown(stage);
  expect(refused).toMatchObject({
    since: 1_700_000_000_000,
    reason: expect.stringContaining("2 of 2 nodes"),
  });
  // There is room again, but the refusal was final for this resume.
  await stage.during(stage.push(names(["execute-2", "execute-3"], { Since: 1_700_000_000_000 })));
  const schedulerNodes = [{ hostname: hostIn(stage), jobs: [], state: "closed" }];
  for (let i = 0; i < 8; i += 1) {
    const again = names(["execute-2", "execute-3"], { Since: 1_700_000_000_000 });
    await stage.during(stage.push({ ...again, schedulerNodes }));
    await stage.pass(25);
  }
  expect(ready(stage)).toEqual(["execute-2"]);
  expect(created(stage)).toEqual(["execute-1", "execute-2"]);
  const retried = [
    { Name: HTC, NodeNames: ["execute-2"] },
    { Name: HTC, NodeNames: ["execute-3"], Since: 1_700_000_100_000 },
  ];
  await stage.during(stage.push(ask(retried)));
  await stage.pass(400);
  expect(await states(stage)).toEqual(["execute-2 ready", "execute-3 ready"]);
});

test("names that one job needs together are all refused where one has no room, and none is created", async () => {
  const stage = stageOf({ maxCount: 2 });
  await stage.during(stage.push(names("execute-[1-3]", { Together: true })));
  await stage.pass(60);
  expect(await states(stage)).toEqual(["execute-1 refused", "execute-2 refused", "execute-3 refused"]);
  expect(created(stage)).toEqual([]);
});

test.each([
  {
    what: "an unknown node array",
    entry: { Name: "exekute" },
    reason: 'node array "exekute" does not exist',
  },
  {
    what: "a size that the array does not offer",
    entry: { Name: HTC, MachineType: "Standard_F2s_v2" },
    reason: "offers none of Standard_F2s_v2",
  },
])("$what is refused with that, and nothing is asked of CycleCloud", async ({ entry, reason }) => {
  const stage = stageOf();
  await stage.during(stage.push(ask([{ ...entry, NodeNames: ["n-1"] }])));
  await stage.pass(60);
  const [refused] = await shown(stage);
  expect(refused).toMatchObject({ name: "n-1", state: "refused", reason: expect.stringContaining(reason) });
  expect(stage.sent.filter(({ path }) => path.endsWith("/nodes/create"))).toEqual([]);
});

test("a name whose old node still terminates is coming, and is made when that has gone", async () => {
  const stage = stageOf();
  await stage.during(stage.push(names(["execute-7"])));
  await stage.pass(300);
  const [{ nodeId = "" } = {}] = await shown(stage);
  await stage.during(stage.push(ask([])));
  await stage.pass(90);
  stage.simulator.request({
    method: "POST",
    path: "/clusters/demo/nodes/terminate",
    query: {},
    body: { ids: [nodeId] },
  });
  await stage.pass(2);
  await stage.during(stage.push(names(["execute-7"])));
  await stage.pass(5);
  const [waits] = await shown(stage);
  expect(waits).toMatchObject({ state: "coming", reason: expect.stringContaining("old node") });
  await stage.pass(400);
  expect(await states(stage)).toEqual(["execute-7 ready"]);
  expect(created(stage)).toEqual(["execute-7", "execute-7"]);
});

test("a node that was Ready and that somebody stops has failed, and is not made again for the same resume", async () => {
  const stage = stageOf();
  await stage.during(stage.push(names(["execute-7"], { Since: 1_700_000_000_000 })));
  await stage.pass(300);
  const [{ nodeId = "" } = {}] = await shown(stage);
  stage.simulator.request({
    method: "POST",
    path: "/clusters/demo/nodes/terminate",
    query: {},
    body: { ids: [nodeId] },
  });
  await stage.pass(300);
  const [failed] = await shown(stage);
  expect(failed).toMatchObject({
    state: "failed",
    since: 1_700_000_000_000,
    reason: expect.stringContaining("Ready"),
  });
  expect(created(stage)).toHaveLength(1);
  await stage.during(stage.push(names(["execute-7"], { Since: 1_700_000_200_000 })));
  await stage.pass(300);
  expect(await states(stage)).toEqual(["execute-7 ready"]);
});

/** A stage on which another tool takes a name just before our first create arrives. `words`: how CycleCloud refuses a taken name. */
function stageWithTaken(name: string, words?: string): Stage {
  let isTaken = false;
  return new Stage({
    simulator: oneArray("demo"),
    between: (send: Send) => async (request) => {
      if (!request.path.endsWith("/nodes/create")) return send(request);
      if (!isTaken)
        await send({ ...request, body: { sets: [{ count: 1, nodearray: HTC, nameFormat: name }] } });
      isTaken = true;
      const answer = await send(request);
      return answer.status === 409 && words !== undefined ? { ...answer, body: { message: words } } : answer;
    },
  });
}

const createCalls = (stage: Stage): number =>
  // One was the other tool's.
  stage.sent.filter(({ path }) => path.endsWith("/nodes/create")).length - 1;

test.each([
  { how: "the words name it", words: undefined, calls: 2 },
  { how: "nothing names it", words: "Invalid request", calls: 13 },
])("another tool takes one of 50 names: the others are made, where $how", async ({ words, calls }) => {
  const stage = stageWithTaken("execute-33", words);
  await stage.during(stage.push(names("execute-[1-50]")));
  await stage.pass(600);
  expect(createCalls(stage)).toBeLessThanOrEqual(calls);
  expect(new Set(created(stage)).size).toBe(50);
  expect(created(stage)).toHaveLength(50);
  const all = await shown(stage);
  expect(all.filter(({ state }) => state === "ready")).toHaveLength(50);
  expect(all.filter(({ ours }) => ours === false).map(({ name }) => name)).toEqual(["execute-33"]);
});

test("CycleCloud refuses one of 50 names and does not say which: at most 13 calls, 49 nodes, and one refusal with its words", async () => {
  let createRequests = 0;
  const stage = new Stage({
    simulator: oneArray("demo"),
    between: (send: Send) => (request) => {
      const isRefused = JSON.stringify(request.body ?? "").includes('"execute-33"');
      if (!request.path.endsWith("/nodes/create") || !isRefused) return send(request);
      createRequests += 1;
      return Promise.resolve({ status: 409, headers: {}, body: { message: "Invalid request" } });
    },
  });
  await stage.during(stage.push(names("execute-[1-50]")));
  await stage.pass(900);
  const calls = createRequests + stage.sent.filter(({ path }) => path.endsWith("/nodes/create")).length;
  expect(calls).toBeLessThanOrEqual(13);
  expect(ready(stage)).toHaveLength(49);
  const refused = (await shown(stage)).filter(({ state }) => state !== "ready");
  expect(refused).toMatchObject([
    { name: "execute-33", state: "refused", reason: expect.stringContaining("Invalid request") },
  ]);
});

test("500 names are five requests, each name once", async () => {
  const stage = stageOf();
  await stage.during(stage.push(names("execute-[1-500]")));
  await stage.pass(600);
  expect(stage.sent.filter(({ path }) => path.endsWith("/nodes/create"))).toHaveLength(5);
  expect(new Set(created(stage)).size).toBe(500);
  expect(created(stage)).toHaveLength(500);
  expect(ready(stage)).toHaveLength(500);
}, 60_000);

test("a node that was Ready before a newer resume goes when it is reported closed, and the name is made anew", async () => {
  const stage = stageOf();
  await stage.during(stage.push(names(["execute-7"], { Since: 1_700_000_000_000 })));
  await stage.pass(300);
  const hostname = hostIn(stage);
  const newer = names(["execute-7"], { Since: 1_700_000_200_000 });
  await stage.during(stage.push(newer));
  await stage.pass(60);
  expect(await shown(stage)).toMatchObject([
    { state: "coming", reason: expect.stringContaining("earlier resume") },
  ]);
  expect(ready(stage)).toEqual(["execute-7"]);
  for (let i = 0; i < 8; i += 1) {
    await stage.during(stage.push({ ...newer, schedulerNodes: [{ hostname, jobs: [], state: "closed" }] }));
    await stage.pass(25);
  }
  await stage.pass(300);
  expect(await states(stage)).toEqual(["execute-7 ready"]);
  expect(created(stage)).toEqual(["execute-7", "execute-7"]);
});

test("the first resume that is said of a node changes nothing, and a busy node of an earlier one stays", async () => {
  const stage = stageOf();
  await stage.during(stage.push(names(["execute-7"])));
  await stage.pass(300);
  const hostname = hostIn(stage);
  await stage.during(stage.push(names(["execute-7"], { Since: 1_700_000_000_000 })));
  await stage.pass(60);
  expect(await states(stage)).toEqual(["execute-7 ready"]);
  for (let i = 0; i < 8; i += 1) {
    const newer = names(["execute-7"], { Since: 1_700_000_200_000 });
    await stage.during(
      stage.push({ ...newer, schedulerNodes: [{ hostname, jobs: ["1"], state: "closed" }] }),
    );
    await stage.pass(25);
  }
  expect(ready(stage)).toEqual(["execute-7"]);
  expect(created(stage)).toHaveLength(1);
});

test("two sets name one node: it is made once, and stays until neither names it", async () => {
  const stage = stageOf();
  const schedulerNodes = () =>
    stage.readyNodes.map(({ hostname }) => ({ hostname, jobs: [], state: "closed" }));
  const shim = { ...names(["execute-7", "execute-8"]), requestSet: "slurm-resume-1" };
  await stage.during(stage.push(shim));
  await stage.during(stage.push(names(["execute-7"])));
  await stage.pass(300);
  expect(created(stage)).toEqual(["execute-7", "execute-8"]);
  await stage.during(stage.push({ ...shim, nodearrays: [] }));
  for (let i = 0; i < 6; i += 1) {
    await stage.during(stage.push({ ...names(["execute-7"]), schedulerNodes: schedulerNodes() }));
    await stage.pass(25);
  }
  expect(ready(stage)).toEqual(["execute-7"]);
});

test("a node that asks while a set names it is told to stay", async () => {
  const stage = stageOf();
  await stage.during(stage.push(names(["execute-7"])));
  await stage.pass(300);
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("no node came");
  expect(await stage.during(stage.ask(node))).toBe(409);
  await stage.during(stage.push(ask([])));
  await stage.pass(60);
  expect(await stage.during(stage.ask(node))).toBe(200);
});

test("numbered nodes and named nodes of one array: the names come first, and each node once", async () => {
  const stage = stageOf();
  const mixed = [
    { Name: HTC, TargetCount: 3 },
    { Name: HTC, NodeNames: ["execute-1", "execute-3"] },
  ];
  await stage.during(stage.push(ask(mixed)));
  await stage.pass(400);
  expect(new Set(created(stage)).size).toBe(created(stage).length);
  expect(await states(stage)).toEqual(["execute-1 ready", "execute-3 ready"]);
});

test("an array that the configuration keeps for named nodes: other demand creates nothing there, and is told so", async () => {
  const stage = new Stage({ simulator: oneArray("demo"), policy: { namedArrays: [arrayName(HTC)] } });
  const other = { ...ask([{ Name: HTC, TargetCount: 2 }]), requestSet: "others" };
  await stage.during(stage.push(other));
  await stage.pass(60);
  expect(created(stage)).toEqual([]);
  const told = await stage.requestSet("demo", "others");
  expect(told?.outcomes).toMatchObject([
    { placed: 0, reasons: [expect.stringContaining("by name (named)")] },
  ]);
  await stage.during(stage.push(names(["execute-7"])));
  await stage.pass(300);
  expect(created(stage)).toEqual(["execute-7"]);
  const shared = await stage.requestSet("demo", "others");
  expect(shared?.outcomes).toMatchObject([{ placed: 1 }]);
});

test("an array whose nodes only another rule may name: the message is refused, and stored demand is told so", async () => {
  const slurm = { ...SENDER_RULE, requestSets: ["slurm"], nodeNames: [HTC] };
  const stage = new Stage({ simulator: oneArray("demo"), policy: { senders: [slurm, SENDER_RULE] } });
  await stage.during(stage.push({ ...names(["execute-1"]), requestSet: "evil" }));
  await stage.during(stage.push(names(["execute-2"])));
  await stage.pass(300);
  expect(created(stage)).toEqual(["execute-2"]);
  expect((await stage.requestSet("demo", "evil"))?.names).toBeUndefined();
});

test.each([
  { how: "that keeps them", host: { keep: "in maintenance reservation 7" }, more: () => ({}) },
  { how: "that was read a minute ago", host: {}, more: (now: number) => ({ readAt: now - 60_000 }) },
])("nodes stay by a report $how, and go by the next one without that", async ({ host, more }) => {
  const stage = stageOf();
  await stage.during(stage.push(names(["execute-7"])));
  await stage.pass(300);
  const hostname = hostIn(stage);
  const report = async (entry: object, beside: (now: number) => object) => {
    for (let i = 0; i < 8; i += 1) {
      const schedulerNodes = [{ hostname, jobs: [], state: "closed", ...entry }];
      await stage.during(stage.push({ ...ask([]), schedulerNodes, ...beside(stage.clock.now()) }));
      await stage.pass(25);
    }
  };
  await report(host, more);
  expect(ready(stage)).toEqual(["execute-7"]);
  await report({}, () => ({}));
  expect(ready(stage)).toEqual([]);
});

test("a node that its scheduler keeps is told so when it asks", async () => {
  const stage = stageOf();
  await stage.during(stage.push(names(["execute-7"])));
  await stage.pass(300);
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("no node came");
  const schedulerNodes = [{ hostname: node.hostname, jobs: [], keep: "drained by anna" }];
  await stage.during(stage.push({ ...ask([]), schedulerNodes }));
  await stage.pass(60);
  expect(await stage.during(stage.ask(node))).toBe(409);
  const { nodes } = await stage.state("demo");
  expect(JSON.stringify(nodes)).toContain("its scheduler keeps it: drained by anna");
});

/** Reports of one host, every 25 s. */
async function report(stage: Stage, times: number, host: object, push: object): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    const schedulerNodes = [{ hostname: "execute-7", jobs: [], ...host }];
    await stage.during(stage.push({ ...ask([]), ...push, schedulerNodes }));
    await stage.pass(25);
  }
}

const terminates = (stage: Stage): number =>
  stage.sent.filter(({ path }) => path.endsWith("/nodes/terminate")).length;

test.each([
  {
    what: "is stopped at the second report that calls it closed without a job",
    host: { state: "closed" },
    stops: 1,
  },
  { what: "with a job on it stays", host: { state: "closed", jobs: ["1"] }, stops: 0 },
  { what: "of which no report says closed stays until its boot timeout", host: {}, stops: 0 },
])("a node that was taken back before it was Ready $what", async ({ host, stops }) => {
  const stage = stageOf({ timings: { secondsToPrepare: 1500 } });
  await stage.during(stage.push(names(["execute-7"])));
  await stage.pass(60);
  expect(created(stage)).toEqual(["execute-7"]);
  await report(stage, 1, host, {});
  expect(terminates(stage)).toBe(0);
  await report(stage, 5, host, {});
  expect(terminates(stage)).toBe(stops);
});

test("a node that boots and is reported closed stays while a set names it", async () => {
  const stage = stageOf({ timings: { secondsToPrepare: 1500 } });
  await stage.during(stage.push(names(["execute-7"])));
  await stage.pass(60);
  await report(stage, 6, { state: "closed" }, names(["execute-7"]));
  expect(terminates(stage)).toBe(0);
});

test.each([
  { what: "open", host: { state: "open" }, stops: 0 },
  { what: "nothing", host: {}, stops: 1 },
])(
  "a node that CycleCloud never shows Ready, and of which its scheduler says $what: $stops stops at the boot timeout",
  async ({ host, stops }) => {
    const stage = stageOf({ timings: { secondsToPrepare: 100_000 } });
    await stage.during(stage.push(names(["execute-7"])));
    await report(stage, 160, host, names(["execute-7"]));
    expect(terminates(stage)).toBe(stops);
  },
);

test("a node that its scheduler keeps and does not open takes no new demand, and its name stays ready", async () => {
  const stage = stageOf();
  const other = {
    ...ask([]),
    requestSet: "others",
    jobs: [{ name: "j", iterations: 1, constraints: { ncpus: 1 } }],
  };
  await stage.during(stage.push(names(["execute-7"])));
  await stage.pass(300);
  await report(
    stage,
    1,
    { hostname: hostIn(stage), state: "closed", keep: "drained by anna" },
    names(["execute-7"]),
  );
  await stage.during(stage.push(other));
  await report(
    stage,
    2,
    { hostname: hostIn(stage), state: "closed", keep: "drained by anna" },
    names(["execute-7"]),
  );
  expect(await states(stage)).toEqual(["execute-7 ready"]);
  expect(created(stage)).toHaveLength(2);
  const { nodes } = await stage.state("demo");
  expect(nodes.kept?.count).toBe(1);
  const told = await stage.explain("demo", { kind: "node", node: "execute-7" });
  expect(JSON.stringify(told)).toContain(
    "needed by slurm/nodearray:execute:names; it is not stopped, because its scheduler keeps it: drained by anna",
  );
});

test("a name that a set under another rule holds is refused for others, and their newer resume changes nothing", async () => {
  const rule = (requestSets: readonly string[]) => ({ ...SENDER_RULE, requestSets, nodeNames: [HTC] });
  const stage = new Stage({
    simulator: oneArray("demo"),
    policy: { senders: [rule(["slurm*"]), rule(["other"])] },
  });
  await stage.during(stage.push(names(["execute-7"], { Since: 1_700_000_000_000 })));
  await stage.pass(200);
  const nodeNames = ["execute-7", "execute-8"];
  const newer = ask([{ Name: HTC, NodeNames: nodeNames, Since: 1_700_000_900_000 }], { requestSet: "other" });
  await stage.during(stage.push(newer));
  await stage.pass(200);
  expect(await states(stage)).toEqual(["execute-7 ready"]);
  expect(await shown(stage)).toMatchObject([{ since: 1_700_000_000_000, earlier: undefined }]);
  const told = await stage.requestSet("demo", "other");
  expect(told?.names).toMatchObject([
    {
      name: "execute-7",
      state: "refused",
      nodeId: undefined,
      reason: expect.stringContaining("another rule"),
    },
    { name: "execute-8", state: "ready" },
  ]);
  expect(told?.outcomes).toMatchObject([
    { placed: 1, asked: 2, reasons: [expect.stringContaining("execute-7")] },
  ]);
  // A set of the holder's rule takes over. Then the other one may have it: its resume is newer than the node.
  await stage.during(stage.push({ ...names(["execute-7"]), requestSet: "slurm-resume-1" }));
  await stage.during(stage.push(ask([])));
  await stage.pass(30);
  expect((await stage.requestSet("demo", "other"))?.names?.[0]).toMatchObject({ state: "refused" });
  await stage.during(stage.push(ask([], { requestSet: "slurm-resume-1" })));
  await stage.pass(120);
  expect((await stage.requestSet("demo", "other"))?.names?.[0]).toMatchObject({
    state: "coming",
    earlier: true,
  });
});

test("the deallocated node of a name cannot be started: no other node is made under its name, and the reason is that of its size", async () => {
  const [stage, [id = ""]] = await stageWithDeallocated(1, {
    simulator: demo({}, ["Standard_F4s_v2", "Standard_D4s_v5"]),
  });
  stage.simulator.faults.setInvalid(HTC, "Standard_F4s_v2", "DisabledMachineType");
  await stage.pass(60);
  await stage.during(stage.push(names(["execute-1", "execute-2"])));
  await stage.pass(300);
  expect(created(stage)).toEqual(["execute-1", "execute-2"]);
  expect(await shown(stage)).toMatchObject([
    { name: "execute-1", state: "refused", reason: expect.stringContaining("Standard_F4s_v2") },
    { name: "execute-2", state: "ready" },
  ]);
  stage.simulator.faults.setInvalid(HTC, "Standard_F4s_v2", undefined);
  await stage.pass(60);
  await stage.during(stage.push(names(["execute-1", "execute-2"], { Since: 1_700_000_000_000 })));
  await stage.pass(300);
  expect(stage.eventsOf("start-accepted")).toMatchObject([{ nodeId: id }]);
  expect(await states(stage)).toEqual(["execute-1 ready", "execute-2 ready"]);
});

test.each([
  { what: "has none", array: { maxPlacementGroupSize: 0 }, reason: "has no placement groups here" },
  { what: "has another one", array: { placementGroupId: "own" }, reason: "has no other placement group" },
])(
  "a target names a placement group where the node array $what: refused at once, and CycleCloud is not asked",
  async ({ array, reason }) => {
    const stage = stageOf(array);
    await stage.during(stage.push(names(["execute-1"], { PlacementGroup: "rack" })));
    await stage.pass(30);
    expect(await shown(stage)).toMatchObject([
      { state: "refused", cause: "request", reason: expect.stringContaining(reason) },
    ]);
    expect(stage.sent.filter(({ path }) => path.endsWith("/create"))).toEqual([]);
  },
);
