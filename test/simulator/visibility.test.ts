import { describe, expect, test } from "vitest";
import { Bench, htc, pick, start } from "./fixture.ts";

describe("visibility", () => {
  test("an accepted node shows only after its own lag, in status and in nodes", () => {
    const bench = new Bench({ visibilityLagSeconds: 60, quirks: { operationNodesLag: true } });
    expect(bench.create([{ nodearray: "htc", count: 100 }], "r1").body).toMatchObject({
      sets: [{ added: 100 }],
    });
    bench.pass(30);
    const shown = bench.nodes().length;
    expect(shown).toBeGreaterThan(25);
    expect(shown).toBeLessThan(75);
    expect(bench.bucket("htc")["activeCount"]).toBe(shown);
    expect(bench.get("/clusters/demo/nodes", { request_id: "r1" }).body).toHaveProperty(
      "nodes.length",
      shown,
    );
    bench.pass(30);
    expect(bench.nodes()).toHaveLength(100);
  });

  test("the nodes of an operation are listed at once, although they do not show in a status yet", () => {
    const bench = new Bench({ visibilityLagSeconds: 60 });
    bench.create([{ nodearray: "htc", count: 100 }], "r1");
    expect(bench.nodes().length).toBeLessThan(100);
    expect(bench.get("/clusters/demo/nodes", { request_id: "r1" }).body).toHaveProperty("nodes.length", 100);
  });

  test("a status lists nodes of arrays only; the list of nodes has head nodes, too", () => {
    const headNodes = [{ name: "scheduler", machineType: "Standard_D4s_v3", region: "westeurope" }];
    const bench = new Bench({}, { headNodes });
    bench.create([{ nodearray: "htc", count: 1 }]);
    expect(bench.nodes().map(({ Name }) => Name)).toEqual(["htc-1"]);
    expect(bench.get("/clusters/demo/nodes").body).toMatchObject({
      nodes: [{ Name: "scheduler" }, { Name: "htc-1" }],
    });
  });

  test("limits are enforced on hidden nodes too", () => {
    const bench = new Bench({ visibilityLagSeconds: 600 }, { maxCount: 10 });
    bench.create([{ nodearray: "htc", count: 8 }]);
    expect(bench.create([{ nodearray: "htc", count: 8 }]).body).toMatchObject({ sets: [{ added: 2 }] });
  });

  test("a node that does not change is the same object in two statuses", () => {
    const bench = new Bench();
    bench.create([{ nodearray: "htc", count: 2 }]);
    bench.pass(100);
    const [first, second] = bench.nodes();
    bench.terminate({ ids: [first?.["NodeId"]] });
    const after = bench.nodes();
    expect(after[1]).toBe(second);
    expect(after[0]).not.toBe(first);
  });
});

describe("names", () => {
  test("a name is reused once its node is gone, lowest number first; its id never is", () => {
    const bench = new Bench();
    bench.create([{ nodearray: "htc", count: 3 }]);
    const before = bench.nodes();
    expect(pick(before, "Name")).toEqual(["htc-1", "htc-2", "htc-3"]);
    bench.terminate({ ids: [before[1]?.["NodeId"]] });
    bench.create([{ nodearray: "htc", count: 1 }]);
    expect(pick(bench.nodes(), "Name")).toEqual(["htc-1", "htc-2", "htc-3", "htc-4"]);
    bench.pass(20);
    bench.create([{ nodearray: "htc", count: 2 }]);
    expect(pick(bench.nodes(), "Name")).toEqual(["htc-1", "htc-3", "htc-4", "htc-2", "htc-5"]);
    expect(pick(bench.nodes(), "NodeId")).not.toContain(before[1]?.["NodeId"]);
  });

  test.each([
    {
      name: "a format with an offset",
      set: { count: 2, nameFormat: "big-%d", nameOffset: 7 },
      names: ["big-7", "big-8"],
    },
    {
      name: "a format with padding",
      set: { count: 2, nameFormat: "big-%03d" },
      names: ["big-001", "big-002"],
    },
    { name: "an exact name", set: { count: 1, nameFormat: "htc-42" }, names: ["htc-42"] },
  ])("$name", ({ set, names }) => {
    const bench = new Bench();
    bench.create([{ nodearray: "htc", ...set }]);
    expect(pick(bench.nodes(), "Name")).toEqual(names);
  });

  test("an exact name that exists, or is still terminating, is refused", () => {
    const bench = new Bench();
    const set = { nodearray: "htc", count: 1, nameFormat: "htc-5" };
    expect(bench.create([set]).status).toBe(202);
    expect(bench.create([set]).status).toBe(409);
    bench.terminate({ names: ["htc-5"] });
    expect(bench.create([set]).status).toBe(409);
    bench.pass(20);
    expect(bench.create([set]).status).toBe(202);
  });

  test("host names are reused with their addresses", () => {
    const bench = new Bench();
    bench.create([{ nodearray: "htc", count: 1 }]);
    bench.pass(100);
    const [first] = bench.nodes();
    bench.terminate({ ids: [first?.["NodeId"]] });
    bench.pass(20);
    bench.create([{ nodearray: "htc", count: 1 }]);
    bench.pass(100);
    expect(bench.nodes()[0]).toMatchObject({
      Hostname: first?.["Hostname"],
      PrivateIp: first?.["PrivateIp"],
    });
    expect(bench.nodes()[0]?.["InstanceId"]).not.toBe(first?.["InstanceId"]);
  });
});

