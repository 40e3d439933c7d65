import { describe, expect, test } from "vitest";
import { Bench, createdBy, pick, start, withNodes } from "./fixture.ts";

describe("faults", () => {
  test("the next calls that match fail without effect, then all is well", () => {
    const bench = new Bench();
    bench.simulator.faults.failNext({ method: "POST", pathIncludes: "/create" }, 2, {
      status: 502,
      body: "<html>",
    });
    const set = [{ nodearray: "htc", count: 1 }];
    expect(bench.get("/clusters/demo/status").status).toBe(200);
    expect(bench.create(set)).toMatchObject({ status: 502, body: "<html>" });
    expect(bench.create(set).status).toBe(502);
    expect(bench.nodes()).toEqual([]);
    expect(bench.create(set).status).toBe(202);
  });

  test.each([
    {
      name: "a dropped request has no effect",
      failure: { dropRequest: true },
      cut: true,
      status: 0,
      nodes: 0,
    },
    {
      name: "a dropped answer has had its effect",
      failure: { dropAnswer: true },
      cut: true,
      status: 202,
      nodes: 1,
    },
    {
      name: "an error after the effect",
      failure: { status: 504, afterEffect: true },
      cut: undefined,
      status: 504,
      nodes: 1,
    },
    {
      name: "a late answer is the true one",
      failure: { delayMs: 30 },
      cut: undefined,
      status: 202,
      nodes: 1,
    },
  ] as const)("$name", ({ failure, cut, status, nodes }) => {
    const bench = new Bench();
    bench.simulator.faults.failNext({}, 1, failure);
    const response = bench.create([{ nodearray: "htc", count: 1 }], "r1");
    expect(response.status).toBe(status);
    expect(response.cut).toBe(cut);
    expect(response.delayMs).toBe("delayMs" in failure ? 30 : undefined);
    expect(bench.nodes()).toHaveLength(nodes);
  });

  test("a false empty status shows nothing once, and nothing has changed", () => {
    const bench = withNodes(3);
    bench.simulator.faults.falseEmptyStatus(1);
    const empty = bench.status();
    expect(empty.nodes).toEqual([]);
    expect(empty.nodearrays[0]?.buckets[0]).toMatchObject({ activeCount: 0, activeNodes: [] });
    expect(bench.nodes()).toHaveLength(3);
    expect(bench.bucket("htc")["activeCount"]).toBe(3);
  });

  test("a VM that vanishes takes its node along, at once", () => {
    const bench = withNodes(2);
    bench.simulator.faults.vanish([String(bench.nodes()[0]?.["NodeId"])]);
    expect(pick(bench.nodes(), "Name")).toEqual(["htc-2"]);
    expect(bench.eventsOf("node-gone")).toMatchObject([
      { name: "htc-1", reason: "vanished", at: start + 100_000 },
    ]);
    expect(bench.bucket("htc")["consumedCoreCount"]).toBe(2);
  });

  test("a health event fails a Ready node whose VM runs on", () => {
    const bench = withNodes(1);
    bench.simulator.faults.failNode(String(bench.nodes()[0]?.["NodeId"]), "GPU lost");
    expect(bench.nodes()[0]).toMatchObject({
      Status: "Failed",
      TargetState: "Started",
      StatusMessage: "GPU lost",
      PrivateIp: "10.0.0.4",
    });
    expect(bench.eventsOf("node-failed")).toMatchObject([{ phase: "running", message: "GPU lost" }]);
  });

  test("a node that is shut down from inside is Off, still wanted, and holds its quota and its address", () => {
    const bench = withNodes(1);
    bench.simulator.faults.shutDown(String(bench.nodes()[0]?.["NodeId"]));
    bench.pass(86_400);
    expect(bench.nodes()[0]).toMatchObject({ Status: "Off", TargetState: "Started", PrivateIp: "10.0.0.4" });
    expect(bench.nodes()[0]).not.toHaveProperty("State");
    expect(bench.bucket("htc")).toMatchObject({ activeCount: 1, consumedCoreCount: 2 });
    expect(bench.eventsOf("node-down")).toMatchObject([{ status: "Off", at: start + 100_000 }]);
  });

  test("a node that restarts is Ready again after its time to prepare, also from Off", () => {
    const bench = withNodes(1);
    const id = String(bench.nodes()[0]?.["NodeId"]);
    bench.simulator.faults.shutDown(id);
    bench.simulator.faults.restart(id);
    expect(bench.nodes()[0]).toMatchObject({ Status: "Restarting", TargetState: "Started" });
    bench.pass(59);
    expect(pick(bench.nodes(), "Status")).toEqual(["Restarting"]);
    bench.pass(1);
    expect(pick(bench.nodes(), "Status")).toEqual(["Ready"]);
    expect(bench.eventsOf("node-ready")).toHaveLength(2);
  });

  test("a node that never comes back from its restart can be terminated", () => {
    const bench = withNodes(1);
    const id = String(bench.nodes()[0]?.["NodeId"]);
    bench.simulator.faults.restart(id, { comesBack: false });
    bench.pass(86_400);
    expect(pick(bench.nodes(), "Status")).toEqual(["Restarting"]);
    bench.terminate({ ids: [id] });
    bench.pass(20);
    expect(bench.nodes()).toEqual([]);
  });

  test("neither is done to a node that never was Ready", () => {
    const bench = new Bench();
    bench.create([{ nodearray: "htc", count: 1 }]);
    const id = String(bench.nodes()[0]?.["NodeId"]);
    bench.simulator.faults.shutDown(id);
    bench.simulator.faults.restart(id);
    expect(pick(bench.nodes(), "Status")).toEqual(["Allocation"]);
  });

  test("capacity, validity and cluster state can change while it runs", () => {
    const bench = new Bench();
    const { faults } = bench.simulator;
    const set = [{ nodearray: "htc", count: 5 }];
    faults.setCapacity("htc", "Standard_F2s_v2", 2);
    expect(createdBy(bench.create(set)).sets).toMatchObject([{ added: 2 }]);
    faults.setCapacity("htc", "Standard_F2s_v2", undefined);
    expect(createdBy(bench.create(set)).sets).toMatchObject([{ added: 5 }]);
    faults.setInvalid("htc", "Standard_F2s_v2", "NotActivated", "demo");
    expect(bench.create(set).status).toBe(409);
    expect(bench.bucket("htc")).toMatchObject({ valid: false, activeCount: 7, availableCount: 0 });
    faults.setInvalid("htc", "Standard_F2s_v2", undefined);
    faults.setClusterState("demo", "Terminating", "Terminated");
    expect(bench.create(set).status).toBe(409);
    expect(bench.get("/clusters/demo/status").body).toMatchObject({
      state: "Terminating",
      targetState: "Terminated",
    });
  });

  test("while the lag is frozen no node begins to show", () => {
    const bench = new Bench({ visibilityLagSeconds: 5 });
    bench.simulator.faults.freezeLag();
    bench.create([{ nodearray: "htc", count: 3 }]);
    bench.pass(1000);
    expect(bench.nodes()).toEqual([]);
    bench.simulator.faults.thawLag();
    expect(pick(bench.nodes(), "Status")).toEqual(["Ready", "Ready", "Ready"]);
  });

  test("clear takes back what is planned", () => {
    const bench = withNodes(1);
    bench.simulator.faults.failNext({}, 5, { status: 500 });
    bench.simulator.faults.falseEmptyStatus(5);
    bench.simulator.faults.clear();
    expect(bench.nodes()).toHaveLength(1);
  });

  test.each([
    {
      name: "node",
      act: (bench: Bench) => bench.simulator.faults.vanish(["nope"]),
      text: "no node with the id nope",
    },
    {
      name: "array",
      act: (bench: Bench) => bench.simulator.faults.setCapacity("x", "y", 1),
      text: "no array x with machine type y",
    },
    {
      name: "cluster",
      act: (bench: Bench) => bench.simulator.faults.setClusterState("x", "a", "b"),
      text: "no cluster x, only demo",
    },
  ])("a fault on an unknown $name says so", ({ act, text }) => {
    const bench = new Bench();
    expect(() => act(bench)).toThrow(text);
  });
});
