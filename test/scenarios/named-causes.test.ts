import { expect, test } from "vitest";
import type { Policy } from "../../src/domain/policy.ts";
import type { NodeArrayOptions, SimulatorOptions } from "../../src/simulator/options.ts";
import { oneArray } from "./clusters.ts";
import type { Send } from "./stage-options.ts";
import { Stage } from "./stage.ts";

/** What the answer says of a name that has no node, or not its own: for the agent, which acts on it. */

const DAY = 86_400;

const message = (NodeNames: string | readonly string[], more: object = {}, requestSet = "slurm") => ({
  version: 1 as const,
  cluster: "demo",
  requestSet,
  expirationInterval: DAY,
  nodearrays: [{ Name: "execute", NodeNames, ...more }],
});

const stageOf = (
  array: Partial<NodeArrayOptions> = {},
  more: Partial<SimulatorOptions> = {},
  policy: Partial<Policy> = {},
) => new Stage({ simulator: oneArray("demo", array, more), policy });

const namesOf = async (stage: Stage, set = "slurm") => (await stage.requestSet("demo", set))?.names ?? [];

/** What is said of one name, without its array. */
async function said(stage: Stage, name: string, set = "slurm") {
  const found = (await namesOf(stage, set)).find((one) => one.name === name);
  if (found === undefined) throw new Error(`nothing is said of ${name}`);
  return found;
}

/** Nodes of 4 cores. */
const FAMILY = { quotas: { family: { standardFSv2Family: 8 } } };
const REGION = { quotas: { regional: { westeurope: 8 } } };

test.each([
  {
    what: "the quota of the family",
    stage: () => stageOf({}, FAMILY),
    cause: "quota",
    reason: "family quota standardFSv2Family: 8 of 8 cores used, 4 more needed, 0 left",
  },
  {
    what: "the quota of the region",
    stage: () => stageOf({}, REGION),
    cause: "quota",
    reason: "regional quota westeurope: 8 of 8 cores used, 4 more needed, 0 left",
  },
  {
    what: "the maximum of the node array",
    stage: () => stageOf({ maxCount: 2 }),
    cause: "limit",
    reason: "node array execute: 2 of 2 nodes used, 1 more needed, 0 left",
  },
])("$what: the cause holds for everyone, and there is no room", async ({ stage: open, cause, reason }) => {
  const stage = open();
  await stage.during(stage.push(message("execute-[1-3]")));
  await stage.pass(120);
  expect(await said(stage, "execute-3")).toMatchObject({
    state: "refused",
    cause,
    holdsFor: "everyone",
    room: 0,
    until: undefined,
    reason: expect.stringContaining(reason),
  });
});

test("names that one job needs together: all are refused, and there is room for those that could be had", async () => {
  const stage = stageOf({ maxCount: 2 });
  await stage.during(stage.push(message("execute-[1-3]", { Together: true })));
  await stage.pass(60);
  for (const one of await namesOf(stage))
    expect(one).toMatchObject({ state: "refused", cause: "limit", holdsFor: "everyone", room: 2 });
});

test("the room that is left is shared with what the same plan gives to others", async () => {
  const stage = stageOf({ maxCount: 4 });
  await stage.during(
    stage.push({
      ...message("execute-[11-16]", { Together: true }),
      requestSet: "others",
      nodearrays: [{ Name: "execute", TargetCount: 1 }],
    }),
  );
  await stage.during(stage.push(message("execute-[11-16]", { Together: true })));
  await stage.pass(60);
  expect(await said(stage, "execute-11")).toMatchObject({ state: "refused", room: 3 });
});

const caps = (requestSets: Record<string, number>): Partial<Policy> => ({
  caps: {
    requestSets: new Map(Object.entries(requestSets).map(([name, nodes]) => [name, { nodes }])),
    users: new Map(),
  },
});

