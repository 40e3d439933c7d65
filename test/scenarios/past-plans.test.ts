import { expect, test } from "vitest";
import { oneArray, target } from "./clusters.ts";
import { Stage } from "./stage.ts";

const MINUTE = 60;
const DAY = { expirationInterval: 86_400 };

test("what changed something can be explained for as long as is configured, and what changed nothing cannot", async () => {
  const stage = new Stage({
    simulator: oneArray("demo"),
    policy: { planHistorySeconds: 30 * MINUTE, idleTimeoutSeconds: MINUTE },
  });
  await stage.pass(2 * MINUTE);
  expect(await stage.keptPlans("demo")).toEqual([]);
  await stage.during(stage.push(target("demo", 2, DAY)));
  await stage.pass(4 * MINUTE);
  const [first = 0, ...others] = await stage.keptPlans("demo");
  expect(others).toEqual([]);
  const job = { kind: "job", job: "nodearray:execute" } as const;
  expect(await stage.explain("demo", { ...job, plan: first })).toMatchObject({
    kind: "explained",
    body: { plan: first, asked: 2, placed: 2, pending: 2, counts: { created: 2, nodes: 0 } },
  });
  expect(await stage.explain("demo", { ...job, plan: first + 1 })).toEqual({
    kind: "not-kept",
    near: [first],
  });

  expect(await stage.explain("demo", job)).toMatchObject({ body: { expectedReadyAt: undefined } });

  // The number of a plan that knows the first two nodes by name.
  await stage.during(stage.push(target("demo", 3, DAY)));
  await stage.pass(4 * MINUTE);
  const [, second = 0] = await stage.keptPlans("demo");
  const [node] = stage.readyNodes;
  expect(
    await stage.explain("demo", { kind: "node", node: node?.hostname ?? "", plan: second }),
  ).toMatchObject({
    kind: "explained",
    body: {
      plan: second,
      nodeId: node?.nodeId,
      neededBy: ["standard/nodearray:execute"],
      counts: { created: 1, nodes: 2 },
    },
  });

  await stage.pass(40 * MINUTE);
  expect(await stage.keptPlans("demo")).toEqual([]);
  expect(await stage.explain("demo", { ...job, plan: first })).toEqual({ kind: "not-kept", near: [] });
  expect(await stage.explain("demo", job)).toMatchObject({
    kind: "explained",
    body: { asked: 3, placed: 3 },
  });
});

test("a history of no length keeps nothing", async () => {
  const stage = new Stage({ simulator: oneArray("demo"), policy: { planHistorySeconds: 0 } });
  await stage.during(stage.push(target("demo", 2, DAY)));
  await stage.pass(4 * MINUTE);
  expect(stage.readyNodes).toHaveLength(2);
  expect(await stage.keptPlans("demo")).toEqual([]);
});

test("a demand whose nodes boot says about when they are ready", async () => {
  const stage = new Stage({ simulator: oneArray("demo") });
  await stage.during(stage.push(target("demo", 2, DAY)));
  await stage.pass(30);
  const told = await stage.explain("demo", { kind: "job", job: "nodearray:execute" });
  expect(told.kind === "explained" ? told.body.text.split("\n").at(-1) : told).toMatch(
    /^the last of its nodes can be expected in about \d+ s, at 2026-01-01T00:0\d:\d\d.\d+Z$/,
  );
});
