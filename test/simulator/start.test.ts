import { describe, expect, test } from "vitest";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import type { Bench } from "./fixture.ts";
import { htc, pick, withNodes } from "./fixture.ts";

const keeping = { arrays: [{ ...htc, shutdownPolicy: "Deallocate" as const }] };
const manage = (bench: Bench, action: string, body: object) =>
  bench.post(`/clusters/demo/nodes/${action}`, body);
const states = (bench: Bench) =>
  bench.nodes().map((node) => [node["Status"], node["TargetState"], node["State"]]);

/** Nodes of htc that were Ready and have been deallocated. */
function deallocated(count: number, options: Partial<SimulatorOptions> = {}, cluster = {}): Bench {
  const bench = withNodes(count, options, cluster);
  manage(bench, "deallocate", { ids: pick(bench.nodes(), "NodeId") });
  bench.pass(20);
  bench.simulator.advance();
  return bench;
}

describe("deallocate", () => {
  test("a node that is deallocated is Stopping, then Deallocated, and stays listed with its address", () => {
    const bench = withNodes(1);
    const [before] = bench.nodes();
    manage(bench, "deallocate", { names: ["htc-1"] });
    expect(states(bench)).toEqual([["Stopping", "Deallocated", undefined]]);
    bench.pass(20);
    expect(states(bench)).toEqual([["Deallocated", "Deallocated", "Deallocated"]]);
    bench.pass(86_400);
    expect(pick(bench.nodes(), "NodeId")).toEqual([before?.["NodeId"]]);
    expect(pick(bench.nodes(), "PrivateIp")).toEqual([before?.["PrivateIp"]]);
  });

  test.each([
    { policy: "Deallocate" as const, status: ["Deallocated"] },
    { policy: "Terminate" as const, status: [] },
  ])("shutdown goes by the array's ShutdownPolicy: $policy", ({ policy, status }) => {
    const bench = withNodes(1, {}, { arrays: [{ ...htc, shutdownPolicy: policy }] });
    manage(bench, "shutdown", { names: ["htc-1"] });
    bench.pass(20);
    expect(pick(bench.nodes(), "Status")).toEqual(status);
  });

  test("terminate and remove delete what shutdown would keep", () => {
    const bench = withNodes(2, {}, keeping);
    manage(bench, "terminate", { names: ["htc-1"] });
    manage(bench, "remove", { names: ["htc-2"] });
    bench.pass(20);
    expect(bench.nodes()).toEqual([]);
  });

  test("a node with KeepAlive is not deallocated", () => {
    const bench = withNodes(1);
    bench.simulator.faults.keepAlive(String(bench.nodes()[0]?.["NodeId"]), true);
    expect(manage(bench, "deallocate", { names: ["htc-1"] }).body).toMatchObject({
      nodes: [{ status: "Error" }],
    });
    expect(pick(bench.nodes(), "Status")).toEqual(["Ready"]);
  });

  test("a deallocated node is not active, costs nothing, and leaves its capacity to others", () => {
    const arrays = [{ ...htc, capacity: { Standard_F2s_v2: 1 } }];
    const bench = deallocated(1, {}, { arrays });
    // Billed from Preparing, 60 s, and the 20 s of going off.
    const billed = bench.simulator.summarize().nodeHours;
    expect(billed * 3600).toBeCloseTo(80);
    bench.pass(3600);
    expect(bench.simulator.summarize().nodeHours).toBe(billed);
    expect(bench.bucket("htc")).toMatchObject({ activeCount: 0, activeNodes: [] });
    bench.create([{ nodearray: "htc", count: 1 }]);
    bench.pass(100);
    expect(pick(bench.nodes(), "Status")).toEqual(["Deallocated", "Ready"]);
  });

  test.each([
    { option: true, consumed: 2 },
    { option: false, consumed: 0 },
  ])("a deallocated node uses its quota: $option", ({ option, consumed }) => {
    const bench = deallocated(1, { quirks: { deallocatedHoldsQuota: option } });
    expect(bench.bucket("htc")).toMatchObject({ familyConsumedCoreCount: consumed });
  });

  test("a deallocated node can be terminated: its quota is free, and no capacity is given back twice", () => {
    const arrays = [{ ...htc, capacity: { Standard_F2s_v2: 1 } }];
    const bench = deallocated(1, {}, { arrays });
    manage(bench, "terminate", { names: ["htc-1"] });
    bench.pass(20);
    expect(bench.nodes()).toEqual([]);
    expect(bench.bucket("htc")).toMatchObject({ familyConsumedCoreCount: 0 });
    bench.create([{ nodearray: "htc", count: 2 }]);
    expect(bench.nodes()).toHaveLength(1);
  });
});

