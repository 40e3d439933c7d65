import { describe, expect, test } from "vitest";
import { clusterName } from "../../src/domain/ids.ts";
import { oneArray } from "./clusters.ts";
import { ORIGIN, Stage } from "./stage.ts";

const HOUR = 3600;
const holding = (count: number) => ({
  version: 1 as const,
  cluster: "demo",
  expirationInterval: 86_400,
  nodearrays: [{ Name: "execute", TargetCount: count }],
});

const looksAt = (stage: Stage, from = 0): readonly number[] =>
  stage.eventsOf("status-read").map(({ at }) => (at - ORIGIN) / 1000).filter((at) => at >= from);

/** A stage whose cluster "demo" runs one node for an hour. */
async function busy(change: (stage: Stage) => void = () => undefined): Promise<Stage> {
  const stage = new Stage({ simulator: oneArray("demo") });
  await stage.pass(1);
  await stage.push(holding(1));
  change(stage);
  await stage.pass(HOUR);
  return stage;
}

describe("a cluster with demand is looked at once a minute", () => {
  test("by the timer, and a wake message in four minutes finds nothing to do", async () => {
    expect(looksAt(await busy(), 600).length).toBe(51);
  });

  test("by wake messages where the timer is silent", async () => {
    const stage = await busy((one) => one.stopTimer());
    expect(looksAt(stage, 600).length).toBe(50);
  });

  test("by the timer where no wake message arrives", async () => {
    const stage = await busy((one) => (one.wakesArrive = "never"));
    expect(looksAt(stage, 600).length).toBe(51);
  });
});
