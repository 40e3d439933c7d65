import { expect, test } from "vitest";
import { z } from "zod";
import { processorMs } from "../support/processor-time.ts";
import { oneArray, target } from "./clusters.ts";
import type { Send } from "./stage-options.ts";
import { Stage } from "./stage.ts";

const DAY = 86_400;

test("a cluster whose status never answers does not delay another's observation or its nodes", async () => {
  const [quick] = oneArray("quick").clusters;
  const [silent] = oneArray("silent").clusters;
  if (quick === undefined || silent === undefined) throw new Error("each has one cluster");
  const stage = new Stage({
    simulator: { ...oneArray("quick"), clusters: [silent, quick] },
    between: (send) => (request) =>
      request.path.startsWith("/clusters/silent/") ? new Promise(() => undefined) : send(request),
  });
  await stage.during(stage.push(target("quick", 5, { expirationInterval: DAY })));
  await stage.pass(3600);

  const looks = stage.eventsOf("status-read").map(({ at }) => at / 1000);
  const gaps = looks.slice(1).map((at, index) => at - (looks[index] ?? at));
  expect(stage.readyNodes).toHaveLength(5);
  expect(looks.length).toBeGreaterThanOrEqual(60);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(60);
});

test("texts of a cluster that take long to read cost neither it nor another one their nodes", async () => {
  const [good] = oneArray("good").clusters;
  const [bad] = oneArray("bad").clusters;
  if (good === undefined || bad === undefined) throw new Error("each has one cluster");
  const stage = new Stage({
    simulator: { ...oneArray("good"), clusters: [bad, good] },
    between: (send) => async (request) => {
      const answer = await send(request);
      return request.path.startsWith("/clusters/bad/status") ? withLongMemory(answer) : answer;
    },
  });
  const before = processorMs();
  await stage.push(target("bad", 2, { expirationInterval: DAY }));
  await stage.push(target("good", 5, { expirationInterval: DAY }));
  await stage.pass(300);
  expect(processorMs() - before).toBeLessThan(3000);
  expect(stage.readyNodes).toHaveLength(7);
});

/** The same status, with an amount of memory that no expression should meet: of the bucket, of its array, and of 200 nodes. */
function withLongMemory(answer: Awaited<ReturnType<Send>>): Awaited<ReturnType<Send>> {
  const long = (spaces: number): string => `1${" ".repeat(spaces)}x`;
  const body = statusShape.parse(answer.body);
  for (const { nodearray, buckets } of body.nodearrays) {
    nodearray["Memory"] = long(60_000);
    for (const { virtualMachine } of buckets) virtualMachine["memory"] = long(60_000);
  }
  for (let index = 0; index < 200; index += 1)
    body.nodes.push({
      Name: `other-${index}`,
      NodeId: `other-${index}`,
      Template: "other",
      Status: "Started",
      TargetState: "Started",
      Memory: long(8000),
    });
  return { ...answer, body };
}

const statusShape = z.looseObject({
  nodearrays: z.array(
    z.looseObject({
      nodearray: z.record(z.string(), z.unknown()),
      buckets: z.array(z.looseObject({ virtualMachine: z.record(z.string(), z.unknown()) })),
    }),
  ),
  nodes: z.array(z.record(z.string(), z.unknown())),
});
