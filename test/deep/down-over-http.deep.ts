import { expect, test } from "vitest";
import { startSystem } from "../../src/local/system.ts";
import { AT_ONCE, oneArray, target } from "../scenarios/clusters.ts";
import { countEvents, put, readyNodes, stateOf, tick, until } from "../scenarios/real.ts";
import { paced } from "../support/patience.ts";

const DAY = 86_400;
/** Slow answers only put the end off here, so a busy machine plays at half the speed at least. */
const SPEED = Math.max(30, paced(60));

test("a node shuts itself down, with no demand and no report, in real processes: it is gone after downTimeout", async () => {
  const system = await startSystem({
    simulator: oneArray("demo", {}, { timings: AT_ONCE }),
    speed: SPEED,
    onHostLine: () => undefined,
  });
  try {
    await put(system, target("demo", 4, { expirationInterval: DAY }));
    await until("four nodes are Ready", () => readyNodes(system).length === 4);
    await until("the app has seen them", async () => {
      await tick(system, "demo");
      return (await stateOf(system, "demo")).nodes.byPhase["ready"] === 4;
    });
    await put(system, target("demo", 0, { expirationInterval: DAY }));
    const id = readyNodes(system)[0]?.nodeId ?? "";
    const at = system.clock.now();
    system.simulator.faults.shutDown(id);
    // Its time begins with the first observation that shows it.
    await tick(system, "demo");
    // A machine that stands still for seconds is an outage of the app, and its time begins again.
    await until("the node is gone", () => countEvents(system, "node-gone") === 1, 150);

    const ended = system.simulator.log.filter((event) => event.kind === "terminate-accepted");
    expect(ended.map(({ nodeId }) => nodeId)).toEqual([id]);
    expect(Number(ended[0]?.at) - at).toBeGreaterThanOrEqual(300_000);
    await tick(system, "demo");
    expect(Object.keys((await stateOf(system, "demo")).nodes.byPhase)).toEqual(["ready"]);
  } finally {
    await system.close();
  }
});
