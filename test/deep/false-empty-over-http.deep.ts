import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocalSystem } from "../../src/local/system.ts";
import { startSystem } from "../../src/local/system.ts";
import { AT_ONCE, oneArray, target } from "../scenarios/clusters.ts";
import {
  askStop,
  countEvents,
  originAtFullMinute,
  put,
  readyNodes,
  stateOf,
  tick,
  until,
  untilSettled,
} from "../scenarios/real.ts";
import { paced } from "../support/patience.ts";

const DAY = 86_400;
const SPEED = paced(30);

describe("a status that falsely says empty, over HTTP and on Azurite: 0 of 200 nodes terminated and 0 created", () => {
  let system: LocalSystem;
  beforeAll(async () => {
    system = await startSystem({
      simulator: oneArray("demo", {}, { timings: AT_ONCE }),
      speed: SPEED,
      origin: originAtFullMinute(SPEED),
      onHostLine: () => undefined,
    });
    await put(system, target("demo", 200, { expirationInterval: DAY }));
    await until("200 nodes are Ready", () => readyNodes(system).length === 200);
    await tick(system, "demo");
    await put(system, target("demo", 200, { expirationInterval: DAY }));
    await untilSettled(system, "demo");
  });
  afterAll(async () => {
    await system.close();
  });

  test.each([
    { name: "once", times: 1 },
    { name: "twice within a minute", times: 2 },
  ])("$name", async ({ times }) => {
    system.simulator.faults.falseEmptyStatus(times);
    expect(await tick(system, "demo")).toBe("planned");
    const [node] = readyNodes(system);
    if (node === undefined) throw new Error("there are 200 nodes");
    expect(await askStop(node)).toBe(503);
    for (let again = 0; again < 3; again += 1) await tick(system, "demo");
    expect(await askStop(node)).toBe(409);
    expect(countEvents(system, "node-created")).toBe(200);
    expect(countEvents(system, "terminate-accepted")).toBe(0);
    expect((await stateOf(system, "demo")).nodes.byPhase).toEqual({ ready: 200 });
  });
});