describe("events", () => {
  test("a node's life in the log, each event at its own time", () => {
    const configuration = { cyclecloud: { cluster: { autoscale: { stop_enabled: true } } } };
    const bench = new Bench({}, { arrays: [{ ...htc, configuration }] });
    const callback = { cyclecloud: { cluster: { autoscale: { stop_callback: "http://stop" } } } };
    bench.create([{ nodearray: "htc", count: 1, nodeAttributes: { Configuration: callback } }], "r1");
    bench.pass(500);
    const nodeId = bench.nodes()[0]?.["NodeId"];
    bench.terminate({ ids: [nodeId], requestId: "t1" });
    bench.pass(500);
    bench.simulator.advance();
    const about = { cluster: "demo", array: "htc", nodeId, name: "htc-1" };
    const address = { hostname: "ip-0A000004", instanceId: expect.any(String) };
    expect(bench.simulator.log.filter((event) => event.kind !== "status-read")).toEqual([
      {
        kind: "node-created",
        at: start,
        ...about,
        machineType: "Standard_F2s_v2",
        cores: 2,
        spot: false,
        requestId: "r1",
      },
      {
        kind: "create-accepted",
        at: start,
        cluster: "demo",
        requestId: "r1",
        asked: 1,
        added: 1,
        sets: [{ asked: 1, added: 1 }],
      },
      { kind: "node-up", at: start + 40_000, ...about, ...address, privateIp: "10.0.0.4" },
      {
        kind: "node-ready",
        at: start + 100_000,
        ...about,
        ...address,
        configuration: {
          cyclecloud: { cluster: { autoscale: { stop_enabled: true, stop_callback: "http://stop" } } },
        },
      },
      { kind: "terminate-accepted", at: start + 500_000, ...about, requestId: "t1" },
      { kind: "node-gone", at: start + 520_000, ...about, reason: "terminated" },
    ]);
  });

  test("without a log, listeners still hear everything until they leave", () => {
    const bench = new Bench({ keepLog: false });
    const heard: string[] = [];
    const leave = bench.simulator.onEvent((event) => heard.push(event.kind));
    bench.create([{ nodearray: "htc", count: 1 }]);
    leave();
    bench.pass(500);
    bench.simulator.advance();
    expect(heard).toEqual(["node-created", "create-accepted"]);
    expect(bench.simulator.log).toEqual([]);
  });

  test("a refused request and each status read are in the log", () => {
    const bench = new Bench();
    bench.get("/clusters/demo/status");
    bench.create([]);
    expect(bench.simulator.log).toEqual([
      { kind: "status-read", at: start, cluster: "demo", withNodes: false },
      {
        kind: "request-refused",
        at: start,
        method: "POST",
        path: "/clusters/demo/nodes/create",
        status: 409,
        why: "At least one set is required",
      },
    ]);
  });
});
