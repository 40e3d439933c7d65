import { expect, test } from "vitest";
import type { NodearrayMessage } from "../../src/wire/message/message.ts";
import { AT_ONCE, oneArray } from "./clusters.ts";
import { dynamic, from, namesReady, push, settledStage } from "./dynamic-stage.ts";
import type { Stage } from "./stage.ts";

/** docs/protocol.md, Replacing old nodes: a change of attributes counts for new nodes, and idle old ones may be replaced. */

const version = (text: string): Partial<NodearrayMessage> => ({ Configuration: { site: { version: text } } });
const REPLACE = { "replace-when-idle": true };
const execute = (TargetCount: number, more: Partial<NodearrayMessage> = {}): NodearrayMessage => ({
  Name: "execute",
  TargetCount,
  ...more,
});

const arrayIn = async (stage: Stage, name: string) =>
  (await stage.state("demo")).nodearrays.find((one) => one.name === name);

/** A scheduler that reports all hosts each 20 s, these with a job. */
async function report(
  stage: Stage,
  seconds: number,
  entry: NodearrayMessage,
  busy: readonly string[] = [],
  state = "closed",
) {
  const counts: number[] = [];
  for (let at = 0; at < seconds; at += 20) {
    const { nodes } = await stage.state("demo");
    const busyIds = nodes.list.filter(({ name }) => busy.includes(name)).map(({ nodeId }) => nodeId);
    const schedulerNodes = stage.readyNodes.map(({ hostname, nodeId }) => ({
      hostname,
      jobs: busyIds.includes(nodeId) ? ["job1"] : [],
      state,
    }));
    await push(stage, { ...from("standard", [entry]), schedulerNodes });
    await stage.pass(20);
    counts.push(stage.readyNodes.length);
  }
  return counts;
}

test.each([
  ["a dynamic array", (more: Partial<NodearrayMessage>) => dynamic("lab", 3, more), "lab"],
  ["an array of the template", (more: Partial<NodearrayMessage>) => execute(3, more), "execute"],
] as const)(
  "%s: nodes with the attributes of before are named, and stay unless they are to be replaced",
  async (_, entry, name) => {
    const stage = await settledStage();
    await push(stage, from("standard", [entry({})]));
    await stage.pass(130);
    expect((await arrayIn(stage, name))?.oldNodes).toBeUndefined();
    await push(stage, from("standard", [entry(version("2"))]));
    const old = [`${name}-1`, `${name}-2`, `${name}-3`];
    expect(await arrayIn(stage, name)).toMatchObject({ oldNodes: old });
    await report(stage, 1200, entry(version("2")));
    expect(await namesReady(stage)).toEqual(old);
    expect(stage.eventsOf("terminate-accepted")).toEqual([]);

    const counts = await report(stage, 3600, entry({ ...version("2"), ...REPLACE }));
    expect(
      stage
        .eventsOf("terminate-accepted")
        .map((event) => event.name)
        .sort(),
    ).toEqual(old);
    expect(stage.eventsOf("node-created")).toHaveLength(6);
    // One at a time, and its successor comes first.
    expect(Math.min(...counts)).toBe(3);
    expect(Math.max(...counts)).toBe(4);
    const after = stage.eventsOf("node-ready").slice(3);
    expect(after.map(({ configuration }) => configuration["site"])).toEqual(
      old.map(() => ({ version: "2" })),
    );
    expect((await arrayIn(stage, name))?.oldNodes).toBeUndefined();
  },
);

test("a busy node stays, and no more than the others are made", async () => {
  const stage = await settledStage();
  await push(stage, from("standard", [execute(2, version("1"))]));
  await stage.pass(130);
  const changed = execute(2, { ...version("2"), ...REPLACE });
  await report(stage, 3600, changed, ["execute-1"]);
  expect(stage.eventsOf("terminate-accepted").map(({ name }) => name)).toEqual(["execute-2"]);
  expect(stage.eventsOf("node-created")).toHaveLength(3);
  expect(await arrayIn(stage, "execute")).toMatchObject({ oldNodes: ["execute-1"] });
});

test("an idle host that is open takes jobs: nothing is made beside it until it asks", async () => {
  const stage = await settledStage();
  await push(stage, from("standard", [execute(1, version("1"))]));
  await stage.pass(130);
  const changed = execute(1, { ...version("2"), ...REPLACE });
  await report(stage, 1200, changed, [], "open");
  expect(stage.eventsOf("node-created")).toHaveLength(1);
});

test("where no more nodes fit, the idle one goes first", async () => {
  const simulator = oneArray("demo", { maxCount: 2 }, { timings: AT_ONCE });
  const stage = await settledStage({ simulator });
  await push(stage, from("standard", [execute(2, version("1"))]));
  await stage.pass(130);
  const counts = await report(stage, 3600, execute(2, { ...version("2"), ...REPLACE }));
  expect(
    stage
      .eventsOf("terminate-accepted")
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["execute-1", "execute-2"]);
  expect(stage.eventsOf("node-created")).toHaveLength(4);
  expect(Math.min(...counts)).toBe(1);
  expect(Math.max(...counts)).toBe(2);
});

test("without reports a node that asks may go though demand names its array, one until its successor is Ready", async () => {
  const stage = await settledStage();
  await push(stage, from("standard", [execute(2, version("1"))]));
  await stage.pass(130);
  const [one, two] = stage.readyNodes;
  if (one === undefined || two === undefined) throw new Error("two nodes expected");
  await push(stage, from("standard", [execute(2, version("2"))]));
  expect(await stage.during(Promise.all([stage.ask(one), stage.ask(two)]))).toEqual([409, 409]);
  await push(stage, from("standard", [execute(2, { ...version("2"), ...REPLACE })]));
  await stage.pass(60);
  const answers = await stage.during(Promise.all([stage.ask(one), stage.ask(two)]));
  expect(answers.toSorted((a, b) => a - b)).toEqual([200, 409]);
  await stage.pass(10);
  const stays = answers[0] === 200 ? two : one;
  expect(await stage.during(stage.ask(stays))).toBe(409);
  await stage.pass(200);
  expect(await stage.during(stage.ask(stays))).toBe(200);
  await stage.pass(200);
  expect(stage.eventsOf("node-created")).toHaveLength(4);
  expect(await namesReady(stage)).toHaveLength(2);
});

test("nodes that jobs made without attributes are not old", async () => {
  const stage = await settledStage();
  const jobs = [{ name: "1", constraints: { ncpus: 4 } }];
  await push(stage, { ...from("pbs", []), jobs });
  await stage.pass(130);
  await push(stage, from("standard", [execute(1, { ...version("2"), ...REPLACE })]));
  await stage.pass(130);
  expect((await arrayIn(stage, "execute"))?.oldNodes).toBeUndefined();
});
