import { expect, test } from "vitest";
import type { Policy } from "../../src/domain/policy.ts";
import { oneArray, target } from "./clusters.ts";
import { Stage } from "./stage.ts";

const MINUTE = 60;
const TWELVE = target("demo", 12, { expirationInterval: 86_400 });

interface Restore {
  readonly policy?: Partial<Policy>;
  /** Seconds between the restore and the create that the backup does not have. */
  readonly later: number;
  /** Another process goes on after the restore. */
  readonly isNew: boolean;
}

/** The record is backed up while there are ten nodes. Two more are demanded and created, and then the record is restored. */
async function setBack({ policy = {}, later, isNew }: Restore): Promise<Stage> {
  const stage = new Stage({ simulator: oneArray("demo", {}, { visibilityLagSeconds: 30 }), policy });
  await stage.during(stage.push(target("demo", 10, { expirationInterval: 86_400 })));
  await stage.pass(3 * MINUTE);
  const backup = await stage.backUp("demo");
  await stage.during(stage.push(TWELVE));
  await stage.pass(later);
  stage.stopHost();
  await stage.restore(backup);
  stage.startHost({ isNew });
  await stage.during(stage.push(TWELVE));
  await stage.pass(10);
  return stage;
}

test.each([
  { name: "the running process", later: 2, isNew: false },
  { name: "a kept plan", later: 2, isNew: true },
  { name: "the history", policy: { planHistorySeconds: 0 }, later: 70, isNew: true },
])(
  "a record that is set back, and $name knows a higher plan number: it rests its full time, and nothing is made twice",
  async (restore) => {
    const stage = await setBack(restore);
    expect((await stage.state("demo")).health.restingUntil).toBeDefined();
    const [node] = stage.readyNodes;
    if (node === undefined) throw new Error("ten nodes are Ready");
    expect(await stage.during(stage.ask(node))).toBe(503);
    expect(stage.eventsOf("node-created")).toHaveLength(12);
    await stage.pass(4 * MINUTE);
    expect(stage.eventsOf("node-created")).toHaveLength(12);
    expect(await stage.during(stage.ask(node))).toBe(503);
    await stage.pass(2 * MINUTE);
    expect((await stage.state("demo")).health.restingUntil).toBeUndefined();
    expect(await stage.during(stage.ask(node))).toBe(409);
  },
);

test("another process goes on with a record that nobody set back: no rest begins", async () => {
  const stage = new Stage({ simulator: oneArray("demo") });
  await stage.during(stage.push(TWELVE));
  await stage.pass(10 * MINUTE);
  stage.startHost({ isNew: true });
  await stage.pass(2 * MINUTE);
  expect((await stage.state("demo")).health.restingUntil).toBeUndefined();
});
