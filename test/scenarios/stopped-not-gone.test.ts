import { describe, expect, test } from "vitest";
import type { NodeArrayOptions, SimulatorOptions } from "../../src/simulator/options.ts";
import { oneArray, target } from "./clusters.ts";
import { DAY, created, ready, started, why } from "./deallocated-stage.ts";
import { Stage } from "./stage.ts";
import type { StageOptions } from "./stage-options.ts";

/** docs/protocol.md, Deallocated nodes. */

const DEALLOCATE = { shutdownPolicy: "Deallocate" } as const;

const wants = (stage: Stage, count: number) =>
  stage.during(stage.push(target("demo", count, { expirationInterval: DAY })));

/** All nodes that are up ask to stop, as idle nodes do. */
async function askAll(stage: Stage): Promise<readonly number[]> {
  const asked = String(stage.clock.now());
  return stage.during(Promise.all(stage.readyNodes.map((node) => stage.ask(node, { asked }))));
}

/** A cluster whose nodes were made for demand, ran, and were stopped by their own questions when that was over. */
async function stopped(
  count: number,
  { array = {}, more = {}, ...options }: Partial<StageOptions> & {
    array?: Partial<NodeArrayOptions>;
    more?: Partial<SimulatorOptions>;
  } = {},
): Promise<Stage> {
  const stage = new Stage({ simulator: oneArray("demo", { ...DEALLOCATE, ...array }, more), ...options });
  await wants(stage, count);
  await stage.pass(120);
  await wants(stage, 0);
  expect(await askAll(stage)).toEqual(Array.from({ length: count }, () => 200));
  await stage.pass(120);
  return stage;
}

const ended = (stage: Stage) => stage.eventsOf("terminate-accepted").map(({ nodeId }) => nodeId);
const kept = (stage: Stage) => stage.eventsOf("deallocate-accepted").map(({ nodeId }) => nodeId);
const ids = (stage: Stage) => stage.eventsOf("node-created").map(({ nodeId }) => nodeId);

describe("a node that is not needed any more", () => {
  test.each([
    { name: "Deallocate", array: { shutdownPolicy: "Deallocate" }, phase: { deallocated: 2 } },
    { name: "Terminate", array: { shutdownPolicy: "Terminate" }, phase: {} },
    { name: "no ShutdownPolicy", array: { shutdownPolicy: undefined }, phase: {} },
  ] as const)("$name: what the node array says is done", async ({ array, phase }) => {
    const stage = await stopped(2, { array });
    expect((await stage.state("demo")).nodes.byPhase).toEqual(phase);
    expect(array.shutdownPolicy === "Deallocate" ? kept(stage) : ended(stage)).toHaveLength(2);
  });

  test("it is shown with since when and until when, and is no fault", async () => {
    const stage = await stopped(1);
    expect(await why(stage, ids(stage)[0])).toMatch(
      /^deallocated since 2026-01-01T00:0\d:\d\d.\d+Z: would be started when needed; it is terminated at 2026-01-02T00:0\d:\d\d.\d+Z$/,
    );
    expect((await stage.state("demo")).troubles).toEqual([]);
  });

  test("it is started before a new node is created, and ends by its own question again", async () => {
    const stage = await stopped(2);
    await wants(stage, 3);
    await stage.pass(120);
    expect(started(stage).toSorted()).toEqual(ids(stage).slice(0, 2).toSorted());
    expect(created(stage, 2)).toHaveLength(1);
    expect(await ready(stage)).toBe(3);
    await wants(stage, 0);
    expect(await askAll(stage)).toEqual([200, 200, 200]);
    await stage.pass(120);
    expect((await stage.state("demo")).nodes.byPhase).toEqual({ deallocated: 3 });
  });
});