describe("start", () => {
  test("a deallocated node acquires its VM, prepares and is Ready, under its own id, name and address", () => {
    const bench = deallocated(1);
    const [before] = bench.nodes();
    const response = manage(bench, "start", { ids: [before?.["NodeId"]], requestId: "s1" });
    expect(response).toMatchObject({
      status: 202,
      body: { nodes: [{ id: before?.["NodeId"], name: "htc-1", status: "OK" }] },
    });
    expect(states(bench)).toEqual([["Acquiring", "Started", undefined]]);
    bench.pass(30);
    expect(pick(bench.nodes(), "Status")).toEqual(["Preparing"]);
    bench.pass(60);
    expect(bench.nodes()).toMatchObject([
      { Status: "Ready", NodeId: before?.["NodeId"], Hostname: before?.["Hostname"] },
    ]);
    expect(bench.bucket("htc")).toMatchObject({ activeCount: 1, activeNodes: ["htc-1"] });
    expect(bench.get("/operations/", { request_id: "s1" }).body).toMatchObject([{ action: "start" }]);
  });

  test("a node that is started may show as Deallocated for a while, uncounted", () => {
    const bench = deallocated(1, { visibilityLagSeconds: 1000, seed: 7 });
    // With this lag no status shows the node for most of the first 1000 s.
    bench.pass(1000);
    manage(bench, "deallocate", { names: ["htc-1"] });
    bench.pass(20);
    expect(pick(bench.nodes(), "Status")).toEqual(["Deallocated"]);
    manage(bench, "start", { names: ["htc-1"] });
    expect(states(bench)).toEqual([["Deallocated", "Deallocated", "Deallocated"]]);
    expect(bench.bucket("htc")).toMatchObject({ activeCount: 0, activeNodes: [] });
    bench.pass(1000);
    expect(pick(bench.nodes(), "Status")).toEqual(["Ready"]);
    expect(bench.bucket("htc")).toMatchObject({ activeCount: 1, activeNodes: ["htc-1"] });
  });

  test("while lag is frozen it goes on showing as Deallocated", () => {
    const bench = deallocated(1);
    bench.simulator.faults.freezeLag();
    manage(bench, "start", { names: ["htc-1"] });
    bench.pass(3600);
    expect(pick(bench.nodes(), "Status")).toEqual(["Deallocated"]);
    expect(bench.eventsOf("node-ready")).toHaveLength(2);
    bench.simulator.faults.thawLag();
    expect(pick(bench.nodes(), "Status")).toEqual(["Ready"]);
  });

  test("what is started already is harmless to start", () => {
    const bench = deallocated(1);
    manage(bench, "start", { names: ["htc-1"] });
    bench.pass(10);
    expect(manage(bench, "start", { names: ["htc-1"] }).body).toMatchObject({ nodes: [{ status: "OK" }] });
    bench.pass(80);
    expect(pick(bench.nodes(), "Status")).toEqual(["Ready"]);
    expect(bench.eventsOf("start-accepted")).toHaveLength(1);
  });

  test("each node has its own answer: one may be refused, one on its way down is, one that does not exist is not listed", () => {
    const bench = deallocated(2);
    bench.create([{ nodearray: "htc", count: 1 }]);
    bench.pass(100);
    manage(bench, "terminate", { names: ["htc-3"] });
    const ids = pick(bench.nodes(), "NodeId");
    bench.simulator.faults.refuseStart(String(ids[1]), "The disk is gone");
    expect(manage(bench, "start", { ids: [...ids, "no-such-id"] }).body).toMatchObject({
      nodes: [
        { name: "htc-1", status: "OK" },
        { name: "htc-2", status: "Error", error: "The disk is gone" },
        { name: "htc-3", status: "Error", error: "The node is Terminating and cannot be started" },
      ],
    });
  });

  test("a repeated request id is refused", () => {
    const bench = deallocated(2);
    manage(bench, "start", { names: ["htc-1"], requestId: "s1" });
    expect(manage(bench, "start", { names: ["htc-2"], requestId: "s1" }).status).toBe(409);
    expect(pick(bench.nodes(), "TargetState")).toEqual(["Started", "Deallocated"]);
  });

  test("the array's limit does not hold for a start", () => {
    const bench = deallocated(2, {}, { arrays: [{ ...htc, maxCount: 2 }] });
    bench.create([{ nodearray: "htc", count: 2 }]);
    manage(bench, "start", { names: ["htc-1"] });
    expect(bench.bucket("htc")).toMatchObject({ activeCount: 3, availableCount: 0 });
  });

  test("without capacity it waits for it for ever, and the failure shows in the bucket", () => {
    const bench = deallocated(1);
    bench.simulator.faults.setCapacity("htc", "Standard_F2s_v2", 0);
    manage(bench, "start", { names: ["htc-1"] });
    bench.pass(86_400);
    expect(bench.nodes()).toMatchObject([{ Status: "Acquiring", StatusMessage: "Waiting for capacity" }]);
    expect(bench.bucket("htc")).toMatchObject({ lastCapacityFailure: 86_400 });
  });

  test("where a deallocated node uses no quota, a start needs it again", () => {
    const quotas = { family: { F: 2 } };
    const bench = deallocated(1, { quirks: { deallocatedHoldsQuota: false }, quotas });
    bench.create([{ nodearray: "htc", count: 1 }]);
    expect(manage(bench, "start", { names: ["htc-1"] }).body).toMatchObject({
      nodes: [{ status: "Error", error: "the quota of family F was reached" }],
    });
    bench.terminate({ names: ["htc-2"] });
    bench.pass(20);
    expect(manage(bench, "start", { names: ["htc-1"] }).body).toMatchObject({ nodes: [{ status: "OK" }] });
    expect(bench.bucket("htc")).toMatchObject({ familyConsumedCoreCount: 2 });
  });
});
