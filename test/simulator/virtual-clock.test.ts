import { describe, expect, test } from "vitest";
import { defaultOptions } from "../../src/simulator/default-options.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import { scaleClock } from "../../src/simulator/clock.ts";
import { Bench, htc, pick, start } from "./fixture.ts";
import { processorMs } from "../support/processor-time.ts";

describe("a virtual clock", () => {
  test("that jumps from event to event sees every change at its time", () => {
    let now = start;
    const simulator = new Simulator(
      { ...defaultOptions, visibilityLagSeconds: 0, timings: { jitter: 0 } },
      { now: () => now },
    );
    const heard: string[] = [];
    simulator.onEvent((event) => heard.push(`${(event.at - start) / 1000} ${event.kind}`));
    expect(simulator.nextEventAt()).toBeUndefined();
    const body = { sets: [{ nodearray: "htc", count: 1 }] };
    simulator.request({ method: "POST", path: "/clusters/demo/nodes/create", query: {}, body });
    for (let next = simulator.nextEventAt(); next !== undefined; next = simulator.nextEventAt()) {
      now = next;
      simulator.advance();
    }
    expect(heard).toEqual(["0 node-created", "0 create-accepted", "90 node-up", "300 node-ready"]);
    expect(now).toBe(start + 300_000);
  });

  test("nodes of one moment move in the order in which they were created", () => {
    const bench = new Bench();
    bench.create([{ nodearray: "htc", count: 50 }]);
    bench.pass(100);
    const names = bench.eventsOf("node-ready").map((event) => event.name);
    expect(names).toEqual(Array.from({ length: 50 }, (_, index) => `htc-${index + 1}`));
  });

  test("a step that a termination made void is not waited for", () => {
    const bench = new Bench();
    bench.create([{ nodearray: "htc", count: 1 }]);
    bench.terminate({ names: ["htc-1"] });
    expect(bench.simulator.nextEventAt()).toBe(start + 20_000);
    bench.pass(20);
    bench.simulator.advance();
    expect(bench.simulator.nextEventAt()).toBeUndefined();
  });

  test("a clock that goes back stands still", () => {
    const bench = new Bench();
    bench.create([{ nodearray: "htc", count: 1 }]);
    bench.pass(100);
    expect(pick(bench.nodes(), "Status")).toEqual(["Ready"]);
    bench.pass(-50);
    bench.terminate({ names: ["htc-1"] });
    expect(bench.eventsOf("terminate-accepted")).toMatchObject([{ at: start + 100_000 }]);
  });

  test("a scaled clock runs from its origin at its speed", () => {
    let real = 5_000;
    const clock = scaleClock(60, start, 5_000, () => real);
    expect(clock.now()).toBe(start);
    real += 1_500;
    expect(clock.now()).toBe(start + 90_000);
  });
});

describe("the seed", () => {
  const play = (seed: number): string => {
    const bench = new Bench({
      seed,
      visibilityLagSeconds: 30,
      bootFailureShare: 0.2,
      neverBootShare: 0.1,
      terminationFailureShare: 0.1,
      timings: { jitter: 0.5 },
    });
    bench.create([
      { nodearray: "htc", count: 30 },
      { nodearray: "hpc", count: 4, placementGroupId: "pg0" },
    ]);
    for (let round = 0; round < 20; round++) {
      bench.pass(30);
      bench.terminate({ names: [`htc-${round + 1}`] });
    }
    return JSON.stringify([bench.status(), bench.simulator.log]);
  };

  test("makes two runs equal in every answer and event", () => {
    expect(play(7)).toBe(play(7));
  });

  test("makes two runs differ", () => {
    expect(play(7)).not.toBe(play(8));
  });

  test("decides how many fail, in the share that was asked for", () => {
    const bench = new Bench({ bootFailureShare: 0.2, neverBootShare: 0.1 });
    bench.create([{ nodearray: "htc", count: 2000 }]);
    bench.pass(1000);
    const statuses = pick(bench.nodes(), "Status");
    const share = (status: string): number => statuses.filter((found) => found === status).length / 2000;
    expect(share("Failed")).toBeGreaterThan(0.17);
    expect(share("Failed")).toBeLessThan(0.23);
    expect(share("Acquiring")).toBeGreaterThan(0.08);
    expect(share("Acquiring")).toBeLessThan(0.12);
    expect(share("Ready") + share("Failed") + share("Acquiring")).toBe(1);
  });
});

describe("ten thousand nodes", () => {
  test("are created, booted, read often and terminated in no time", () => {
    const bench = new Bench({ keepLog: false }, { arrays: [htc] });
    const began = processorMs();
    bench.create([{ nodearray: "htc", count: 10_000 }]);
    bench.pass(100);
    expect(bench.get("/clusters/demo/nodes").body).toHaveProperty("nodes.length", 10_000);
    const beforeReads = processorMs();
    for (let read = 0; read < 100; read++) {
      bench.simulator.faults.keepAlive(String(bench.nodes()[read]?.["NodeId"]), true);
      bench.get("/clusters/demo/status", { nodes: "true" });
    }
    const eachRead = (processorMs() - beforeReads) / 100;
    bench.terminate({ ids: pick(bench.nodes(), "NodeId").slice(100) });
    bench.pass(20);
    expect(bench.nodes()).toHaveLength(100);
    expect(eachRead).toBeLessThan(40);
    expect(processorMs() - began).toBeLessThan(8_000);
  });
});
