import { expect, test } from "vitest";
import type { Answer } from "../../src/adapters/cyclecloud/transport.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { MACHINE_TYPES, oneArray, QUICK, target } from "./clusters.ts";
import type { Send } from "./stage-options.ts";
import { HostsStage } from "./hosts-stage.ts";
import { withoutNodes } from "./left-out.ts";
import { isFields } from "../../src/domain/fields.ts";

/** Answers of CycleCloud that lack a part: a field of a record, a node of an answer, a node array of a status. */

const DAY = { expirationInterval: 86_400 };

type Fields = Readonly<Record<string, unknown>>;

/** A cluster whose answers are changed by `lie` while `lies.now` is set. */
function listening(simulator: SimulatorOptions, lie: (send: Send) => Send) {
  const lies = { now: false };
  const stage = new HostsStage({
    simulator,
    between: (send) => (request) => (lies.now ? lie(send) : send)(request),
  });
  return { stage, lies };
}

/** Changes statuses. */
const inStatus =
  (change: (status: Fields) => Fields) =>
  (send: Send): Send =>
  async (request) => {
    const answer: Answer = await send(request);
    if (!request.path.endsWith("/status") || !isFields(answer.body)) return answer;
    return { ...answer, body: change(answer.body) };
  };

const listIn = (status: Fields, name: string): readonly Fields[] => {
  const list: unknown = status[name];
  return Array.isArray(list) ? list.filter(isFields) : [];
};

const withoutInstanceIds = inStatus((status) => ({
  ...status,
  nodes: listIn(status, "nodes").map(({ InstanceId: _gone, ...rest }) => rest),
}));

test("records lose their InstanceId while the node terminates: it is not told to open", async () => {
  const slowly = { timings: { ...QUICK, secondsToTerminate: 900 } };
  const { stage, lies } = listening(oneArray("demo", {}, slowly), withoutInstanceIds);
  stage.push(target("demo", 1, DAY));
  await stage.pass(120);
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("a node is Ready");
  stage.push(target("demo", 0, DAY));
  await stage.pass(30);
  expect(await stage.told(node)).toMatchObject({ status: 200 });
  lies.now = true;
  await stage.pass(130);
  expect(await stage.told(node)).toMatchObject({ status: 200 });
});

test("records lose their InstanceId while the node is needed: it is told so", async () => {
  const { stage, lies } = listening(oneArray("demo"), withoutInstanceIds);
  stage.push(target("demo", 1, DAY));
  // A new record rests for five minutes.
  await stage.pass(310);
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("a node is Ready");
  lies.now = true;
  await stage.pass(130);
  expect(await stage.told(node)).toMatchObject({ status: 409, undrain: true });
});

test("CycleCloud's answer to a stop does not list the node: it hears 503 until a look tells, and is stopped by a later question", async () => {
  const ignoring =
    (send: Send): Send =>
    (request) =>
      request.path.endsWith("/terminate")
        ? Promise.resolve({ status: 202, headers: {}, body: { operationId: "o-1", nodes: [] } })
        : send(request);
  const { stage, lies } = listening(oneArray("demo"), ignoring);
  stage.push(target("demo", 1, DAY));
  await stage.pass(120);
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("a node is Ready");
  stage.push(target("demo", 0, DAY));
  await stage.pass(30);
  lies.now = true;
  expect(await stage.told(node)).toMatchObject({ status: 503, undrain: false });
  lies.now = false;
  await stage.pass(60);
  expect(await stage.told(node)).toMatchObject({ status: 503, undrain: false });
  // A status that began 120 s after the commit shows it wanted: the stop is lost.
  await stage.pass(120);
  expect(stage.count("terminate-accepted")).toBe(0);
  expect(await stage.told(node)).toMatchObject({ status: 200 });
  expect(stage.count("terminate-accepted")).toBe(1);
});

/** Two equal arrays. Jobs go to the first. */
const TWO_ARRAYS: SimulatorOptions = {
  clusters: [
    {
      name: "demo",
      maxCount: 100,
      maxCoreCount: 400,
      arrays: ["alpha", "beta"].map((name) => ({
        name,
        region: "westeurope",
        machineTypes: ["Standard_F4s_v2"],
        maxCount: 50,
      })),
    },
  ],
  machineTypes: MACHINE_TYPES,
  timings: QUICK,
};

/** A status without the array that has nodes, and without its nodes. */
const withoutUsedArray = inStatus((status) => {
  const [used] = listIn(status, "nodes").map(({ Template }) => Template);
  return {
    ...status,
    nodes: listIn(status, "nodes").filter(({ Template }) => Template !== used),
    nodearrays: listIn(status, "nodearrays").filter(({ name }) => name !== used),
  };
});

/** A status without the first five nodes, their names and their counts. */
const withoutFive =
  (send: Send): Send =>
  async (request) => {
    const answer = await send(request);
    return request.path.endsWith("/status")
      ? withoutNodes(answer, (name) => /-[1-5]$/.test(String(name)))
      : answer;
  };

test.each([
  { what: "a node array and its nodes", lacking: withoutUsedArray },
  { what: "five nodes", lacking: withoutFive },
])(
  "two statuses a minute apart lack $what, and the one between them fails: nothing is created again",
  async ({ lacking }) => {
    let seen = 0;
    const lie =
      (send: Send): Send =>
      async (request) => {
        if (!request.path.endsWith("/status") || seen >= 3) return send(request);
        seen += 1;
        return seen === 2 ? { status: 500, headers: {}, body: "" } : lacking(send)(request);
      };
    const { stage, lies } = listening(TWO_ARRAYS, lie);
    const jobs = [{ name: "job", constraints: [{ ncpus: 4 }], iterations: 10 }];
    stage.push({ version: 1, cluster: "demo", jobs, ...DAY });
    await stage.pass(170);
    lies.now = true;
    await stage.pass(600);
    expect(seen).toBe(3);
    expect(stage.count("node-created")).toBe(10);
  },
);

test("one status lacks a node array and its nodes: nothing is created for them elsewhere", async () => {
  const { stage, lies } = listening(TWO_ARRAYS, withoutUsedArray);
  const jobs = [{ name: "job", constraints: [{ ncpus: 4 }], iterations: 10 }];
  stage.push({ version: 1, cluster: "demo", jobs, ...DAY });
  await stage.pass(170);
  expect(stage.readyNodes).toHaveLength(10);
  lies.now = true;
  await stage.pass(40);
  lies.now = false;
  await stage.pass(300);
  expect(stage.count("node-created")).toBe(10);
  expect(stage.count("terminate-accepted")).toBe(0);
});