test("a cap of the set itself holds for everyone who asks through it, and the sentence names no set", async () => {
  const stage = stageOf({}, {}, caps({ slurm: 2 }));
  await stage.during(stage.push(message("execute-[1-3]")));
  await stage.pass(120);
  expect(await said(stage, "execute-3")).toMatchObject({
    state: "refused",
    cause: "cap",
    holdsFor: "everyone",
    room: 0,
    reason: "cap of the request set: 2 of 2 nodes used, 1 more needed, 0 left",
  });
});

test("a cap of another set that names the same node says nothing of this set's other nodes", async () => {
  const stage = stageOf({}, {}, caps({ "slurm-resume-1": 1 }));
  await stage.during(stage.push(message("execute-[1-3]", {}, "slurm-resume-1")));
  await stage.pass(60);
  // The agent takes over what its shim asked for, and the answer is final for this resume.
  await stage.during(stage.push(message("execute-[1-3]")));
  await stage.pass(60);
  const own = await said(stage, "execute-3", "slurm-resume-1");
  expect(own).toMatchObject({ state: "refused", cause: "cap", holdsFor: "everyone" });
  const other = await said(stage, "execute-3");
  expect(other).toMatchObject({ state: "refused", cause: "cap", holdsFor: undefined, room: undefined });
  expect(other.reason).not.toContain("resume");
});

test.each([
  {
    what: "the bucket gives less than was asked for",
    open: () => stageOf({ capacity: { Standard_F4s_v2: 2 } }),
    seconds: 40,
    first: { name: "execute-3", state: "refused", cause: "pause", holdsFor: "everyone", room: 0 },
  },
  {
    what: "nodes do not come up",
    open: () => stageOf({}, { bootFailureShare: 1 }),
    seconds: 100,
    first: { name: "execute-3", state: "failed", cause: "failed", holdsFor: "name", room: undefined },
  },
])(
  "$what, and it pauses: that holds for everyone until the pause ends, then there is room",
  async ({ open, seconds, first }) => {
    const stage = open();
    await stage.during(stage.push(message("execute-[1-3]")));
    await stage.pass(seconds);
    expect(await said(stage, "execute-3")).toMatchObject(first);
    await stage.during(stage.push(message("execute-[1-4]")));
    await stage.pass(10);
    const paused = await said(stage, "execute-4");
    expect(paused).toMatchObject({ state: "refused", cause: "pause", holdsFor: "everyone", room: 0 });
    const end = Date.parse(paused.until ?? "");
    expect(end).toBeGreaterThan(stage.clock.now());
    expect(paused.reason).toContain(`pausing until ${paused.until}`);
    expect(paused.reason?.length).toBeLessThanOrEqual(200);
    await stage.pass((end - stage.clock.now()) / 1000 + 90);
    const after = await said(stage, "execute-4");
    expect(after).toMatchObject({ state: "refused", until: undefined });
    expect(after.room).toBeGreaterThan(0);
  },
);

test("a name that CycleCloud refuses with odd words: the cause holds for it alone, and the words are one short line", async () => {
  const words = `Name execute-2 is not allowed\n\u001B[31m${"x".repeat(300)}`;
  const stage = new Stage({
    simulator: oneArray("demo"),
    between: (send: Send) => (request) =>
      request.path.endsWith("/nodes/create") && JSON.stringify(request.body).includes('"execute-2"')
        ? Promise.resolve({ status: 409, headers: {}, body: { message: words } })
        : send(request),
  });
  await stage.during(stage.push(message("execute-[1-3]")));
  await stage.pass(200);
  const refused = await said(stage, "execute-2");
  expect(refused).toMatchObject({ state: "refused", cause: "refused", holdsFor: "name", room: undefined });
  expect(refused.reason).toMatch(/^[\x20-\x7e]{1,199}…$/);
  expect((await namesOf(stage)).map(({ state }) => state)).toEqual(["ready", "refused", "ready"]);
});

