import { expect, test } from "vitest";
import { oneArray, target } from "./clusters.ts";
import { Stage } from "./stage.ts";

const MINUTE = 60;

/** Twelve nodes are Ready; the record was backed up while there were ten, and is set back to that. */
async function setBack(between: (stage: Stage) => Promise<void>): Promise<Stage> {
  const stage = new Stage({ simulator: oneArray("demo", {}, { visibilityLagSeconds: 30 }) });
  const push = (count: number) =>
    stage.during(stage.push(target("demo", count, { expirationInterval: 86_400 })));
  await push(10);
  await stage.pass(3 * MINUTE);
  const backup = await stage.backUp("demo");
  await push(12);
  await stage.pass(2);
  await stage.restore(backup);
  await between(stage);
  await push(12);
  await stage.pass(10);
  return stage;
}

test.each([
  {
    name: "under a running host, which knows a higher plan number",
    between: async () => undefined,
  },
  {
    name: "while the host is stopped; the history knows a higher plan number",
    between: async (stage: Stage) => {
      stage.stopHost();
      await stage.pass(1);
      stage.startHost({ isNew: true });
    },
  },
])(
  "a record that is set back $name begins a new epoch: it rests, and nothing is made twice",
  async ({ between }) => {
    const stage = await setBack(between);
    expect((await stage.state("demo")).health.restingUntil).toBeDefined();
    const [node] = stage.readyNodes;
    if (node === undefined) throw new Error("ten nodes are Ready");
    expect(await stage.during(stage.ask(node))).toBe(503);
    expect(stage.eventsOf("node-created")).toHaveLength(12);
    await stage.pass(4 * MINUTE);
    expect(stage.eventsOf("node-created")).toHaveLength(12);
    expect(await stage.during(stage.ask(node))).toBe(503);
    await stage.pass(3 * MINUTE);
    expect((await stage.state("demo")).health.restingUntil).toBeUndefined();
    expect(await stage.during(stage.ask(node))).toBe(409);
  },
);