test("a name whose node is not ours is told as it is, with nothing to mark", async () => {
  let isTaken = false;
  const stage = new Stage({
    simulator: oneArray("demo"),
    between: (send: Send) => async (request) => {
      const body = { sets: [{ count: 1, nodearray: "execute", nameFormat: "execute-1" }] };
      if (request.path.endsWith("/nodes/create") && !isTaken) {
        isTaken = true;
        await send({ ...request, body });
      }
      return send(request);
    },
  });
  await stage.during(stage.push(message(["execute-1"])));
  await stage.pass(300);
  expect(await said(stage, "execute-1")).toMatchObject({ state: "ready", ours: false, cause: undefined });
});

test("a name whose old node still terminates is coming, for a cause of its own", async () => {
  const stage = stageOf();
  await stage.during(stage.push(message(["execute-1"])));
  await stage.pass(200);
  const { nodeId = "" } = await said(stage, "execute-1");
  await stage.during(stage.push({ ...message(["execute-1"]), nodearrays: [] }));
  await stage.pass(90);
  stage.simulator.request({
    method: "POST",
    path: "/clusters/demo/nodes/terminate",
    query: {},
    body: { ids: [nodeId] },
  });
  await stage.during(stage.push(message(["execute-1"])));
  await stage.pass(5);
  expect(await said(stage, "execute-1")).toMatchObject({
    state: "coming",
    cause: "old-node",
    holdsFor: "name",
  });
});

test("a node of an earlier resume is told as such, until it has gone", async () => {
  const stage = stageOf();
  await stage.during(stage.push(message(["execute-1"], { Since: 1_700_000_000_000 })));
  await stage.pass(200);
  expect(await said(stage, "execute-1")).toMatchObject({ state: "ready", earlier: undefined });
  const newer = message(["execute-1"], { Since: 1_700_000_200_000 });
  await stage.during(stage.push(newer));
  await stage.pass(20);
  expect(await said(stage, "execute-1")).toMatchObject({ state: "coming", earlier: true, cause: "earlier" });
  const [{ hostname } = { hostname: "none" }] = stage.readyNodes;
  for (let i = 0; i < 8; i += 1) {
    await stage.during(stage.push({ ...newer, schedulerNodes: [{ hostname, jobs: [], state: "closed" }] }));
    await stage.pass(25);
  }
  await stage.pass(300);
  expect(await said(stage, "execute-1")).toMatchObject({
    state: "ready",
    earlier: undefined,
    cause: undefined,
  });
});

test.each([
  { what: "an unknown node array", entry: { Name: "exekute" }, holdsFor: "everyone", room: 0 },
  {
    what: "a size that is not offered",
    entry: { MachineType: "Standard_F2s_v2" },
    holdsFor: "everyone",
    room: 0,
  },
])("$what holds for everyone", async ({ entry, holdsFor, room }) => {
  const stage = stageOf();
  await stage.during(stage.push(message(["n-1"], entry)));
  await stage.pass(60);
  expect(await said(stage, "n-1")).toMatchObject({ state: "refused", cause: "array", holdsFor, room });
});

test("explain node of a name that has no node says what became of it, as the target is explained", async () => {
  const stage = stageOf({ maxCount: 2 });
  await stage.during(stage.push(message("execute-[1-3]")));
  await stage.pass(120);
  const told = await stage.explain("demo", { kind: "node", node: "execute-3" });
  expect(told).toMatchObject({ kind: "explained", body: { kind: "demand", set: "slurm" } });
  expect(JSON.stringify(told)).toMatch(
    /execute-3 refused at [-0-9T:.]+Z: node array execute: 2 of 2 nodes used, 1 more needed, 0 left/,
  );
  expect(await stage.explain("demo", { kind: "node", node: "execute-4" })).toMatchObject({ kind: "unknown" });
  const there = await stage.explain("demo", { kind: "node", node: "execute-1" });
  expect(JSON.stringify(there)).toContain("made by its name in array execute");
  expect(JSON.stringify(there)).toContain("its name is asked for by request set slurm");
});
